#!/usr/bin/env bash
# Draws the pictures of the README from the sample tasks, off the screen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export QT_QPA_PLATFORM=offscreen
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export XDG_CONFIG_HOME=$home XDG_DATA_HOME=$home XDG_CACHE_HOME=$home

draw() { # NAME and arguments of `ctxviewer screenshot`
  .venv/bin/ctxviewer screenshot "${@:2}" --size 1440x900 -o "docs/screenshots/$1.png" 2>/dev/null
  echo "docs/screenshots/$1.png"
}

mkdir -p docs/screenshots
tasks=resources/samples/tasks
draw window --demo --request 18 --message 1
draw rewritten "$tasks/1749024000000" --request 17 --message 20
draw damage "$tasks/1762430400000" --message 12
draw dark --demo --request 18 --message 1 --theme dark
