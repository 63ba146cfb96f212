"""Turns the colours of a theme into Qt's palette and into our style sheet. No state, no decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from PySide6.QtGui import QColor, QPalette

from ctxviewer import resources

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"@px\((\d+)\)|@(glyph|glyph_on_accent)\((\w+)\)|@([a-z_]+)")


def mix(front: QColor, back: QColor, share: float) -> QColor:
    """`share` of `front` over `back`, opaque. 0 = back, 1 = front."""
    rest = 1 - share
    return QColor(
        round(front.red() * share + back.red() * rest),
        round(front.green() * share + back.green() * rest),
        round(front.blue() * share + back.blue() * rest),
    )


def style_sheet(colors: Mapping[str, QColor], scale: float) -> str:
    """The style sheet of `themes/base.qss`: `@name` colours, `@px(n)` lengths, `@glyph(name)` small signs.

    Raises KeyError on a colour name that the theme does not have.
    """

    def put(match: re.Match[str]) -> str:
        if match.group(1) is not None:
            return f"{max(1, round(int(match.group(1)) * scale))}px"
        if match.group(2) is not None:
            ground = "accent" if match.group(2) == "glyph_on_accent" else "surface"
            return _glyph(match.group(3), colors[ground])
        return colors[match.group(4)].name()

    return _TOKEN.sub(put, _COMMENT.sub("", resources.read_text("themes", "base.qss")))


def _glyph(name: str, ground: QColor) -> str:
    """A small sign that stands out from `ground`. Raises FileNotFoundError on a typo."""
    tone = "light" if ground.lightnessF() < 0.45 else "dark"
    return f'url("{resources.path("icons", "glyphs", f"{name}-{tone}.svg").as_posix()}")'


def palette(colors: Mapping[str, QColor]) -> QPalette:
    """Qt's palette in our colours, for everything that the style sheet does not reach."""
    role = QPalette.ColorRole
    result = QPalette()
    pairs = {
        role.Window: "ground",
        role.WindowText: "text",
        role.Base: "surface",
        role.AlternateBase: "surface",
        role.Text: "text",
        role.Button: "raised",
        role.ButtonText: "text",
        role.BrightText: "on_accent",
        role.ToolTipBase: "raised",
        role.ToolTipText: "text",
        role.PlaceholderText: "faint",
        role.Highlight: "accent",
        role.HighlightedText: "on_accent",
        role.Accent: "accent",
        role.Link: "accent",
        role.LinkVisited: "accent",
        role.Light: "raised",
        role.Midlight: "hover",
        role.Mid: "line",
        role.Dark: "muted",
        role.Shadow: "line",
    }
    for target, name in pairs.items():
        result.setColor(target, colors[name])
    for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        result.setColor(QPalette.ColorGroup.Disabled, target, colors["faint"])
    result.setColor(QPalette.ColorGroup.Disabled, role.Highlight, colors["hover"])
    return result
