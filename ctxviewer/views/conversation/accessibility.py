"""The conversation for screen readers: a list whose items are the shown messages and the lines of stretches.

Items are made when asked for and live as long as the view is open; what they say comes from the model's facts.
Measured with PySide6 6.11: Qt's cache frees an interface that Python still believes to own, so every item is entered
into the cache when it is made and taken out through it, and interfaces hold their view weakly.
"""

from __future__ import annotations

import weakref

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QColor, QWindow
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.models.visible import LINE_BREAK, make_visible
from ctxviewer.views.conversation.rows import LEAD
from ctxviewer.views.conversation.sheet import Sheet

MOST_TEXT = 20_000
"""Characters of a message that are read out as its value."""

Item = tuple[int, bool]
"""A row, and True for the line above it."""


class ItemView(QAbstractScrollArea):
    """What the interfaces ask of the view."""

    @property
    def sheet(self) -> Sheet | None:
        """What stands where; None without a model or once the view is closed."""
        raise NotImplementedError

    @property
    def model(self) -> ConversationModel | None:
        """The messages."""
        raise NotImplementedError

    @property
    def current_item(self) -> Item | None:
        """The current message or line."""
        raise NotImplementedError


class ItemInterface(QAccessibleInterface):
    """One message, or the line of a stretch."""

    def __init__(self, view: ItemView, item: Item) -> None:
        super().__init__()
        self._view = weakref.ref(view)
        self.item = item

    def isValid(self) -> bool:
        """False once the item is gone or folded away."""
        view = self._view()
        sheet = view.sheet if view is not None else None
        if sheet is None or self.item[0] >= len(sheet.geometry):
            return False
        return sheet.geometry.index_of(*self.item) is not None

    def object(self) -> QObject | None:  # type: ignore[override]  # an item has none, which Qt accepts
        """Nothing: an item is painted."""
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]  # there may be none yet
        """The window of the view."""
        view = self._view()
        return view.window().windowHandle() if view is not None else None

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]  # None once the view is gone
        """The list."""
        view = self._view()
        return QAccessible.queryAccessibleInterface(view) if view is not None else None

    def child(self, _index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None is allowed
        """Nothing."""
        return None

    def childAt(self, _x: int, _y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None is allowed
        """Nothing."""
        return None

    def childCount(self) -> int:
        """None."""
        return 0

    def indexOfChild(self, _child: QAccessibleInterface) -> int:
        """Never found."""
        return -1

    def rect(self) -> QRect:
        """Where it is on the screen; empty while it is scrolled away."""
        view = self._view()
        sheet = view.sheet if view is not None else None
        if view is None or sheet is None:
            return QRect()
        row, lead = self.item
        if lead:
            places = [(p.y, p.end) for p in sheet.placed if p.row == row and p.element == LEAD]
        else:
            places = [(top, end) for at, top, end in sheet.rows_in_view() if at == row]
        if not places:
            return QRect()
        top, end = places[0]
        viewport = view.viewport()
        local = QRect(0, top, viewport.width(), end - top).intersected(viewport.rect())
        return QRect(viewport.mapToGlobal(local.topLeft()), local.size())

    def role(self) -> QAccessible.Role:
        """An item of a list."""
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        """Focused, selected, folded, scrolled away."""
        state = QAccessible.State()
        view = self._view()
        sheet = view.sheet if view is not None else None
        if view is None or sheet is None or not self.isValid():
            state.invalid = True
            return state
        state.focusable = state.selectable = True
        current = view.current_item == self.item
        state.selected = current
        state.focused = current and view.hasFocus()
        state.offscreen = self.rect().isEmpty()
        if self.item[1]:
            stretch = sheet.stretch_at(self.item[0])
            if stretch is not None:
                state.expandable = True
                state.collapsed = sheet.openness.is_folded(stretch)
                state.expanded = not state.collapsed
        else:
            state.readOnly = state.multiLine = True
        return state

    def text(self, kind: QAccessible.Text) -> str:
        """Name: the header in words. Description: tokens and first words. Value: the text as shown."""
        view = self._view()
        sheet, model = (view.sheet, view.model) if view is not None else (None, None)
        if sheet is None or model is None or not self.isValid():
            return ""
        row, lead = self.item
        if lead:
            return self._lead_text(sheet, row, kind)
        if kind is QAccessible.Text.Name:
            return model.facts(row).accessible
        if kind is QAccessible.Text.Description:
            facts = model.facts(row)
            return f"{facts.tokens_tip}. {facts.preview}"
        if kind is QAccessible.Text.Value:
            return make_visible(model.body(row).text()[:MOST_TEXT]).text.replace(LINE_BREAK, "\n")
        return ""

    @staticmethod
    def _lead_text(sheet: Sheet, row: int, kind: QAccessible.Text) -> str:
        """What stands above a row: the line of a stretch, and what rules made up."""
        stretch, made = sheet.stretch_at(row), sheet.model.made_up.get(row, ())
        if kind is QAccessible.Text.Name:
            sentences = [stretch.sentence] if stretch is not None else []
            return ". ".join((*sentences, *(item.sentence for item in made)))
        if kind is QAccessible.Text.Value:
            text = "\n".join(item.section.text for item in made)
            return make_visible(text[:MOST_TEXT]).text.replace(LINE_BREAK, "\n")
        return ""

    def setText(self, _kind: QAccessible.Text, _text: str) -> None:
        """Nothing can be edited."""

    def foregroundColor(self) -> QColor:
        """The colour of words."""
        view = self._view()
        return view.palette().text().color() if view is not None else QColor()

    def backgroundColor(self) -> QColor:
        """The colour of the ground."""
        view = self._view()
        return view.palette().base().color() if view is not None else QColor()


class ListInterface(QAccessibleWidget):
    """The list of items."""

    def __init__(self, view: ItemView) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = weakref.ref(view)
        self._items: dict[Item, ItemInterface] = {}

    def childCount(self) -> int:
        """Shown messages and lines."""
        sheet = self._sheet
        return sheet.geometry.item_count if sheet is not None else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None is allowed
        """An item by its number from the top."""
        sheet = self._sheet
        if sheet is None or not 0 <= index < sheet.geometry.item_count:
            return None
        return self._item(sheet.geometry.item_at(index))

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # None is allowed
        """The item at a point of the screen."""
        view, sheet = self._view(), self._sheet
        if view is None or sheet is None:
            return None
        placed = sheet.at(view.viewport().mapFromGlobal(QPoint(x, y)).y())
        return None if placed is None else self._item((placed.row, placed.element == LEAD))

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        """Number of an item from the top, -1 if it is not one or not shown."""
        sheet = self._sheet
        if sheet is None or not isinstance(child, ItemInterface):
            return -1
        index = sheet.geometry.index_of(*child.item)
        return -1 if index is None else index

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]  # None is allowed
        """The current item while the view has the focus."""
        view = self._view()
        current = view.current_item if view is not None and view.hasFocus() else None
        return self._item(current) if current is not None else None

    def text(self, kind: QAccessible.Text) -> str:
        """Name and description of the view."""
        view = self._view()
        if view is None:
            return ""
        if kind is QAccessible.Text.Name:
            return view.accessibleName()
        return view.accessibleDescription() if kind is QAccessible.Text.Description else ""

    def close(self) -> None:
        """Free all items."""
        items, self._items = self._items, {}
        for item in items.values():
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(item))

    @property
    def _sheet(self) -> Sheet | None:
        view = self._view()
        return view.sheet if view is not None else None

    def _item(self, item: Item) -> ItemInterface | None:
        view = self._view()
        if view is None:
            return None
        if item not in self._items:
            self._items[item] = ItemInterface(view, item)
            QAccessible.uniqueId(self._items[item])
        return self._items[item]


_lists: dict[int, ListInterface] = {}
_installed: list[bool] = []


def _factory(_key: str, thing: QObject) -> QAccessibleInterface | None:
    if not isinstance(thing, ItemView) or thing.sheet is None:
        return None
    made = _lists[id(thing)] = ListInterface(thing)
    return made


def install() -> None:
    """Make conversations known to Qt's accessibility; later calls do nothing."""
    if not _installed:
        QAccessible.installFactory(_factory)
        _installed.append(True)


def forget(view: ItemView) -> None:
    """The view is closed: free what was made for it."""
    made = _lists.pop(id(view), None)
    if made is not None:
        made.close()


def announce_current(view: ItemView) -> None:
    """Tell assistive technology that another item is the current one."""
    current, sheet = view.current_item, view.sheet
    if current is None or sheet is None or not QAccessible.isActive():
        return
    index = sheet.geometry.index_of(*current)
    if index is not None:
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(index)
        QAccessible.updateAccessibility(event)
