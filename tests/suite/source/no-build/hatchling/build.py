"""What pip asks of a source distribution before it saves one. Nothing of it is built or run."""

from pathlib import Path


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = Path("PKG-INFO").read_text(encoding="utf-8")
    folder = Path(metadata_directory, "jsonschema.dist-info")
    folder.mkdir()
    folder.joinpath("METADATA").write_text(text, encoding="utf-8")
    return folder.name
