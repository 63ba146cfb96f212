"""The conversation as a list: one row per stored message, decoded only when somebody looks at it.

The rows are the stored messages and nothing else; the lines between them (`stretches`) are the view's to place.
Stepping through requests changes no row: what differs is told with `dataChanged` for just those rows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QByteArray, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.log import EMPTY_LOG, JsonLog
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import BlockChange, Projection, SentBlock, Standing
from ctxviewer.domain.snapshot import Snapshot
from ctxviewer.domain.view import TextMode
from ctxviewer.models.body import make_body
from ctxviewer.models.changed import intervals, standing_differs, texts_differ
from ctxviewer.models.facts import RowFacts, Words, words_of
from ctxviewer.models.left_out import with_halves
from ctxviewer.models.made_up import NOTHING_MADE_UP, MadeUp, made_up_rows
from ctxviewer.models.segments import Body
from ctxviewer.models.stretches import Stretch, StretchKind, stretches_of
from ctxviewer.models.tracked import Mark

Index = QModelIndex | QPersistentModelIndex
Touched = dict[int, frozenset[int] | None]
ROOT = QModelIndex()

_FIRST_ROLE = Qt.ItemDataRole.UserRole.value + 1
NUMBER, ROLE, STANDING, LABEL, REPAIRED, TOKENS, SIZE, PREVIEW, BODY, LEFT_OUT, TOUCHED, TRACKED = range(
    _FIRST_ROLE, _FIRST_ROLE + 12
)
"""Roles, each named for the fact of `RowFacts` it holds; BODY holds a `Body`."""

_NAMES = {
    NUMBER: b"number",
    ROLE: b"role",
    STANDING: b"standing",
    LABEL: b"label",
    REPAIRED: b"repaired",
    TOKENS: b"tokens",
    SIZE: b"size",
    PREVIEW: b"preview",
    BODY: b"body",
    LEFT_OUT: b"left_out",
    TOUCHED: b"touched",
    TRACKED: b"tracked",
}

KEPT_ROWS = 256
KEPT_CHARACTERS = 4_000_000
"""How much is kept decoded at most, whichever is reached first; the newest row is always kept."""
MOST_SIGNALS = 100
"""Beyond so many separate stretches of changed rows, one `dataChanged` covers them all."""


class ConversationSource(Protocol):
    """What the model needs of an `engine.timeline.Timeline`."""

    @property
    def snapshot(self) -> Snapshot:
        """The reading it was made from."""
        ...

    def blocks(self, projection: Projection, message: int, /) -> tuple[SentBlock, ...]:
        """A message as sent by a projection, with what is left out; one that is not sent with its updates applied."""
        ...


class TokenCounts(Protocol):
    """What the model needs of a `tokens.TokenTable`."""

    def message(self, number: int, /) -> int | None:
        """Tokens of a message as stored, None if it is not counted."""
        ...

    def message_as_sent(self, number: int, projection: Projection, /) -> int | None:
        """Tokens of a message as the projection sends it, None if it is not counted."""
        ...

    def stretch(self, first: int, last: int, /) -> int | None:
        """Tokens of messages first to last, both inclusive, as stored; None if one of them is not counted."""
        ...


@dataclass(slots=True)
class _Entry:
    """What is kept of a row that was looked at."""

    blocks: tuple[SentBlock, ...]
    words: Words
    size: int
    remark: str = ""
    facts: RowFacts | None = None
    bodies: dict[TextMode, Body] = field(default_factory=dict)


class ConversationModel(QAbstractListModel):
    """Stored messages of one task, as one projection sees them."""

    stretches_changed = Signal()
    """`stretches` or `changes` are others now; comes after the signals about rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source: ConversationSource | None = None
        self._log: JsonLog = EMPTY_LOG
        self._rows = 0
        self._projection = _plain(0)
        self._counts: TokenCounts | None = None
        self._mode = TextMode.AS_SENT
        self._modes: dict[int, TextMode] = {}
        self._kept: OrderedDict[int, _Entry] = OrderedDict()
        self._kept_characters = 0
        self._stretches: tuple[Stretch, ...] = ()
        self._firsts: tuple[int, ...] = ()
        self._made_up: Mapping[int, tuple[MadeUp, ...]] = NOTHING_MADE_UP
        self._touched: Touched = {}
        self._touched_rows: tuple[int, ...] = ()
        self._touches_made_up = False
        self._changes: tuple[int, ...] | None = None
        self._tracked: Mapping[int, tuple[Mark, ...]] = {}

    # -- what is shown

    @property
    def projection(self) -> Projection:
        """The projection that is shown."""
        return self._projection

    @property
    def text_mode(self) -> TextMode:
        """Which text is shown of rows without a choice of their own."""
        return self._mode

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Stretches of rows that are not part of the request, ascending, not overlapping."""
        return self._stretches

    @property
    def made_up(self) -> Mapping[int, tuple[MadeUp, ...]]:
        """By row the messages that rules made up, shown above it (or below the line above it)."""
        return self._made_up

    @property
    def touched(self) -> Touched:
        """Rows that the step that is looked at changed: with their blocks, or None for the whole row."""
        return self._touched

    @property
    def touches_made_up(self) -> bool:
        """True when the step put in what is made up."""
        return self._touches_made_up

    def touches(self, first: int, last: int) -> bool:
        """True when the step changed one of the rows first to last, both inclusive."""
        place = bisect_left(self._touched_rows, first)
        return place < len(self._touched_rows) and self._touched_rows[place] <= last

    def set_timeline(
        self, timeline: ConversationSource | None, *, same_task: bool = False, grown: bool = False
    ) -> None:
        """Show another reading; `set_projection` follows.

        Another task resets the model. The same one keeps its rows: with `grown`, every row there was is unchanged;
        without, any row may have changed.
        """
        log = timeline.snapshot.messages if timeline is not None else EMPTY_LOG
        if not same_task or timeline is None or self._source is None:
            self.beginResetModel()
            self._source, self._log, self._rows = timeline, log, len(log)
            self._modes.clear()
            self._touched, self._touched_rows, self._touches_made_up = {}, (), False
            self._forget(None)
            self._projection = _plain(len(log))
            self.endResetModel()
            self._refresh_stretches()
            return
        old, new = self._rows, len(log)
        if not grown:
            self._forget(None)
        if new < old:
            self.beginRemoveRows(ROOT, new, old - 1)
            self._source, self._log, self._rows = timeline, log, new
            self._forget((new, old))
            self._modes = {row: mode for row, mode in self._modes.items() if row < new}
            self.endRemoveRows()
        elif new > old:
            self.beginInsertRows(ROOT, old, new - 1)
            self._source, self._log, self._rows = timeline, log, new
            self.endInsertRows()
        else:
            self._source, self._log = timeline, log
        if not grown and min(old, new):
            self.dataChanged.emit(self.index(0), self.index(min(old, new) - 1), [])
        self._refresh_stretches()

    def set_projection(self, projection: Projection | None) -> None:
        """Show what another request or plan sends; None shows every message as sent."""
        old, new = self._projection, projection if projection is not None else _plain(self._rows)
        self._projection = new
        stood = list(standing_differs(old, new, self._rows))
        texts = texts_differ(old, new)
        if old.gone != new.gone or old.gone_blocks != new.gone_blocks:
            texts.update(row for first, end in stood for row in range(first, end))
        for row in texts.intersection(self._kept):
            self._forget((row, row + 1))
        for entry in self._kept.values():
            entry.facts = None
        self._tell(stood, [STANDING, TOKENS])
        self._tell(intervals(row for row in texts if 0 <= row < self._rows), [])
        self._refresh_stretches()

    def set_touched(self, places: Iterable[tuple[int, int | None]], *, made_up: bool = False) -> None:
        """Mark what a step changed: (row, block, or None for the whole row), and whether it made something up."""
        touched: Touched = {}
        for row, block in places:
            known = touched.get(row, frozenset())
            touched[row] = None if block is None or known is None else known | {block}
        old, self._touched = self._touched, touched
        if old == touched and made_up == self._touches_made_up:
            return
        self._touched_rows, self._touches_made_up = tuple(sorted(touched)), made_up
        rows = [row for row in old.keys() | touched.keys() if row not in old or old[row] != touched.get(row, ())]
        for row in self._kept.keys() & rows:
            self._kept[row].facts = None
        self._tell(intervals(row for row in rows if 0 <= row < self._rows), [TOUCHED])
        self.stretches_changed.emit()

    def set_tracked(self, tracked: Mapping[int, tuple[Mark, ...]]) -> None:
        """Mark the messages in which pinned facts stand, by row."""
        old, self._tracked = self._tracked, tracked
        rows = [row for row in old.keys() | tracked.keys() if old.get(row, ()) != tracked.get(row, ())]
        for row in self._kept.keys() & rows:
            self._kept[row].facts = None
        self._tell(intervals(row for row in rows if 0 <= row < self._rows), [TRACKED])

    def set_counts(self, counts: TokenCounts | None) -> None:
        """Take another table of token counts; None shows no numbers."""
        self._counts = counts
        for entry in self._kept.values():
            entry.facts = None
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(self._rows - 1), [TOKENS])
        self._refresh_stretches()

    def set_text_mode(self, mode: TextMode) -> None:
        """Show one text of all messages; choices for single rows are dropped."""
        if mode is self._mode and not self._modes:
            return
        self._mode = mode
        self._modes.clear()
        for entry in self._kept.values():
            entry.facts = None
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(self._rows - 1), [BODY])

    def row_mode(self, row: int) -> TextMode:
        """Which text is shown of a row."""
        return self._modes.get(row, self._mode)

    def set_row_mode(self, row: int, mode: TextMode | None) -> None:
        """Show another text of one row; None follows all the others again."""
        if mode is None:
            self._modes.pop(row, None)
        else:
            self._modes[row] = mode
        if row in self._kept:
            self._kept[row].facts = None
        self._tell([(row, row + 1)], [BODY])

    def cycle_row_mode(self, row: int) -> bool:
        """As sent → as stored → difference → as sent. False if the texts of the row do not differ."""
        if not self.facts(row).switchable:
            return False
        modes = list(TextMode)
        self.set_row_mode(row, modes[(modes.index(self.row_mode(row)) + 1) % len(modes)])
        return True

    # -- facts of a row

    def standing(self, row: int) -> Standing:
        """How a row stands to the request. Costs nothing."""
        return self._projection.standing(row)

    def byte_size(self, row: int) -> int:
        """Bytes of a row as stored. Costs nothing."""
        return self._log.byte_size(row)

    def facts(self, row: int) -> RowFacts:
        """What the header of a row says. Decodes the message if it has not been looked at lately."""
        entry = self._entry(row)
        if entry.facts is None:
            standing, words = self._projection.standing(row), entry.words
            entry.facts = RowFacts(
                number=row,
                role=words.role,
                speaker=words.speaker,
                standing=standing,
                label=words.label,
                repaired=words.repaired,
                mode=self.row_mode(row),
                switchable=bool(words.label or words.repaired),
                tokens=self._tokens(row, standing),
                size=self._log.byte_size(row),
                preview=words.preview,
                left_out=words.left_out,
                touched=row in self._touched,
                touched_blocks=self._touched.get(row) or frozenset(),
                tracked=self._tracked.get(row, ()),
            )
        return entry.facts

    def body(self, row: int) -> Body:
        """What is shown under the header of a row. Decodes the message if it has not been looked at lately."""
        entry, mode = self._entry(row), self.row_mode(row)
        if mode not in entry.bodies:
            body = make_body(entry.blocks, mode)
            entry.bodies[mode] = Body(body.sections, entry.remark or body.remark)
        return entry.bodies[mode]

    def passing_body(self, row: int) -> Body:
        """The same without keeping it: for walks over all rows."""
        if row in self._kept:
            return self.body(row)
        return make_body(self._blocks(row)[0], self.row_mode(row))

    def stretch_of(self, row: int) -> Stretch | None:
        """The stretch that a row lies in."""
        place = bisect_right(self._firsts, row) - 1
        return self._stretches[place] if place >= 0 and row <= self._stretches[place].last else None

    def stretch_at(self, row: int) -> Stretch | None:
        """The stretch that begins with a row."""
        stretch = self.stretch_of(row)
        return stretch if stretch is not None and stretch.first == row else None

    @property
    def changes(self) -> tuple[int, ...]:
        """Rows that as sent are not as stored, and the first row of each stretch that is not sent. Ascending.

        Rows above which something made up is shown belong to them.
        """
        if self._changes is None:
            projection = self._projection
            rows = {message for message, _ in projection.updates}
            rows.update(repair.message for repair in projection.repairs)
            rows.update(message for message, _ in projection.gone_blocks)
            found = {row for row in rows if 0 <= row < self._rows and projection.standing(row) is Standing.SENT}
            found.update(s.first for s in self._stretches if s.kind is StretchKind.NOT_SENT)
            found.update(self._made_up)
            self._changes = tuple(sorted(found))
        return self._changes

    # -- Qt

    def rowCount(self, parent: Index = ROOT) -> int:
        """Number of stored messages."""
        return 0 if parent.isValid() else self._rows

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's signature
        """One fact of a row."""
        if not index.isValid() or not 0 <= index.row() < self._rows:
            return None
        row = index.row()
        if role == NUMBER:
            return row
        if role == STANDING:
            return self.standing(row)
        if role == SIZE:
            return self.byte_size(row)
        if role == BODY:
            return self.body(row)
        if role not in _NAMES and role not in _SPOKEN:
            return None
        facts = self.facts(row)
        if role in {PREVIEW, Qt.ItemDataRole.DisplayRole}:
            return facts.preview
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return facts.accessible
        return {
            ROLE: facts.role,
            LABEL: facts.label,
            REPAIRED: facts.repaired,
            TOKENS: facts.tokens,
            LEFT_OUT: facts.left_out,
            TOUCHED: facts.touched,
            TRACKED: facts.tracked,
        }[role]

    def roleNames(self) -> dict[int, QByteArray]:
        """Names of the roles: those of the fields of `RowFacts`."""
        return {**super().roleNames(), **{role: QByteArray(name) for role, name in _NAMES.items()}}

    # -- inside

    def _tokens(self, row: int, standing: Standing) -> int | None:
        if self._counts is None:
            return None
        if standing is Standing.SENT and self.row_mode(row) is not TextMode.AS_STORED:
            return self._counts.message_as_sent(row, self._projection)
        return self._counts.message(row)

    def _entry(self, row: int) -> _Entry:
        entry = self._kept.get(row)
        if entry is not None:
            self._kept.move_to_end(row)
            return entry
        entry = self._kept[row] = self._read(row)
        self._kept_characters += entry.size
        while len(self._kept) > 1 and (len(self._kept) > KEPT_ROWS or self._kept_characters > KEPT_CHARACTERS):
            _, old = self._kept.popitem(last=False)
            self._kept_characters -= old.size
        return entry

    def _read(self, row: int) -> _Entry:
        blocks, remark = self._blocks(row)
        stored = self._log[row]
        role = as_text(stored.get("role")) if is_object(stored) else ""
        size = sum(len(block.sent.text) if block.sent is not None else 0 for block in blocks)
        size += sum(len(block.stored.text) if block.stored is not None else 0 for block in blocks)
        return _Entry(blocks, words_of(role, blocks), size, remark)

    def _blocks(self, row: int) -> tuple[tuple[SentBlock, ...], str]:
        """The blocks of a row, and why they are not as sent if they cannot be."""
        if self._source is None:
            raise IndexError(f"there is no message {row}")
        try:
            blocks = self._source.blocks(self._projection, row)
            return with_halves(self._projection, row, blocks, self._log.__getitem__), ""
        except CtxError as error:
            message = parse_message(row, self._log[row])
            blocks = tuple(SentBlock(BlockChange.SAME, block, block) for block in message.blocks)
            return blocks, f"Shown as stored, because what was sent cannot be rebuilt: {error.sentence}"

    def _forget(self, rows: tuple[int, int] | None) -> None:
        """Drop what is kept of rows from the first up to, not including, the second; None = of all."""
        if rows is None:
            self._kept.clear()
            self._kept_characters = 0
            return
        for row in [row for row in self._kept if rows[0] <= row < rows[1]]:
            self._kept_characters -= self._kept.pop(row).size

    def _tell(self, intervals: Iterable[tuple[int, int]], roles: list[int]) -> None:
        found = list(intervals)
        if len(found) > MOST_SIGNALS:
            found = [(found[0][0], found[-1][1])]
        for first, end in found:
            self.dataChanged.emit(self.index(first), self.index(end - 1), roles)

    def _refresh_stretches(self) -> None:
        counts = self._counts
        tokens_of = counts.stretch if counts is not None else _not_counted
        self._changes = None
        self._stretches = stretches_of(self._projection, self._rows, tokens_of)
        self._firsts = tuple(stretch.first for stretch in self._stretches)
        self._made_up = made_up_rows(self._projection, self._rows, self._stretches)
        self.stretches_changed.emit()


_SPOKEN = frozenset({Qt.ItemDataRole.DisplayRole.value, Qt.ItemDataRole.AccessibleTextRole.value})


def _not_counted(_first: int, _last: int) -> int | None:
    return None


def _plain(stored: int) -> Projection:
    """Everything is sent."""
    return Projection(stored=stored, until=stored, deleted_range=None, resume=2)
