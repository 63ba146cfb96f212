#!/usr/bin/env bash
# Makes the project runnable: a virtual environment in .venv with ctxviewer and its tools, and the system libraries that
# Qt needs. Quick when nothing is to be done. Installs system packages only when some are missing and this user may.
#
#   scripts/setup.sh --screen             also what the tests of a real window need (Xvfb, xdotool)
#   PYTHON=python3.13 scripts/setup.sh    takes that interpreter (3.11 or newer)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=.venv
stamp=$venv/.ctxviewer-installed

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# --- system packages ------------------------------------------------------------------------------------------------

may_install() { command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

apt_install() {
  say "installing missing system packages: $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2 && return
  as_root apt-get update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# Installs packages, or tells the exact command when that is not allowed here.
need_packages() {
  if may_install; then
    apt_install "$@"
  elif command -v apt-get >/dev/null; then
    fail "system libraries are missing. Please run: sudo apt-get install --no-install-recommends $*"
  else
    fail "system libraries are missing. On Debian they are called: $*"
  fi
}

# --- the interpreter and the environment ----------------------------------------------------------------------------

is_good() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11 python3.14 python; do
    if is_good "$candidate"; then command -v "$candidate"; return; fi
  done
  return 1
}

version_of() { "$1" -c 'import sys; print(sys.version_info[:2])' 2>/dev/null || true; }

make_venv() {
  local python
  if [ -x $venv/bin/python ] && is_good $venv/bin/python; then
    if [ -z "${PYTHON:-}" ] || [ "$(version_of "$PYTHON")" = "$(version_of $venv/bin/python)" ]; then return; fi
    say "$venv is of another Python than asked for; making it anew"
  fi
  rm -rf $venv
  if python=$(find_python); then
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
      need_packages "python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    fi
    say "making $venv with $("$python" --version)"
    "$python" -m venv $venv
  elif command -v uv >/dev/null; then
    say "no Python 3.11 or newer found; uv gets one"
    uv venv -q --seed --python '>=3.11' $venv
  else
    fail "Python 3.11 or newer is needed. On Debian: sudo apt-get install python3 python3-venv"
  fi
}

install_with_uv() { command -v uv >/dev/null && uv pip install -q --python $venv/bin/python -e . --group dev; }

install_with_pip() {
  # Dependency groups need pip 25.1; the one that comes with Python is often older.
  $venv/bin/python -m pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
  $venv/bin/python -m pip install -q --disable-pip-version-check -e . --group dev
}

install_project() {
  say "installing ctxviewer and its tools"
  install_with_uv || install_with_pip
}

# --- what Qt needs --------------------------------------------------------------------------------------------------

qt_starts() {
  QT_QPA_PLATFORM=offscreen $venv/bin/python -c \
    'from PySide6.QtGui import QFontDatabase, QGuiApplication; a = QGuiApplication([]); assert QFontDatabase.families()' \
    >/dev/null 2>&1
}

lacks_window_libraries() {
  local plugin
  [ -n "${DISPLAY:-}" ] || return 1
  plugin=$($venv/bin/python -c 'import pathlib, importlib.util as u
print(next(pathlib.Path(u.find_spec("PySide6").origin).parent.rglob("libqxcb.so"), ""))')
  [ -n "$plugin" ] && ldd "$plugin" 2>/dev/null | grep -q 'not found'
}

check_qt() {
  [ "$(uname -s)" = Linux ] || return 0
  local packages=(libglib2.0-0 libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 fonts-dejavu-core)
  local window=(libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0)
  if ! qt_starts; then need_packages "${packages[@]}" "${window[@]}"; fi
  if lacks_window_libraries; then need_packages "${packages[@]}" "${window[@]}"; fi
  qt_starts || fail "Qt does not start even so. Run: QT_DEBUG_PLUGINS=1 QT_QPA_PLATFORM=offscreen $venv/bin/ctxviewer --version"
}

# A screen of its own and hands to use it, for tests/screen. Only with --screen: `make test` skips them without.
check_screen() {
  [ "$(uname -s)" = Linux ] || return 0
  command -v Xvfb >/dev/null && command -v xdotool >/dev/null && return
  need_packages xvfb xauth xdotool libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxkbcommon-x11-0
}

[ "${1:-}" != --screen ] || check_screen
make_venv
# Only a change of what is asked for makes a second run do anything.
if [ $stamp -nt pyproject.toml ] && [ $stamp -nt scripts/setup.sh ]; then exit 0; fi
install_project
check_qt
touch $stamp
say "ready: $venv/bin/ctxviewer"
