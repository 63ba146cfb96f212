"""How the curves of replays look: a colour and a pattern each, for the graph and its legend."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPen

from ctxviewer.views import theme

LOOKS: Final = (
    ("event", (5.0, 2.5)),
    ("repaired", (1.5, 2.0)),
    ("rewritten", (6.0, 2.0, 1.5, 2.0)),
    ("text", (9.0, 3.0)),
    ("series_output", (3.0, 3.0)),
    ("muted", (6.0, 2.0, 1.5, 2.0, 1.5, 2.0)),
)
"""Colour and dashes (in widths of the line) of each look."""


def curve_pen(look: int) -> QPen:
    """The pen of a curve."""
    colors = theme.current()
    name, dashes = LOOKS[look % len(LOOKS)]
    pen = QPen(colors.color(name), 3 if colors.doubles_patterns else 2)
    pen.setDashPattern(list(dashes))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
    return pen
