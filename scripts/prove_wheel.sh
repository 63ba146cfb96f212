#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment outside the checkout, and uses it there: what a user gets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project=$PWD
rm -rf build/wheel
.venv/bin/python -m build --wheel --no-isolation --outdir build/wheel . >/dev/null
wheel=$(echo "$project"/build/wheel/ctxviewer-*.whl)
echo "built $(basename "$wheel"), $(wc -c <"$wheel") bytes"

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
.venv/bin/python -m venv "$place/venv"
"$place/venv/bin/python" -m pip install -q --disable-pip-version-check "$wheel"

cd "$place"
export HOME=$place/home XDG_CONFIG_HOME=$place/config XDG_DATA_HOME=$place/data XDG_CACHE_HOME=$place/cache
mkdir -p "$HOME"
ctxviewer=$place/venv/bin/ctxviewer
"$ctxviewer" --version
python=$place/venv/bin/python
samples=$("$python" -c 'from ctxviewer import resources; print(resources.path("samples", "tasks"))')
for task in "$samples"/*; do "$ctxviewer" report "$task" || [ $? = 1 ]; done >report.txt
grep -q 'Truncated (half): messages 2' report.txt
"$ctxviewer" report "$samples/1770537600000" --json >report.json
"$python" -m json.tool report.json >/dev/null
export QT_QPA_PLATFORM=offscreen QT_LOGGING_RULES=default.warning=false
"$ctxviewer" screenshot --demo -o window.png
size=$(wc -c <window.png)
[ "$size" -gt 20000 ] || { echo "the picture of the window is suspiciously small: $size bytes" >&2; exit 1; }
# The counts must be exact from the wheel alone, with the vocabularies inside it.
"$python" -c 'from ctxviewer.tokens import load_counter as c; assert c().exact and c().count("hello world") == 2'
case $("$python" -c 'import ctxviewer; print(ctxviewer.__file__)') in
  "$place"/*) echo "the wheel works on its own: report of $(wc -l <report.txt) lines, picture of $size bytes" ;;
  *) echo "the checkout was used instead of the wheel" >&2; exit 1 ;;
esac
