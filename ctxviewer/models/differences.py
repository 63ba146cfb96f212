"""The difference of two requests as lists: messages (unchanged ones folded), tokens by category, files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ctxviewer.engine.difference import QUIET, BlockText, RequestDifference, Row, RowKind
from ctxviewer.engine.line_difference import Difference, Side
from ctxviewer.engine.weights import CategoryTokens, FileChanges
from ctxviewer.models.body import NOT_ALIGNED
from ctxviewer.models.listing import Listing, RowWords
from ctxviewer.models.numbers import counted, grouped, short_tokens
from ctxviewer.models.segments import Body, Section, Style
from ctxviewer.models.stretches import span
from ctxviewer.models.visible import one_line

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()

_LOOKS: Final = {
    RowKind.ENTERED: ("added", "added", "entered"),
    RowKind.RETURNED: ("sent", "accent", "came back"),
    RowKind.LEFT: ("hidden", "event", "left"),
    RowKind.REWRITTEN: ("rewritten", "rewritten", "rewritten"),
    RowKind.REPAIRED: ("repaired", "repaired", "repaired"),
    RowKind.SAME: ("same", "faint", "unchanged"),
    RowKind.NEITHER: ("hidden", "faint", "sent by neither"),
}
_SIDES: Final = {Side.BOTH: Style.PLAIN, Side.OLD: Style.DELETED_LINES, Side.NEW: Style.ADDED_LINES}
LONG: Final = 300
"""Characters of a sentence in a row."""


def signed(tokens: float) -> str:
    """'+1.2k', '−61.0k', '±0'."""
    if not tokens:
        return "±0"
    return ("+" if tokens > 0 else "−") + short_tokens(abs(tokens))


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One run of messages, or a message that rules made up."""

    row: Row | None
    tokens: tuple[int, int] | None = None
    """Estimated, before and after; None while they are not known."""
    title: str = ""
    """Of what is made up."""
    gone: bool = False
    """Made up for the first one only."""

    @property
    def message(self) -> int | None:
        """The first message of the run."""
        return self.row.first if self.row is not None else None

    @property
    def has_texts(self) -> bool:
        """True for a single message whose texts can be compared."""
        return self.row is not None and self.row.kind not in QUIET and self.row.first == self.row.last


class DifferenceModel(Listing[DifferenceRow]):
    """Every message in one row, in order; what did not change is a quiet row between the others."""

    def show(self, found: RequestDifference | None, tokens: tuple[tuple[int, int] | None, ...] = ()) -> None:
        """Show a difference; `tokens` by row, () while they are not known."""
        if found is None:
            self.set_items(())
            return
        sums = tokens if len(tokens) == len(found.rows) else (None,) * len(found.rows)
        rows = [DifferenceRow(row, total) for row, total in zip(found.rows, sums, strict=True)]
        rows += [DifferenceRow(None, title=made.title) for made in found.made]
        rows += [DifferenceRow(None, title=made.title, gone=True) for made in found.unmade]
        old = self._items
        if rows and len(old) == len(rows) and all(one.row is other.row for one, other in zip(old, rows, strict=True)):
            self._items = tuple(rows)  # only the tokens are others
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1), [])
        else:
            self.set_items(rows)

    def words(self, item: DifferenceRow) -> RowWords:
        """Which messages, what happened, why; tokens at the right."""
        row = item.row
        if row is None:
            happened = "no longer sent" if item.gone else "entered"
            title = f"made-up message · {happened}"
            return RowWords(title, one_line(item.title, LONG), "made-up", "event" if item.gone else "accent")
        icon, tone, happened = _LOOKS[row.kind]
        quiet = row.kind in QUIET
        many = f"{counted(row.count, 'message')} " if row.count > 1 else ""
        title = f"{span(row.first, row.last)} · {many}{happened}"
        detail = "" if row.kind is RowKind.ENTERED else one_line(row.sentence, LONG)
        return RowWords(title, detail, icon, tone, row.sentence, _amount(item), quiet)


def _amount(item: DifferenceRow) -> str:
    if item.tokens is None or item.row is None:
        return ""
    before, after = item.tokens
    return short_tokens(after) if item.row.kind in QUIET else signed(after - before)


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file whose content only one of the two sends."""

    path: str
    left: bool


class DifferenceFilesModel(Listing[FileRow]):
    """Files that left, then files that entered."""

    def show(self, files: FileChanges | None) -> None:
        """Show the files; None = not known yet."""
        left, entered = (files.left, files.entered) if files is not None else ((), ())
        self.set_items([*(FileRow(path, left=True) for path in left), *(FileRow(path, left=False) for path in entered)])

    def words(self, item: FileRow) -> RowWords:
        """The path, and what happened."""
        icon, tone = ("hidden", "event") if item.left else ("added", "added")
        detail = "its content is not sent any more" if item.left else "its content is sent now"
        return RowWords(one_line(item.path, LONG), detail, icon, tone, item.path)


class CategoriesModel(QAbstractTableModel):
    """Tokens by category: before, after, change; the sum last."""

    HEADERS: Final = ("category", "before", "after", "change")

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, int, int], ...] = ()

    def show(self, categories: tuple[CategoryTokens, ...]) -> None:
        """Show these categories; () while they are not known."""
        rows = [(str(one.category), one.before, one.after) for one in categories]
        rows.sort(key=lambda row: -max(row[1], row[2]))
        if rows:
            rows.append(("together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    @property
    def change(self) -> int | None:
        """Tokens that the second one sends more; None while they are not known."""
        return self._rows[-1][2] - self._rows[-1][1] if self._rows else None

    def rowCount(self, parent: Index = ROOT) -> int:
        """Categories and their sum."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        """See HEADERS."""
        return 0 if parent.isValid() else len(self.HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns."""
        if orientation is Qt.Orientation.Horizontal and 0 <= section < len(self.HEADERS):
            if role == Qt.ItemDataRole.DisplayRole:
                return self.HEADERS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words and numbers, numbers to the right."""
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        name, before, after = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            change = after - before
            sign = "+" if change > 0 else "−" if change < 0 else "±"
            return (name, grouped(before), grouped(after), f"{sign}{grouped(abs(change))}")[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{grouped(after)} tokens estimated, {grouped(before)} before"
        return None


def texts_body(texts: Sequence[tuple[BlockText, Difference]]) -> Body:
    """The blocks of a message that differ, line by line: − what the first one sends, + what the second one does."""
    sections: list[Section] = []
    aligned = True
    for text, found in texts:
        where = f"block {text.block}" if text.block is not None else "made-up result"
        heading = f"{where} · {one_line(text.label, LONG)}" if text.label else where
        aligned = aligned and found.aligned
        runs = [(_SIDES[run.side], run.text) for run in found.runs] or [(Style.PLAIN, "")]
        sections += [
            Section(words, style, heading=heading if not place else "", block=text.block, continued=place > 0)
            for place, (style, words) in enumerate(runs)
        ]
    return Body(tuple(sections), "" if aligned else NOT_ALIGNED)
