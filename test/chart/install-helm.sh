#!/usr/bin/env bash
# Installs Helm's engine for the tests of the chart. Of its package one library alone: the others are copies of it.
set -euo pipefail
cd "$(dirname "$0")"

# Debian's own Python has no pip; .ci/run makes this one first.
python=../sdk/.venv/bin/python
[ -x "$python" ] || python=python3
[ ! -f .helm/helm_python/lib/libhelm_c.so ] || exit 0
download=$(mktemp -d)
trap 'rm -r "$download"' EXIT
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --dest "$download" -r requirements.txt
"$python" - "$download" <<'PYTHON'
import pathlib, sys, zipfile
[wheel] = pathlib.Path(sys.argv[1]).iterdir()
with zipfile.ZipFile(wheel) as files:
    wanted = [name for name in files.namelist() if name.endswith((".py", "/libhelm_c.so"))]
    files.extractall(".helm", wanted)
PYTHON
