"""The conversation view: widget, scroll bar, current message, and the commands that other parts of the window call.

What stands where is the sheet's, what it looks like is painting's; mouse and keys are translated in `pointing` and
`keyboard`. The view never decodes a message that is not shown, except while it looks for words or copies.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QToolTip, QWidget

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.stretches import Stretch
from ctxviewer.views import theme as theme_module
from ctxviewer.views.conversation import accessibility, keyboard
from ctxviewer.views.conversation.bar import Bar
from ctxviewer.views.conversation.binding import Binding
from ctxviewer.views.conversation.brush import Brush
from ctxviewer.views.conversation.copying import Copying
from ctxviewer.views.conversation.finder import Finder, FindState, Hit
from ctxviewer.views.conversation.matching import Query
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.conversation.movement import Movement
from ctxviewer.views.conversation.painting import Look, Painting
from ctxviewer.views.conversation.pinned_words import PinnedWords
from ctxviewer.views.conversation.pointing import ContextRequest, Pointing
from ctxviewer.views.conversation.rows import LEAD
from ctxviewer.views.conversation.selection import END, Extent, Selection, Spot, Unit, message_extent, selected_texts
from ctxviewer.views.conversation.sheet import Sheet

__all__ = ["ContextRequest", "ConversationView"]


class ConversationView(accessibility.ItemView):
    """Shows a `ConversationModel`."""

    message_selected = Signal(object)  # int: the user made another message the current one
    context_requested = Signal(object)  # ContextRequest
    find_progressed = Signal(object)  # FindState
    copy_progressed = Signal(object)  # CopyState
    selection_changed = Signal(object)  # bool: True if some text is selected
    fold_changed = Signal(object)  # Stretch that the user folded or unfolded
    reader_moved = Signal()  # the user scrolled, or went elsewhere by key

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        accessibility.install()
        self.setAccessibleName("Conversation")
        self.setAccessibleDescription("Messages of the task, as the chosen request sends them")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.ArrowCursor)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme: theme_module.Theme | None = theme_module.current()
        self._theme.changed.connect(self._restyle)
        self._brush = Brush(self._theme)
        self._model: ConversationModel | None = None
        self._sheet: Sheet | None = None
        self._finder: Finder | None = None
        self._pinned = PinnedWords()
        self._binding: Binding | None = None
        self._painting: Painting | None = None
        self._selection = Selection()
        self._copying = Copying(self)
        self._copying.progressed.connect(self.copy_progressed)
        self._pointing = Pointing(self)
        self._movement = Movement(self)
        self._bar = Bar(self.verticalScrollBar())
        self._current: tuple[int, bool] | None = None
        self._following = False
        self._wheel_rest = 0.0

    # -- what is shown

    @property
    def model(self) -> ConversationModel | None:
        """The messages."""
        return self._model

    @property
    def sheet(self) -> Sheet | None:
        """What stands where, up to date; None without a model or once the view is closed."""
        if self._binding is not None and self._sheet is not None and self._binding.catch_up():
            self._check_current(self._sheet)
            self._bar.sync(self._sheet)
        return self._sheet

    @property
    def selection(self) -> Selection:
        """What is selected. After changing it call `selection_moved`."""
        return self._selection

    @property
    def movement(self) -> Movement:
        """Brings things into view."""
        return self._movement

    def set_model(self, model: ConversationModel | None) -> None:
        """Show the messages of a model."""
        self._let_go()
        if model is not None and self._theme is not None:
            metrics = Metrics(self._theme, self.viewport().width(), model.rowCount())
            self._model, self._sheet = model, Sheet(model, metrics, self.viewport().height())
            self._sheet.layouts.marks_format = self._brush.marks
            self._painting = Painting(self._sheet, self._brush)
            self._finder = Finder(model, self)
            self._finder.progressed.connect(self._tell_found)
            self._finder.hit_changed.connect(self._show_hit)
            self._binding = Binding(self._sheet, self._finder, self._selection, self)
            self._binding.following = self._following
            self._binding.touched.connect(self.viewport().update)
            self._binding.was_reset.connect(self._forget_rows)
        self.show_changes()

    def close(self) -> bool:
        """Let go of the model and stop all work; nothing is shown any more."""
        self._let_go()
        if self._theme is not None:
            self._theme.changed.disconnect(self._restyle)
            self._theme = None
        return super().close()

    def _let_go(self) -> None:
        accessibility.forget(self)
        self._copying.cancel()
        self._pointing.stop()
        if self._binding is not None:
            self._binding.close()
        if self._finder is not None:
            self._finder.clear(quiet=True)
            self._finder.deleteLater()
        self._model = self._sheet = self._finder = self._binding = self._painting = None
        self._current = None
        self._selection.clear()

    def set_following(self, following: bool) -> None:
        """While True, a view at its end stays at the end when messages are added."""
        self._following = following
        if self._binding is not None:
            self._binding.following = following

    def set_compact(self, compact: bool) -> None:
        """Show only the headers of messages, each with its first words, or their texts too."""
        sheet = self.sheet
        if sheet is not None:
            sheet.set_compact(compact)
            self.show_changes()

    def _forget_rows(self) -> None:
        """Another task is shown."""
        accessibility.forget(self)
        self._current = None
        self._pointing.stop()
        self.show_changes()

    # -- the current message

    @property
    def current_message(self) -> int | None:
        """The message with the outline."""
        return self._current[0] if self._current is not None and not self._current[1] else None

    @property
    def current_item(self) -> tuple[int, bool] | None:
        """(row, True for the line above it) of the item with the outline."""
        return self._current

    def set_current_message(self, message: int | None) -> None:
        """Outline a message without scrolling and without telling."""
        rows = self._model.rowCount() if self._model is not None else 0
        self._set_current((message, False) if message is not None and 0 <= message < rows else None)

    def choose(self, row: int, *, lead: bool = False) -> None:
        """The user went to an item: outline it, and tell if it is a message."""
        if self._set_current((row, lead)) and not lead:
            self.message_selected.emit(row)

    def _set_current(self, item: tuple[int, bool] | None) -> bool:
        if item == self._current:
            return False
        self._current = item
        accessibility.announce_current(self)
        self.viewport().update()
        return True

    def _check_current(self, sheet: Sheet) -> None:
        """Rows or lines may be gone."""
        if self._current is not None:
            row, lead = self._current
            if row >= len(sheet.geometry):
                self._current = None
            elif lead and not sheet.geometry.has_lead(row):
                self._current = (row, False)

    # -- moving

    def reveal(self, message: int, block: int | None = None) -> None:
        """Bring a message, or one of its stored blocks, into view and outline it; unfolds what hides it.

        Does not scroll when it can be seen already.
        """
        self._movement.reveal(message, block)
        self.set_current_message(message)

    def go_to_change(self, *, backwards: bool = False) -> bool:
        """Go to the next message that is not sent as stored, or stretch that is not sent. False if there is none."""
        row, sheet = self._movement.change_from_here(backwards=backwards), self.sheet
        if row is None or sheet is None:
            return False
        lead = sheet.geometry.has_lead(row)
        self.choose(row, lead=lead)
        self._movement.ensure_visible(row, lead=lead)
        return True

    def toggle_fold(self, stretch: Stretch) -> None:
        """The user folds or unfolds a stretch; its line stays where it is."""
        self._movement.toggle_fold(stretch)
        self.fold_changed.emit(stretch)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold every stretch that is not sent."""
        sheet = self.sheet
        if sheet is not None:
            sheet.fold_all(folded)
            self.show_changes()

    def scroll_by(self, pixels: int) -> None:
        """Scroll down by so many pixels."""
        sheet = self.sheet
        if sheet is not None:
            sheet.scroll_by(pixels)
            self.show_changes()

    # -- selection and copying

    def select_all(self) -> None:
        """Select everything that is shown."""
        sheet = self.sheet
        if sheet is not None and len(sheet.geometry):
            last = Spot(len(sheet.geometry) - 1, END, 0)
            self._selection.begin(Extent(Spot(0, -1, 0), Spot(0, END, 0)), Unit.MESSAGE)
            self._selection.move_to(Extent(last, last))
            self.selection_moved()

    def clear_selection(self) -> None:
        """Select nothing."""
        self._selection.clear()
        self.selection_moved()

    def selection_moved(self) -> None:
        """The selection is another one: show it and tell."""
        self.selection_changed.emit(not self._selection.is_empty)
        self.viewport().update()

    def selected_text(self) -> str:
        """The raw text that is selected, '' if there is none. Decodes all of it: for small selections."""
        extent, sheet = self._selection.extent, self.sheet
        if extent is None or sheet is None:
            return ""
        return "".join(text for _, text in selected_texts(sheet.model, sheet.geometry, extent))

    def copy(self) -> None:
        """Put the selected text on the clipboard, or the text of the current message if none is selected."""
        extent, sheet = self._selection.extent, self.sheet
        if extent is None and self.current_message is not None:
            extent = message_extent(self.current_message)
        if extent is not None and sheet is not None:
            texts = selected_texts(sheet.model, sheet.geometry, extent)
            self._copying.start(texts, extent.first.row, extent.last.row)

    def escape(self) -> bool:
        """Stop copying, else clear the selection, else end the search. False if there was nothing of the kind."""
        if self._copying.cancel():
            return True
        if not self._selection.is_empty:
            self.clear_selection()
            return True
        if self._finder is not None and self._finder.query is not None:
            self.clear_find()
            return True
        return False

    # -- find

    def find(  # type: ignore[override]  # QWidget.find asks for widgets by window number, which nobody asks of this
        self, text: str, *, case_sensitive: bool = False, regex: bool = False, backwards: bool = False
    ) -> None:
        """Look for words or a pattern in all messages as shown; the first place behind the current message is shown.

        The same query again goes on to the next place. An empty text ends the search.
        """
        finder, sheet = self._finder, self.sheet
        if finder is None or sheet is None:
            return
        query = Query(text, case_sensitive, regex)
        if finder.query == query:
            finder.step(backwards=backwards)
            return
        if finder.hit is not None:
            start = finder.hit.spot
        else:
            row = self._current[0] if self._current is not None else sheet.anchor.row
            start = Spot(row, END if backwards else 0, 0)
        finder.start(query, start, backwards=backwards)
        self.viewport().update()

    def find_next(self, *, backwards: bool = False) -> None:
        """Go to the next place, or the one before; over the end of the task if need be."""
        if self._finder is not None:
            self._finder.step(backwards=backwards)

    def clear_find(self) -> None:
        """End the search."""
        if self._finder is not None:
            self._finder.clear()
        self.viewport().update()

    @property
    def find_state(self) -> FindState:
        """How far the search has come."""
        return self._finder.state if self._finder is not None else FindState()

    @property
    def pinned_words(self) -> PinnedWords:
        """Which words of pinned facts are marked."""
        return self._pinned

    def set_pinned_words(self, pinned: PinnedWords) -> None:
        """Mark the words of pinned facts in the messages that hold them."""
        self._pinned = pinned
        self.viewport().update()

    def _tell_found(self, state: FindState) -> None:
        self.find_progressed.emit(state)

    def _show_hit(self, hit: Hit | None) -> None:
        if hit is not None:
            self._movement.show_hit(hit)
            self.choose(hit.row)
        self.viewport().update()

    # -- look and scroll bar

    def _restyle(self) -> None:
        if self._theme is None:
            return
        self._brush = Brush(self._theme)
        sheet = self.sheet
        if sheet is not None:
            sheet.layouts.marks_format = self._brush.marks
            self._painting = Painting(sheet, self._brush)
            metrics = Metrics(self._theme, self.viewport().width(), len(sheet.geometry))
            sheet.resize(metrics, self.viewport().height(), restyled=True)
        self.show_changes()

    def show_changes(self) -> None:
        """The sheet was scrolled or laid out anew: move the scroll bar and paint."""
        self._bar.sync(self._sheet)
        self.viewport().update()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        """The scroll bar was moved."""
        if self._sheet is not None and self._bar.follow(self._sheet):
            self.show_changes()
            self.reader_moved.emit()

    # -- events

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap anew; the line at the top edge stays there."""
        super().resizeEvent(event)
        sheet = self.sheet
        if sheet is not None and self._theme is not None:
            stay_at_end = self._following and sheet.at_end and sheet.total > sheet.height
            metrics = Metrics(self._theme, self.viewport().width(), len(sheet.geometry))
            sheet.resize(metrics, self.viewport().height())
            if stay_at_end:
                sheet.scroll_to_end()
            self.show_changes()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is in the viewport."""
        sheet = self.sheet
        with QPainter(self.viewport()) as painter:
            if sheet is None or self._painting is None or self._finder is None:
                painter.fillRect(event.rect(), self._brush.color("surface"))
            else:
                hover = self._pointing.hover
                look = Look(self._selection, self._finder, self._pinned, self._current, self.hasFocus(), hover)
                self._painting.paint(painter, event.rect(), look)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by exact pixels; with Ctrl the wheel is for whoever zooms."""
        sheet = self.sheet
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier or sheet is None:
            event.ignore()
            return
        pixels = float(-event.pixelDelta().y())
        if not pixels:
            pixels = -event.angleDelta().y() / 120 * QApplication.wheelScrollLines() * sheet.metrics.line
        self._wheel_rest += pixels
        whole = int(self._wheel_rest)
        self._wheel_rest -= whole
        if whole:
            self.scroll_by(whole)
            self.reader_moved.emit()
            self._pointing.refresh()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See `keyboard`."""
        if keyboard.handle(self, event):
            self.reader_moved.emit()
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The outline becomes stronger; reached by key without a current item, the first one in view becomes it."""
        super().focusInEvent(event)
        by_key = event.reason() in {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}
        sheet = self.sheet
        if by_key and self._current is None and sheet is not None and sheet.placed:
            self.choose(sheet.placed[0].row, lead=sheet.placed[0].element == LEAD)
        accessibility.announce_current(self)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The outline becomes fainter."""
        super().focusOutEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """See `pointing`."""
        self._pointing.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """See `pointing`."""
        self._pointing.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """See `pointing`."""
        self._pointing.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """See `pointing`."""
        self._pointing.press(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is under the mouse."""
        super().leaveEvent(event)
        self._pointing.leave()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask the window for a menu."""
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        self.context_requested.emit(self._pointing.context(None if by_key else event.pos(), event.globalPos()))
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        """Tooltips of headers; all else as Qt does it."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            tip = self._pointing.tip(event.pos())
            if tip:
                QToolTip.showText(event.globalPos(), tip, self.viewport())
            else:
                QToolTip.hideText()
                event.ignore()
            return True
        return super().viewportEvent(event)
