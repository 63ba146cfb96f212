"""What the keys do in the conversation. Everything the mouse can do can be done from here.

Left, Right, Home, End and Esc belong to the window (requests); they arrive here only where no window takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from ctxviewer.views.conversation.places import cursor_at, spot_at, step_character, step_word
from ctxviewer.views.conversation.rows import LEAD, Kind
from ctxviewer.views.conversation.selection import Extent, Spot, Unit, message_extent

if TYPE_CHECKING:
    from ctxviewer.views.conversation.sheet import Sheet
    from ctxviewer.views.conversation.view import ConversationView

_Key = Qt.Key
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_ALT = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier

KEYS = (
    ("Up, Down", "Previous or next message"),
    ("Ctrl+Up, Ctrl+Down", "Scroll by a line"),
    ("Page Up, Page Down, Space", "Scroll by a page"),
    ("Ctrl+Home, Ctrl+End", "First or last message"),
    ("N, P", "Next or previous change: a rewritten or repaired message, a stretch that is not sent"),
    ("Enter", "Fold or unfold a stretch, show all of a message or its preview again"),
    ("T", "Switch the text of a message: as sent, as stored, difference"),
    ("Shift+Up, Shift+Down", "Select by messages, or by lines once text is selected"),
    ("Shift+Left, Shift+Right", "Select by characters, with Ctrl by words"),
    ("Ctrl+A, Ctrl+C", "Select all, copy"),
    ("Shift+F10", "Menu of the current message"),
)
"""For the help page: keys, and what they do."""


def handle(view: ConversationView, event: QKeyEvent) -> bool:
    """Do what a key stands for. False if it stands for nothing here."""
    sheet = view.sheet
    if sheet is None or not len(sheet.geometry) or event.modifiers() & _ALT:
        return False
    shift, ctrl = bool(event.modifiers() & _SHIFT), bool(event.modifiers() & _CTRL)
    if event.matches(QKeySequence.StandardKey.Copy):
        view.copy()
        return True
    if event.matches(QKeySequence.StandardKey.SelectAll):
        view.select_all()
        return True
    key = _Key(event.key())
    if shift and key in {_Key.Key_Up, _Key.Key_Down, _Key.Key_Left, _Key.Key_Right, _Key.Key_Home, _Key.Key_End}:
        return _extend(view, sheet, key, by_word=ctrl)
    if key in {_Key.Key_Up, _Key.Key_Down}:
        by = 1 if key is _Key.Key_Down else -1
        if ctrl:
            view.scroll_by(by * sheet.metrics.line)
        else:
            _step(view, sheet, by)
        return True
    if key in {_Key.Key_PageUp, _Key.Key_PageDown} or (key is _Key.Key_Space and not ctrl):
        back = key is _Key.Key_PageUp or (key is _Key.Key_Space and shift)
        _page(view, sheet, -1 if back else 1)
        return True
    if key in {_Key.Key_Home, _Key.Key_End}:
        _go_to_item(view, sheet, 0 if key is _Key.Key_Home else sheet.geometry.item_count - 1)
        if key is _Key.Key_End:
            sheet.scroll_to_end()
            view.show_changes()
        return True
    if ctrl or shift:
        return False
    return _plain(view, sheet, key)


def _plain(view: ConversationView, sheet: Sheet, key: Qt.Key) -> bool:
    if key in {_Key.Key_Return, _Key.Key_Enter}:
        return _toggle(view, sheet)
    if key in {_Key.Key_N, _Key.Key_P}:
        view.go_to_change(backwards=key is _Key.Key_P)
        return True
    if key is _Key.Key_T:
        row, model = view.current_message, view.model
        if row is not None and model is not None:
            model.cycle_row_mode(row)
        return True
    return view.escape() if key is _Key.Key_Escape else False


def _step(view: ConversationView, sheet: Sheet, by: int) -> None:
    """To the item above or below the current one, or to the first in view."""
    current = view.current_item
    index = sheet.geometry.index_of(*current) if current is not None else None
    if index is None:
        first = sheet.placed[0]
        index = sheet.geometry.index_of(first.row, first.element == LEAD) or 0
    else:
        index += by
    _go_to_item(view, sheet, index)


def _go_to_item(view: ConversationView, sheet: Sheet, index: int) -> None:
    if 0 <= index < sheet.geometry.item_count:
        row, lead = sheet.geometry.item_at(index)
        view.choose(row, lead=lead)
        view.movement.ensure_visible(row, lead=lead)


def _page(view: ConversationView, sheet: Sheet, pages: int) -> None:
    """Scroll by a page; the first item that begins in view becomes the current one."""
    view.movement.scroll_page(pages)
    starts = [p for p in sheet.placed if p.element in {LEAD, 0} and p.y >= 0]
    placed = starts[0] if starts else sheet.placed[0]
    if pages > 0 and sheet.at_end and starts:
        placed = starts[-1]
    view.choose(placed.row, lead=placed.element == LEAD)


def _toggle(view: ConversationView, sheet: Sheet) -> bool:
    """Enter: fold, or open, or show all."""
    current = view.current_item
    if current is None:
        return False
    row, lead = current
    if lead:
        stretch = sheet.stretch_at(row)
        if stretch is not None:
            view.toggle_fold(stretch)
        elif any(made.section.is_long for made in sheet.model.made_up.get(row, ())):
            sheet.toggle_made_up(row)
            view.show_changes()
        return True
    if not sheet.openness.is_open(row):
        sheet.open_row(row, is_open=True)
    else:
        body = sheet.row_layout(row).body
        long = [number for number, part in enumerate(body.sections) if part.is_long] if body is not None else []
        if long:
            sheet.expand(row, () if sheet.openness.expanded(row) else long)
        elif sheet.openness.compact:
            sheet.open_row(row, is_open=False)
    view.movement.ensure_visible(row)
    return True


def _extend(view: ConversationView, sheet: Sheet, key: Qt.Key, *, by_word: bool) -> bool:
    """Let the selection end elsewhere."""
    selection = view.selection
    vertical = key in {_Key.Key_Up, _Key.Key_Down}
    by = 1 if key in {_Key.Key_Down, _Key.Key_Right, _Key.Key_End} else -1
    head = selection.head
    if vertical and (head is None or selection.is_empty or selection.unit is Unit.MESSAGE):
        _extend_by_message(view, sheet, by)
        return True
    if head is None:
        return False
    if vertical:
        moved = _line_away(view, sheet, head, by)
    else:
        moved = _moved_in_row(view, head, by, by_word=by_word, to_edge=key in {_Key.Key_Home, _Key.Key_End})
    selection.unit = Unit.CHARACTER
    selection.move_to(Extent(moved, moved))
    view.selection_moved()
    view.movement.show_spot(moved)
    return True


def _extend_by_message(view: ConversationView, sheet: Sheet, by: int) -> None:
    selection, current = view.selection, view.current_message
    if current is None:
        _step(view, sheet, by)
        return
    if selection.is_empty or selection.unit is not Unit.MESSAGE:
        selection.begin(message_extent(current), Unit.MESSAGE)
    else:
        geometry = sheet.geometry
        row = geometry.next_row(current) if by > 0 else geometry.previous_row(current)
        if row is not None and geometry.is_folded(row):
            row = geometry.next_row(row) if by > 0 else geometry.previous_row(row)
        if row is not None and not geometry.is_folded(row):
            selection.move_to(message_extent(row))
            view.choose(row)
            view.movement.ensure_visible(row)
    view.selection_moved()


def _moved_in_row(view: ConversationView, head: Spot, by: int, *, by_word: bool, to_edge: bool) -> Spot:
    model = view.model
    if model is None:
        return head
    if to_edge:
        return message_extent(head.row).last if by > 0 else message_extent(head.row).first
    body = model.body(head.row)
    return step_word(body, head, by) if by_word else step_character(body, head, by)


def _line_away(view: ConversationView, sheet: Sheet, head: Spot, by: int) -> Spot:
    """The place one line of text above or below; captions and headers between are passed over."""
    view.movement.show_spot(head)
    cursor = cursor_at(sheet, head)
    if cursor is None:
        return head
    y = cursor.y + cursor.height + 2 if by > 0 else cursor.y - 2
    margin = 4 * sheet.metrics.header
    if (by > 0 and y + margin > sheet.height) or (by < 0 and y < margin):
        before = sheet.scroll
        view.scroll_by(by * margin)
        y -= sheet.scroll - before
    placed = sheet.at(round(y))
    while placed is not None:
        is_text = placed.element != LEAD and sheet.row_layout(placed.row).elements[placed.element].kind is Kind.TEXT
        moved = spot_at(sheet, cursor.x, y) if is_text else head
        if (moved > head) if by > 0 else (moved < head):
            return moved
        y = placed.end + 2 if by > 0 else placed.y - 2
        placed = sheet.at(round(y))
    return message_extent(head.row).last if by > 0 else message_extent(head.row).first
