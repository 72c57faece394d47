"""Writes the tests of the JSON-Schema-Test-Suite that concern the engine, as JSON.

    cases.py FOLDER

FOLDER has the source distribution, and gets cases.json: draft -> file -> groups of tests. Schemas and instances are texts,
so that no reader on the way changes a number.
"""

import json
import sys
import tarfile
from pathlib import Path

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# Those that the engine asserts.
FORMATS = ["date", "date-time", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"]


def wanted(draft, path):
    """Required tests lie in the draft's own folder, those of formats below it."""
    return len(path) == 1 or path[:2] == ["optional", "format"] and path[2].removesuffix(".json") in FORMATS


def with_dialect(draft, schema):
    """Older drafts' tests leave it to the validator which draft it takes."""
    if draft == "draft2020-12" or not isinstance(schema, dict) or "$schema" in schema:
        return schema
    return {"$schema": DRAFTS[draft], **schema}


def group(draft, given):
    tests = [
        {"description": test["description"], "instance": json.dumps(test["data"]), "valid": test["valid"]}
        for test in given["tests"]
    ]
    schema = json.dumps(with_dialect(draft, given["schema"]))
    return {"description": given["description"], "schema": schema, "tests": tests}


def main(folder):
    [archive] = folder.glob("*.tar.gz")
    cases = {draft: {} for draft in DRAFTS}
    with tarfile.open(archive) as files:
        for member in sorted(files, key=lambda member: member.name):
            _, *path = member.name.split("/")
            if path[:2] != ["json", "tests"] or not member.isfile() or not path[-1].endswith(".json"):
                continue
            draft, *path = path[2:]
            if draft in DRAFTS and wanted(draft, path):
                groups = json.load(files.extractfile(member))
                cases[draft]["/".join(path)] = [group(draft, given) for given in groups]
    folder.joinpath("cases.json").write_text(json.dumps(cases), encoding="utf-8")


main(Path(sys.argv[1]))
