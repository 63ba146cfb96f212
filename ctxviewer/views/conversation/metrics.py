"""Sizes, fonts and columns of the conversation, worked out once per theme, width and number of messages."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextOption

from ctxviewer.views.theme import Theme

TAB = 4
"""Columns of a tab."""


@dataclass(slots=True)
class Metrics:
    """All lengths in pixels."""

    theme: Theme
    width: int
    rows: int
    """How many messages there are: numbers take as much room as the largest."""
    text_font: QFont = field(init=False)
    ui_font: QFont = field(init=False)
    bold_font: QFont = field(init=False)
    small_font: QFont = field(init=False)
    ui: QFontMetrics = field(init=False)
    bold: QFontMetrics = field(init=False)
    small: QFontMetrics = field(init=False)
    option: QTextOption = field(init=False)
    header: int = field(init=False)
    """The header of a row."""
    lead: int = field(init=False)
    """The line above a stretch."""
    caption: int = field(init=False)
    """The line above the text of a block, and *show all* below it."""
    line: int = field(init=False)
    """A line of text."""
    gap: int = field(init=False)
    """Below each section."""
    foot: int = field(init=False)
    """Below the last one of a row, with the hairline."""
    margin: int = field(init=False)
    number: int = field(init=False)
    """Width of the column of numbers."""
    chip_x: int = field(init=False)
    chip: int = field(init=False)
    """Width of a chip."""
    label_x: int = field(init=False)
    """Where labels and previews start."""
    stripe: int = field(init=False)
    text_x: int = field(init=False)
    text_width: int = field(init=False)
    columns: int = field(init=False)
    """Characters of a full line, on average."""

    def __post_init__(self) -> None:
        theme, px = self.theme, self.theme.px
        self.text_font = theme.text_font()
        self.ui_font, self.bold_font = theme.ui_font(), theme.ui_font(bold=True)
        self.small_font = theme.ui_font(size=12)
        self.ui, self.bold = QFontMetrics(self.ui_font), QFontMetrics(self.bold_font)
        self.small = QFontMetrics(self.small_font)
        text = QFontMetrics(self.text_font)
        self.line = max(text.height(), text.lineSpacing(), px(17))
        self.header = max(px(24), self.ui.height() + px(6))
        self.lead = max(px(28), self.ui.height() + px(10))
        self.caption = max(px(20), self.small.height() + px(4))
        self.gap, self.foot, self.margin, self.stripe = px(7), px(5), px(12), px(4)
        self.number = self.ui.horizontalAdvance("8" * max(3, len(str(max(0, self.rows - 1)))))
        self.chip_x = self.margin + self.number + px(10)
        self.chip = px(14) + px(4) + self.ui.horizontalAdvance("assistant") + 2 * px(7)
        self.label_x = self.chip_x + self.chip + px(10)
        self.text_x = self.chip_x + px(14)
        self.text_width = max(px(80), self.width - self.text_x - self.margin)
        self.columns = max(8, self.text_width // max(1, text.horizontalAdvance("0")))
        self.option = QTextOption(Qt.AlignmentFlag.AlignLeft)
        self.option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        self.option.setTabStopDistance(TAB * text.horizontalAdvance("0"))

    @property
    def row_base(self) -> int:
        """What a row takes without text."""
        return self.header + self.foot
