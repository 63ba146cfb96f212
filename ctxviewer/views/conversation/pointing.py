"""What the mouse does: choose, select, scroll along while selecting, fold, switch texts, show all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt, QTimer
from PySide6.QtGui import QCursor, QMouseEvent
from PySide6.QtWidgets import QApplication

from ctxviewer.models.stretches import StretchKind
from ctxviewer.views.conversation.headers import Part, label_words, part_at
from ctxviewer.views.conversation.leads import StripKind
from ctxviewer.views.conversation.painting import Hover, sticky_lead
from ctxviewer.views.conversation.places import spot_at
from ctxviewer.views.conversation.rows import LEAD, Kind
from ctxviewer.views.conversation.selection import Unit, extent_at, lead_extent, message_extent

if TYPE_CHECKING:
    from ctxviewer.views.conversation.sheet import Placed, Sheet
    from ctxviewer.views.conversation.view import ConversationView

AUTOSCROLL_MS = 16
MADE_UP_TIP = "Rules would send this message. It is stored nowhere, and nothing of it is written."
_UNITS = (Unit.CHARACTER, Unit.WORD, Unit.BLOCK)


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A menu is wanted."""

    message: int | None
    """The message under the mouse, or the current one; None on the line of a stretch or beside everything."""
    block: int | None
    """Number of the stored block under the mouse."""
    stretch_first: int | None
    """First message of the stretch whose line it is."""
    place: QPoint
    """On the screen."""
    has_selection: bool


class Pointing(QObject):
    """The mouse over one view."""

    def __init__(self, view: ConversationView) -> None:
        super().__init__(view)
        self._view = view
        self.hover: Hover | None = None
        """What lies under the mouse and can be clicked."""
        self._pressed: Hover | None = None
        self._selecting = False
        self._place = QPointF()
        """Where the mouse is while the button is held."""
        self._press_place = QPointF()
        self._clicks = 0
        self._clicked_at = 0
        self._scroller = QTimer(self)
        self._scroller.setInterval(AUTOSCROLL_MS)
        self._scroller.timeout.connect(self._scroll_along)

    def stop(self) -> None:
        """Forget a button that is held down, and what is under the mouse."""
        self._scroller.stop()
        self._pressed, self._selecting, self.hover = None, False, None

    # -- buttons

    def press(self, event: QMouseEvent) -> None:
        """Begin to select, or take hold of something that can be clicked."""
        sheet = self._view.sheet
        if sheet is None or not sheet.placed or event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._count_clicks(event)
        self._pressed = self._clickable(event.position().toPoint())
        if self._pressed is not None and self._clicks == 1:
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._begin(sheet, event.position(), extend=shift)

    def _count_clicks(self, event: QMouseEvent) -> None:
        """One, two or three clicks at the same place, by when they were made: the window may have been busy since.

        Which click is a second one Qt says.
        """
        now, place = event.timestamp(), event.position()
        quick = 0 <= now - self._clicked_at <= QApplication.doubleClickInterval()
        near = (place - self._press_place).manhattanLength() < QApplication.startDragDistance()
        if event.type() is QEvent.Type.MouseButtonDblClick:
            self._clicks = 2
        else:
            self._clicks = 3 if self._clicks == 2 and quick and near else 1
        self._clicked_at, self._place, self._press_place = now, place, place

    def _begin(self, sheet: Sheet, place: QPointF, *, extend: bool) -> None:
        view, selection = self._view, self._view.selection
        placed = self._placed(place.toPoint())
        if placed is None:
            view.clear_selection()
            return
        spot = spot_at(sheet, place.x(), place.y())
        layout = sheet.row_layout(placed.row) if placed.element != LEAD else None
        kind = layout.elements[placed.element].kind if layout is not None else None
        if self._clicks == 2 and kind is Kind.HEADER:
            sheet.open_row(placed.row, not sheet.openness.is_open(placed.row))
            view.show_changes()
            return
        unit = _UNITS[self._clicks - 1]
        extent = extent_at(spot, unit, layout.body if layout is not None else None)
        if extend:
            if not selection.has_start:
                start = message_extent(view.current_message) if view.current_message is not None else extent
                selection.begin(start, Unit.CHARACTER)
            selection.move_to(extent_at(spot, selection.unit, layout.body if layout is not None else None))
        else:
            selection.begin(extent, unit)
        self._selecting = True
        view.selection_moved()
        view.choose(placed.row, lead=placed.element == LEAD)

    def move(self, event: QMouseEvent) -> None:
        """Select up to the mouse, or show what could be clicked."""
        if not event.buttons() & Qt.MouseButton.LeftButton:
            self._show_hover(event.position().toPoint())
            return
        if self._pressed is not None and not self._selecting:
            far = (event.position() - self._press_place).manhattanLength() >= QApplication.startDragDistance()
            sheet = self._view.sheet
            if far and sheet is not None and self._clicks == 1:
                self._pressed = None
                self._begin(sheet, self._press_place, extend=False)
        if self._selecting:
            self._place = event.position()
            self._select_to(event.position())
            inside = 0 <= event.position().y() < self._view.viewport().height()
            if inside:
                self._scroller.stop()
            elif not self._scroller.isActive():
                self._scroller.start()

    def _select_to(self, place: QPointF) -> None:
        view, sheet = self._view, self._view.sheet
        if sheet is None or not sheet.placed:
            return
        y = min(max(place.y(), 0.0), sheet.height - 1.0)
        spot = spot_at(sheet, place.x(), y)
        body = None
        if spot.section >= 0 and not sheet.geometry.is_folded(spot.row):
            body = sheet.row_layout(spot.row).body
        extent = lead_extent(spot.row) if spot.section < 0 else extent_at(spot, view.selection.unit, body)
        view.selection.move_to(extent)
        view.selection_moved()

    def _scroll_along(self) -> None:
        """The mouse is held beyond an edge: scroll, the faster the farther, and select on."""
        sheet = self._view.sheet
        if sheet is None or not self._selecting:
            self._scroller.stop()
            return
        beyond = self._place.y() if self._place.y() < 0 else self._place.y() - sheet.height + 1
        self._view.scroll_by(
            round(max(-sheet.height / 2, min(beyond / 2, sheet.height / 2))) or (1 if beyond > 0 else -1)
        )
        self._select_to(self._place)

    def release(self, event: QMouseEvent) -> None:
        """Let go; what was clicked does what it does."""
        self._scroller.stop()
        pressed, self._pressed = self._pressed, None
        selecting, self._selecting = self._selecting, False
        if pressed is not None and not selecting and self._clickable(event.position().toPoint()) == pressed:
            self._click(pressed)
        self.refresh()

    def _click(self, thing: Hover) -> None:
        view, sheet, model = self._view, self._view.sheet, self._view.model
        if sheet is None or model is None:
            return
        if thing.element == LEAD:
            stretch = sheet.stretch_at(thing.row)
            view.choose(thing.row, lead=True)
            if thing.part is Part.LABEL:
                sheet.toggle_made_up(thing.row)
                view.show_changes()
            elif stretch is not None:
                view.toggle_fold(stretch)
            return
        layout = sheet.row_layout(thing.row)
        element = layout.elements[thing.element]
        view.choose(thing.row)
        if element.kind is Kind.MORE:
            view.movement.toggle_section(thing.row, element.section)
        elif thing.part is Part.LABEL:
            model.cycle_row_mode(thing.row)

    # -- under the mouse

    def refresh(self) -> None:
        """The content moved under the mouse."""
        viewport = self._view.viewport()
        place = viewport.mapFromGlobal(QCursor.pos())
        if viewport.rect().contains(place) and viewport.underMouse():
            self._show_hover(place)

    def leave(self) -> None:
        """The mouse is elsewhere."""
        self._set_hover(None)

    def _show_hover(self, place: QPoint) -> None:
        hover = self._clickable(place)
        shape = Qt.CursorShape.IBeamCursor if self._over_text(place) else Qt.CursorShape.ArrowCursor
        if hover is not None:
            shape = Qt.CursorShape.PointingHandCursor
        viewport = self._view.viewport()
        if viewport.cursor().shape() is not shape:
            viewport.setCursor(shape)
        self._set_hover(hover)

    def _set_hover(self, hover: Hover | None) -> None:
        """Only what it concerns is painted."""
        if hover == self.hover:
            return
        old, self.hover = self.hover, hover
        sheet, viewport = self._view.sheet, self._view.viewport()
        if sheet is None:
            return
        for thing in (old, hover):
            placed = sheet.find(thing.row, thing.element) if thing is not None else None
            if placed is not None:
                viewport.update(QRect(0, placed.y, viewport.width(), placed.height))
            if thing is not None and thing.element == LEAD:
                viewport.update(QRect(0, 0, viewport.width(), sheet.metrics.lead))

    def _placed(self, place: QPoint) -> Placed | None:
        sheet = self._view.sheet
        if sheet is None:
            return None
        sticky = sticky_lead(sheet)
        if sticky is not None and sticky.y <= place.y() < sticky.end:
            return sticky
        return sheet.at(place.y())

    def _over_text(self, place: QPoint) -> bool:
        sheet, placed = self._view.sheet, self._placed(place)
        if sheet is None or placed is None or placed.element == LEAD or place.x() < sheet.metrics.chip_x:
            return False
        return sheet.row_layout(placed.row).elements[placed.element].kind is Kind.TEXT

    def _clickable(self, place: QPoint) -> Hover | None:
        """What would do something if it were clicked."""
        sheet, placed = self._view.sheet, self._placed(place)
        if sheet is None or placed is None:
            return None
        if placed.element == LEAD:
            strip = self._strip(sheet, placed, place.y())
            if strip is StripKind.MORE:
                return Hover(placed.row, LEAD, Part.LABEL)
            return Hover(placed.row, LEAD) if strip is StripKind.LINE else None
        layout = sheet.row_layout(placed.row)
        kind = layout.elements[placed.element].kind
        if kind is Kind.MORE:
            return Hover(placed.row, placed.element)
        if kind is Kind.HEADER and layout.facts.switchable:
            part = part_at(layout.facts, sheet.metrics, place.x())
            if part is Part.LABEL:
                return Hover(placed.row, placed.element, part)
        return None

    def _strip(self, sheet: Sheet, placed: Placed, y: int) -> StripKind | None:
        """What of the things above a row lies at a height."""
        if placed == sticky_lead(sheet):
            return StripKind.LINE
        strip = sheet.leads.layout(placed.row).at(y - placed.y)
        return strip.kind if strip is not None else None

    def tip(self, place: QPoint) -> str:
        """What the tooltip at a place says."""
        sheet, placed = self._view.sheet, self._placed(place)
        if sheet is None or placed is None:
            return ""
        if placed.element == LEAD:
            strip = self._strip(sheet, placed, place.y())
            if strip is not StripKind.LINE:
                return MADE_UP_TIP if strip is StripKind.TITLE else ""
            stretch = sheet.stretch_at(placed.row)
            if stretch is None:
                return ""
            verb = "Unfold" if sheet.openness.is_folded(stretch) else "Fold"
            tokens = " Tokens are estimated, as stored." if "k" in stretch.details else ""
            what = "These messages stay in the file." if stretch.kind is StretchKind.NOT_SENT else ""
            return f"{stretch.sentence}\n{what}{tokens} {verb} with a click or Enter.".strip()
        layout = sheet.row_layout(placed.row)
        if layout.elements[placed.element].kind is not Kind.HEADER:
            return ""
        facts = layout.facts
        match part_at(facts, sheet.metrics, place.x()):
            case Part.TOKENS:
                return facts.tokens_tip
            case Part.LABEL:
                both = "\n".join(words for words in (label_words(facts), facts.repaired) if words)
                return f"{both}\nClick or press T to switch: as sent, as stored, difference."
            case Part.TRACKED:
                return f"This message {facts.tracked_words}."
            case Part.NUMBER:
                return f"Message {facts.number}, {facts.size:,} bytes as stored"
            case _:
                return facts.preview if layout.body is None else ""

    def context(self, place: QPoint | None, screen: QPoint) -> ContextRequest:
        """What a menu at a place, or with None for the current item, is about."""
        view, sheet = self._view, self._view.sheet
        selected = not view.selection.is_empty
        if place is None:
            current = view.current_item
            message = view.current_message
            first = current[0] if current is not None and current[1] else None
            return ContextRequest(message, None, first, self._place_of_current(), selected)
        placed = self._placed(place)
        if sheet is None or placed is None:
            return ContextRequest(None, None, None, screen, selected)
        if placed.element == LEAD:
            view.choose(placed.row, lead=True)
            return ContextRequest(None, None, placed.row, screen, selected)
        view.choose(placed.row)
        layout = sheet.row_layout(placed.row)
        inside = layout.elements[placed.element].section >= 0
        block = layout.section(placed.element).block if inside else None
        return ContextRequest(placed.row, block, None, screen, selected)

    def _place_of_current(self) -> QPoint:
        view, sheet = self._view, self._view.sheet
        current = view.current_item
        y = 0
        if sheet is not None and current is not None:
            placed = sheet.find(current[0], LEAD if current[1] else 0)
            y = max(0, placed.y + placed.height) if placed is not None else 0
        return view.viewport().mapToGlobal(QPoint(sheet.metrics.chip_x if sheet is not None else 0, y))
