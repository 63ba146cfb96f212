"""Where the tokens of a request go, as slices inside slices: by purpose, message, file or tool. For map and table.

Every slice carries two numbers: what was counted (*estimated*), and the same in the provider's tokens (*calibrated*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt

from ctxviewer.engine.composition import Branch, Composition, Repeat
from ctxviewer.engine.contents import Category
from ctxviewer.models.listing import Index, Listing, RowWords, joined, plain_tip
from ctxviewer.models.numbers import counted, grouped, short_tokens
from ctxviewer.models.visible import one_line

ROOT = QModelIndex()
SYSTEM: Final = "system prompt and tools"
OTHERS: Final = "not about a file"
NO_TOOL: Final = "without a tool"
_COLORS: Final[Mapping[Category | None, str]] = {
    None: "part_other",
    Category.TASK: "part_task",
    Category.USER: "part_user",
    Category.ASSISTANT: "part_assistant",
    Category.CALLS: "part_calls",
    Category.RESULTS: "part_results",
    Category.FILES: "part_files",
    Category.SURROUNDINGS: "part_surroundings",
    Category.NOTICES: "part_notices",
    Category.PICTURES: "part_images",
    Category.OTHER: "part_other",
}


class By(StrEnum):
    """What slices are made by."""

    PURPOSE = "purpose"
    MESSAGE = "message"
    FILE = "file"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a request."""

    name: str
    color: str
    """A ground of the theme."""
    counted: int
    """Estimated tokens, as counted; 0 for what is not stored."""
    tokens: float
    """In the provider's tokens."""
    share: float
    """Of all that is sent, 0 to 1."""
    messages: tuple[int, ...]
    """Stored messages that it comes from, ascending; () for what is not stored."""
    pictures: int = 0
    path: str = ""
    """The file it is, '' if it is none."""
    children: tuple[Slice, ...] = ()

    @property
    def is_stored(self) -> bool:
        """False for the system prompt and tools, which no task stores."""
        return bool(self.messages)

    @property
    def sentence(self) -> str:
        """Everything that is known of it, for tooltip and screen reader."""
        parts = [f"{self.name}: {grouped(self.tokens)} tokens, {self.share:.1%} of the request"]
        if self.is_stored and round(self.tokens) != self.counted:
            parts.append(f"{grouped(self.counted)} counted")
        if self.pictures:
            parts.append(counted(self.pictures, "image"))
        if self.messages:
            one = len(self.messages) == 1
            parts.append(f"message {self.messages[0]}" if one else counted(len(self.messages), "message"))
        return ", ".join(parts)


def slices(found: Composition, by: By) -> tuple[Slice, ...]:
    """The request cut into slices, largest first (messages in the order of the request)."""
    maker = _Maker(found)
    match by:
        case By.PURPOSE:
            made = [maker.branch(branch) for branch in found.categories]
        case By.MESSAGE:
            colors = dict(_main_colors(found))
            made = [
                maker.branch(branch, color=colors[int(branch.name)], prefix="message ") for branch in found.by_message()
            ]
        case By.FILE:
            made = [maker.branch(branch, color="part_files", path=branch.name) for branch in found.by_file()]
            made += maker.rest(made, OTHERS, {part.message for part in found.parts if not part.path})
        case By.TOOL:
            made = [maker.branch(branch, color="part_results") for branch in found.by_tool()]
            made += maker.rest(made, NO_TOOL, {part.message for part in found.parts if not part.tool})
    system = maker.system()
    whole = [*made, system] if system is not None else made
    if by is not By.MESSAGE:
        whole.sort(key=lambda one: -one.tokens)
    return tuple(whole)


class _Maker:
    """Turns branches into slices of one composition."""

    def __init__(self, found: Composition) -> None:
        self._found = found
        self._total = found.total

    def branch(self, branch: Branch, *, color: str = "", prefix: str = "", path: str = "") -> Slice:
        """A branch with everything below it."""
        own = color or _COLORS[branch.category]
        in_files = branch.category is Category.FILES
        children = tuple(
            self.branch(
                child,
                color="" if color else own,
                path=child.name if in_files and child.category is Category.FILES else "",
            )
            for child in branch.children
        )
        return self._slice(
            prefix + (branch.name or "unnamed"), own, branch.tokens, branch.pictures, branch.messages, path, children
        )

    def rest(self, made: Iterable[Slice], name: str, messages: Iterable[int]) -> Iterator[Slice]:
        """What is in none of the slices, so that all together are the request."""
        tokens, pictures = self._found.counted, self._found.pictures
        for one in made:
            tokens, pictures = tokens - one.counted, pictures - one.pictures
        if tokens > 0 or pictures > 0:
            yield self._slice(name, "part_other", tokens, pictures, tuple(sorted(messages)))

    def system(self) -> Slice | None:
        """What was reported beyond the messages."""
        tokens = self._found.system
        if not tokens:
            return None
        return Slice(SYSTEM, "part_system", 0, tokens, tokens / self._total if self._total else 0.0, ())

    def _slice(
        self,
        name: str,
        color: str,
        tokens: int,
        pictures: int,
        messages: tuple[int, ...],
        path: str = "",
        children: tuple[Slice, ...] = (),
    ) -> Slice:
        scaled = self._found.scaled(tokens, pictures)
        share = scaled / self._total if self._total else 0.0
        return Slice(one_line(name, 200), color, tokens, scaled, share, messages, pictures, path, children)


def _main_colors(found: Composition) -> Iterator[tuple[int, str]]:
    """By message the colour of what most of its tokens are for."""
    sums: dict[int, dict[Category, int]] = {}
    for part in found.parts:
        held = sums.setdefault(part.message, {})
        held[part.category] = held.get(part.category, 0) + part.tokens
    for message, held in sums.items():
        yield message, _COLORS[max(held, key=lambda category: held[category])]


class CompositionModel(QAbstractItemModel):
    """The slices as a table whose rows can be opened. A row is remembered by its place among all slices."""

    HEADERS: Final = ("part", "estimated", "calibrated", "share")

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._top: tuple[int, ...] = ()
        self._nodes: list[Slice] = []
        self._children: list[tuple[int, ...]] = []
        self._parents: list[int] = []
        self._rows: list[int] = []

    def show(self, top: tuple[Slice, ...]) -> None:
        """Show these slices."""
        self.beginResetModel()
        self._nodes, self._children, self._parents, self._rows = [], [], [], []
        self._top = tuple(self._add(one, -1, row) for row, one in enumerate(top))
        self.endResetModel()

    def _add(self, one: Slice, parent: int, row: int) -> int:
        number = len(self._nodes)
        self._nodes.append(one)
        self._children.append(())
        self._parents.append(parent)
        self._rows.append(row)
        self._children[number] = tuple(self._add(child, number, place) for place, child in enumerate(one.children))
        return number

    def slice_at(self, index: Index) -> Slice | None:
        """The slice of a row."""
        return self._nodes[index.internalId()] if index.isValid() else None

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        """The place of a slice."""
        inside = self._children[parent.internalId()] if parent.isValid() else self._top
        if not (0 <= row < len(inside) and 0 <= column < len(self.HEADERS)):
            return QModelIndex()
        return self.createIndex(row, column, inside[row])

    def parent(self, child: Index = ROOT) -> QModelIndex:  # type: ignore[override]  # Qt overloads it with QObject's
        """The slice around one."""
        if not child.isValid():
            return QModelIndex()
        above = self._parents[child.internalId()]
        return QModelIndex() if above < 0 else self.createIndex(self._rows[above], 0, above)

    def rowCount(self, parent: Index = ROOT) -> int:
        """Slices inside one."""
        if not parent.isValid():
            return len(self._top)
        return len(self._children[parent.internalId()]) if parent.column() == 0 else 0

    def columnCount(self, _parent: Index = ROOT) -> int:
        """See HEADERS."""
        return len(self.HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Names of the columns, and what they mean."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self.HEADERS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.HEADERS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                "What the tokens are for",
                "Tokens as our counter counts them",
                "The same in the provider's tokens, by the fit to what was reported",
                "Share of everything that is sent",
            )[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words and numbers, numbers to the right."""
        one = self.slice_at(index)
        if one is None:
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return (
                one.name,
                grouped(one.counted) if one.is_stored else "–",
                grouped(one.tokens),
                f"{one.share:.1%}",
            )[column]
        if role == Qt.ItemDataRole.TextAlignmentRole and column:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(one.sentence)
        if role == Qt.ItemDataRole.AccessibleTextRole and not column:
            return one.sentence
        return None


class RepeatsModel(Listing[Repeat]):
    """Content that is in the request more than once, largest waste first."""

    def show_repeats(self, repeats: tuple[Repeat, ...]) -> None:
        """Show these."""
        self.set_items(repeats)

    def words(self, item: Repeat) -> RowWords:
        """What it is, how often, what could be spared."""
        kind = "copies of this file" if item.is_file else "equal texts"
        messages = ", ".join(dict.fromkeys(str(message) for message, _ in item.places[:8]))
        more = " …" if len(item.places) > 8 else ""
        detail = joined(
            f"{len(item.places):,} {kind}",
            f"{grouped(item.tokens)} tokens estimated, {grouped(item.spare)} to spare",
            f"message {messages}{more}",
        )
        icon = "file" if item.is_file else "copy"
        return RowWords(one_line(item.title, 200), detail, icon, "muted", item.title, f"−{short_tokens(item.spare)}")
