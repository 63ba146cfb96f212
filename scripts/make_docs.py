"""Writes the tables of README.md and docs/window.md that come from the catalogue of actions. A test compares them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.actions.spec import ActionSpec, Menu

PROJECT = Path(__file__).resolve().parents[1]
PAGES = {"README.md": "keys", "docs/window.md": "actions"}


def main() -> None:
    """Rewrite both pages."""
    for page in PAGES:
        file = PROJECT / page
        file.write_text(with_table(page, file.read_text("utf-8")), encoding="utf-8")


def with_table(page: str, text: str) -> str:
    """The page's text with its table made anew between the two marks."""
    name = PAGES[page]
    begin, end = f"<!-- {name}: made by scripts/make_docs.py -->\n", f"<!-- {name} end -->"
    head, _, rest = text.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        raise ValueError(f"{page} has no place for its table ({name})")
    lines = _keys() if name == "keys" else _actions()
    return head + begin + "\n" + "\n".join(lines) + "\n\n" + end + tail


def _keys() -> Iterator[str]:
    yield "| | keys | while the conversation or the graph has the focus |"
    yield "|---|---|---|"
    for menu in Menu:
        rows = [spec for spec in CATALOGUE if spec.menu is menu and spec.all_keys]
        for number, spec in enumerate(rows):
            menu_name = f"**{menu.value.replace('&', '')}** · " if number == 0 else ""
            yield f"| {menu_name}{spec.name} | {_kbd(spec.keys)} | {_kbd(spec.stage_keys)} |"


def _actions() -> Iterator[str]:
    yield "| action | in the menu | does | keys |"
    yield "|---|---|---|---|"
    for spec in CATALOGUE:
        yield f"| `{spec.id}` | {_place(spec)} | {spec.tooltip} | {_kbd(spec.all_keys)} |"


def _place(spec: ActionSpec) -> str:
    parts = [spec.menu.value, spec.submenu, spec.text]
    return " › ".join(part.replace("&", "") for part in parts if part)


def _kbd(keys: tuple[str, ...]) -> str:
    return " ".join(f"<kbd>{key}</kbd>" for key in keys)


if __name__ == "__main__":
    main()
