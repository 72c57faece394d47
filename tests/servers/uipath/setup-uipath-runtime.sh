#!/bin/sh
# Makes a Python virtual environment that holds UiPath's own runtime.
#
#   setup-uipath-runtime.sh TARGET          for the fast peer (package uipath)
#   setup-uipath-runtime.sh TARGET --full   for the fast peer and the full agent (uipath-langchain)
#
# TARGET is the environment itself: afterwards there are TARGET/bin/python and
# TARGET/bin/uipath. Running it again does nothing if TARGET holds the wanted
# versions, and repairs what was left half done. It needs Python >= 3.11
# (PYTHON=... chooses one) and the package index that pip is set up for.
# Afterwards nothing is fetched.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
target= tier=fast
for argument in "$@"; do
  case $argument in
    --full) tier=full ;;
    -*) echo "setup-uipath-runtime: unknown option $argument" >&2; exit 2 ;;
    *) [ -z "$target" ] || { echo "setup-uipath-runtime: one TARGET only" >&2; exit 2; }; target=$argument ;;
  esac
done
[ -n "$target" ] || { echo "usage: setup-uipath-runtime.sh TARGET [--full]" >&2; exit 2; }

usable() { "$1" -c 'import sys, ssl, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# A pyenv shim exists even for a version that is not selected: each candidate is run.
find_python() {
  for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if found=$(command -v "$name") && usable "$found"; then echo "$found"; return 0; fi
  done
  echo "setup-uipath-runtime: there is no Python >= 3.11: install one with its venv module, or set PYTHON" >&2
  return 1
}

stamp="$tier $(cat "$0" "$here/uipath-$tier.lock" | cksum | tr ' ' '-')"
if [ "$(cat "$target/.installed" 2>/dev/null || true)" = "$stamp" ] && "$target/bin/python" -c '' 2>/dev/null; then
  exit 0
fi
if [ ! -f "$target/pyvenv.cfg" ] && [ -n "$(ls -A "$target" 2>/dev/null || true)" ]; then
  echo "setup-uipath-runtime: $target holds something else" >&2
  exit 2
fi
python=$(find_python)
rm -f "$target/.installed"
"$target/bin/python" -c '' 2>/dev/null || "$python" -m venv --clear "$target"
"$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
  -r "$here/uipath-$tier.lock"

# What the peers need beyond the documented interface.
"$target/bin/python" -W ignore -c '
import sys
from uipath._cli._chat._bridge import SocketIOChatBridge
from uipath.runtime.chat import UiPathChatRuntime
if sys.argv[1] == "full":
    from uipath_langchain.agent.tools.client_side_tool import create_client_side_tool
' "$tier"
echo "$stamp" >"$target/.installed"
