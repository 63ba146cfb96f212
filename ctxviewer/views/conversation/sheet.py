"""What stands where in the viewport: from rows and their estimated heights to elements at exact places.

The place that is held fixed is an element, not a number of pixels: a height above it may become exact, a row may grow
or vanish, the width may change, and what is read stays where it is. Knows nothing of widgets, painting or input.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.segments import PREVIEW_LINES
from ctxviewer.models.stretches import Stretch, StretchKind
from ctxviewer.views.conversation.geometry import Fold, Geometry, Pixels, estimate_heights
from ctxviewer.views.conversation.layouts import Layouts
from ctxviewer.views.conversation.leads import Leads
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.conversation.openness import Openness
from ctxviewer.views.conversation.rows import LEAD, Kind

FAR = 4
"""A scroll of more viewports than this goes by estimates instead of by laying out all that lies between."""


class Placed(NamedTuple):
    """An element in the viewport."""

    row: int
    element: int
    """Number in its row, or LEAD for the line above it."""
    y: int
    height: int

    @property
    def end(self) -> int:
        """First pixel below."""
        return self.y + self.height


class Anchor(NamedTuple):
    """What stands at the top edge of the viewport."""

    row: int
    element: int
    offset: int
    """Pixels of the element above the edge."""


class Mark(NamedTuple):
    """A place in the text that survives another width."""

    anchor: Anchor
    raw: int | None
    """Character of the piece at the top edge, None where there is no text."""
    rest: int
    """Pixels above the edge, measured from the line of that character."""


class Sheet:
    """The conversation laid out around an anchor."""

    def __init__(self, model: ConversationModel, metrics: Metrics, height: int) -> None:
        self.model = model
        self.metrics = metrics
        self.height = height
        self.geometry = Geometry()
        self.openness = Openness()
        self.layouts = Layouts(model, metrics, self.openness)
        self.leads = Leads(model, metrics, self.openness)
        self.row_layout = self.layouts.row
        self.piece = self.layouts.piece
        self.placed: list[Placed] = []
        """Elements in the viewport, from top to bottom."""
        self.anchor = Anchor(0, LEAD, 0)
        self.at_end = False
        """True when the end of the last row is in the viewport."""
        self._wish = self.anchor
        """Where the reader wanted to be; stays while projections come and go."""
        self._sizes: Pixels = np.zeros(0, dtype=np.int64)
        self.reset()

    # -- what there is

    def reset(self) -> None:
        """Another task: start at the top with nothing remembered."""
        self.openness.clear()
        self.layouts.clear()
        self.leads.clear()
        self._sizes = self._sizes_of(0, self.model.rowCount())
        self.geometry.reset(self._estimates())
        self._refold()
        self._wish = Anchor(0, LEAD, 0)
        self.settle(*self._wish)

    def append(self, rows: int) -> None:
        """More rows at the end."""
        old = len(self.geometry)
        self._sizes = np.concatenate((self._sizes, self._sizes_of(old, old + rows)))
        self.geometry.append(self._estimates()[old:])

    def shorten(self, rows: int) -> None:
        """Only the first so many rows are left."""
        self._sizes = self._sizes[:rows]
        self.geometry.set_folds((), self.metrics.lead)
        self.layouts.drop(rows, len(self.geometry))
        self.geometry.shorten(rows)
        self.openness.shorten(rows)

    def doubt(self, first: int, end: int) -> None:
        """Facts or texts of rows first to end - 1 may have changed: ask again when they are shown."""
        self.geometry.doubt(first, end)
        self.layouts.doubt(first, end)

    def refresh(self) -> None:
        """Lay out again after `append`, `shorten`, `doubt` or other stretches; what the reader chose to see stays."""
        self._refold()
        self._settle_at_wish()

    def resize(self, metrics: Metrics, height: int, *, restyled: bool = False) -> None:
        """Another width or height, or with `restyled` another theme or scale. The line at the top edge stays there."""
        mark = self._mark()
        restyled = restyled or metrics.text_width != self.metrics.text_width
        self.height = height
        self.set_metrics(metrics, restyled=restyled)
        self._return_to(mark)

    def set_metrics(self, metrics: Metrics, *, restyled: bool = True) -> None:
        """Other measures; with `restyled` all texts must be laid out anew and heights become estimates."""
        self.metrics = self.layouts.metrics = self.leads.metrics = metrics
        if restyled:
            self.layouts.clear()
            self.leads.clear()
            self.geometry.estimate(self._estimates(), keep=self.openness.expanded_rows(len(self.geometry)))
        self._refold()

    def _sizes_of(self, first: int, end: int) -> Pixels:
        size = self.model.byte_size
        return np.fromiter((size(row) for row in range(first, end)), dtype=np.int64, count=end - first)

    def _estimates(self) -> Pixels:
        metrics = self.metrics
        heights = estimate_heights(
            self._sizes,
            base=metrics.row_base + metrics.gap,
            line=metrics.line,
            columns=metrics.columns,
            most_lines=PREVIEW_LINES + 1,
        )
        return np.where(self.openness.closed_rows(len(heights)), metrics.header, heights)

    # -- folding

    def _refold(self) -> None:
        folds = (Fold(s.first, s.last, self.openness.is_folded(s)) for s in self.model.stretches)
        rows = len(self.geometry)
        self.geometry.set_folds((f for f in folds if f.last < rows), self.metrics.lead, self.leads.above(rows))

    def fold(self, stretch: Stretch, folded: bool, y: int | None = None) -> None:
        """Fold or unfold; with `y` the line of the stretch stands there afterwards, else the anchor stays."""
        self.openness.set_folded(stretch, folded)
        self._refold()
        if y is None:
            self._settle_at_wish()
        else:
            self.move_to(stretch.first, LEAD, y)

    def toggle_made_up(self, row: int) -> None:
        """Show what was made up above a row whole, or its preview again; its title stays where it is."""
        placed = self.find(row, LEAD)
        self.openness.flip_made_up(row)
        self._refold()
        self.move_to(row, LEAD, placed.y if placed is not None else 0)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every stretch that is not sent."""
        for stretch in self.model.stretches:
            if stretch.kind is StretchKind.NOT_SENT:
                self.openness.set_folded(stretch, folded)
        self.refresh()

    def open_row(self, row: int, is_open: bool) -> None:
        """Show the text of a row, or only its header; its header stays where it is."""
        if self.openness.is_open(row) is not is_open:
            self.openness.set_open(row, is_open)
            self._change_row(row)

    def set_compact(self, compact: bool) -> None:
        """Show headers only, of all rows, or texts of all rows."""
        if compact is not self.openness.compact:
            row, element, _ = self.anchor
            self.openness.set_compact(compact)
            self.set_metrics(self.metrics)
            self.move_to(row, LEAD if element == LEAD else 0)

    def expand(self, row: int, sections: Iterable[int]) -> None:
        """Show just these sections of a row whole."""
        wanted = frozenset(sections)
        if wanted != self.openness.expanded(row):
            self.openness.expand(row, wanted)
            self._change_row(row)

    def _change_row(self, row: int) -> None:
        """Lay a row out anew; its header stays if it can be seen, else what is at the top edge."""
        header = self.find(row, 0)
        self.layouts.drop(row, row + 1)
        if header is not None:
            self.move_to(row, 0, header.y)
        else:
            self.move_to(self.anchor.row, self.anchor.element, -self.anchor.offset)

    # -- elements

    def _height_of(self, row: int, element: int) -> int:
        return self.geometry.lead(row) if element == LEAD else self.layouts.height(row, element)

    def _shown(self, row: int, element: int) -> tuple[int, int]:
        """The nearest element that is shown. There must be rows."""
        row = max(0, min(row, len(self.geometry) - 1))
        fold = self.geometry.fold_of(row)
        if fold is not None and fold.folded:
            return fold.first, LEAD
        if element == LEAD:
            return row, LEAD if self.geometry.has_lead(row) else 0
        return row, max(0, min(element, len(self.row_layout(row).elements) - 1))

    def after(self, row: int, element: int) -> tuple[int, int] | None:
        """The element below, None at the end."""
        fold = self.geometry.fold_of(row)
        if fold is None or not fold.folded:
            if element == LEAD:
                return row, 0
            if element + 1 < len(self.row_layout(row).elements):
                return row, element + 1
        following = self.geometry.next_row(row)
        if following is None:
            return None
        return following, LEAD if self.geometry.has_lead(following) else 0

    def before(self, row: int, element: int) -> tuple[int, int] | None:
        """The element above, None at the top."""
        if element > 0:
            return row, element - 1
        if element == 0 and self.geometry.has_lead(row):
            return row, LEAD
        previous = self.geometry.previous_row(row)
        if previous is None:
            return None
        if self.geometry.is_folded(previous):
            return previous, LEAD
        return previous, len(self.row_layout(previous).elements) - 1

    # -- placing

    def settle(self, row: int, element: int, y: int = 0) -> None:
        """Fill the viewport around an element whose top is at `y`, near the viewport; both ends of the content bind."""
        self.placed = []
        self.at_end = True
        if not len(self.geometry):
            self.anchor = Anchor(0, LEAD, 0)
            return
        start = self._shown(row, element)
        down, edge, following = self._walk_down(start, y)
        if following is None and edge < self.height:
            shift = self.height - edge
            down = [p._replace(y=p.y + shift) for p in down]
            y += shift
        up, top = self._walk_up(self.before(*start), y)
        placed = [*reversed(up), *down]
        if top > 0:
            placed = [p._replace(y=p.y - top) for p in placed]
            if placed and placed[-1].end < self.height and following is not None:
                more, _, following = self._walk_down(following, placed[-1].end)
                placed += more
        for at in {p.row for p in placed}:
            if not self.geometry.is_folded(at):
                self.geometry.set_height(at, self.row_layout(at).height)
        self.placed = [p for p in placed if p.end > 0 and p.y < self.height]
        self.at_end = following is None and bool(placed) and placed[-1].end <= self.height
        if self.placed:
            first = self.placed[0]
            self.anchor = Anchor(first.row, first.element, -first.y)

    def _walk_down(self, at: tuple[int, int] | None, y: int) -> tuple[list[Placed], int, tuple[int, int] | None]:
        """Elements from `at` at `y` down to the lower edge, where they end, and what follows them."""
        found: list[Placed] = []
        while at is not None and y < self.height:
            height = self._height_of(*at)
            found.append(Placed(*at, y, height))
            y += height
            at = self.after(*at)
        return found, y, at

    def _walk_up(self, at: tuple[int, int] | None, y: int) -> tuple[list[Placed], int]:
        """Elements from `at`, whose lower end is at `y`, up to the upper edge, nearest first; and where they begin."""
        found: list[Placed] = []
        while at is not None and y > 0:
            height = self._height_of(*at)
            y -= height
            found.append(Placed(*at, y, height))
            at = self.before(*at)
        return found, y

    def _settle_at_wish(self) -> None:
        """Settle where the reader wanted to be, or at the line under which that is folded away."""
        row, element, offset = self._wish
        there = bool(len(self.geometry)) and self._shown(row, element) == (row, element)
        self.settle(row, element, -offset if there else 0)

    def move_to(self, row: int, element: int, y: int = 0) -> None:
        """Settle because the reader wants to be there."""
        self.settle(row, element, y)
        self._wish = self.anchor

    # -- scrolling

    @property
    def total(self) -> int:
        """Height of everything, as far as it is known."""
        return self.geometry.total

    @property
    def scroll(self) -> int:
        """Pixels above the viewport, as far as they are known."""
        if not self.placed:
            return 0
        row, element, offset = self.anchor
        y = self.geometry.top(row) + offset
        return y if element == LEAD else y + self.geometry.lead(row) + int(self.row_layout(row).tops[element])

    def scroll_by(self, pixels: int) -> None:
        """Move the content up by so many pixels; exact, whatever was estimated."""
        if abs(pixels) > FAR * max(1, self.height):
            self.scroll_to(self.scroll + pixels)
        else:
            self.move_to(self.anchor.row, self.anchor.element, -self.anchor.offset - pixels)

    def scroll_to(self, y: int) -> None:
        """Bring the place `y` pixels from the top of all content to the upper edge, by estimates."""
        if not len(self.geometry):
            return
        if y <= 0:
            self.move_to(0, LEAD)
        elif y >= self.total - self.height:
            self.scroll_to_end()
        else:
            row = self.geometry.row_at(y)
            local, lead = y - self.geometry.top(row), self.geometry.lead(row)
            if local < lead:
                self.move_to(row, LEAD, -local)
            else:
                layout = self.row_layout(row)
                known = max(1, self.geometry.height(row))
                inside = (local - lead) * layout.height // known
                element = layout.element_at(inside)
                self.move_to(row, element, int(layout.tops[element]) - inside)

    def scroll_to_end(self) -> None:
        """Show the end of the last row at the lower edge."""
        last = len(self.geometry) - 1
        if last >= 0:
            row, element = self._shown(last, LEAD)
            if not self.geometry.is_folded(row):
                element = len(self.row_layout(row).elements) - 1
            self.move_to(row, element, self.height - self._height_of(row, element))

    def _mark(self) -> Mark | None:
        if not self.placed:
            return None
        row, element, offset = self.anchor
        if element != LEAD and self.row_layout(row).elements[element].kind is Kind.TEXT:
            piece = self.piece(row, element)
            raw = piece.raw_at(0, offset)
            return Mark(self.anchor, raw, offset - round(piece.place_of(raw)[1]))
        return Mark(self.anchor, None, offset)

    def _return_to(self, mark: Mark | None) -> None:
        if mark is None:
            self.settle(*self._wish)
            return
        (row, element, _), raw, rest = mark
        if raw is not None and not self.geometry.is_folded(row) and element < len(self.row_layout(row).elements):
            rest += round(self.piece(row, element).place_of(raw)[1])
        self.move_to(row, element, -rest)

    # -- looking up

    def find(self, row: int, element: int) -> Placed | None:
        """Where an element is in the viewport, None if it is not."""
        return next((p for p in self.placed if p.row == row and p.element == element), None)

    def at(self, y: int) -> Placed | None:
        """The element that covers a height in the viewport."""
        return next((p for p in self.placed if p.y <= y < p.end), None)

    def rows_in_view(self) -> list[tuple[int, int, int]]:
        """(row, top, end) of each row in the viewport, without the lines above stretches."""
        found: list[tuple[int, int, int]] = []
        for row, element, y, height in self.placed:
            if element == LEAD:
                continue
            if found and found[-1][0] == row:
                found[-1] = (row, found[-1][1], y + height)
            else:
                found.append((row, y, y + height))
        return found

    def stretch_at(self, row: int) -> Stretch | None:
        """The stretch whose line stands above a row."""
        return self.model.stretch_at(row)
