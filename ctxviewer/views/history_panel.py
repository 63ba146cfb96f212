"""The changes made with ctxviewer to the open task: newest first, with Undo, Redo and the place of the backup."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QPushButton,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.models.history import HistoryModel, HistoryRole
from ctxviewer.services.changes import History
from ctxviewer.sources.store.values import Entry, EntryState
from ctxviewer.views import theme
from ctxviewer.views.empty import EmptyState

Index = QModelIndex | QPersistentModelIndex
_ICONS = {
    EntryState.DONE: ("apply", "accent"),
    EntryState.UNDONE: ("undo", "muted"),
    EntryState.ABANDONED: ("close", "faint"),
    EntryState.REVERTED: ("undo", "warning"),
    EntryState.INTERRUPTED: ("warning", "warning"),
    EntryState.PENDING: ("later", "warning"),
}


class EntryDelegate(QStyledItemDelegate):
    """Icon of the state, title, and when and where below it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 - Qt's signature
        """All rows are of one height."""
        look = theme.current()
        title, small = QFontMetrics(look.ui_font()), QFontMetrics(look.ui_font(size=11))
        return QSize(look.px(80), title.height() + small.height() + look.px(12))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Two lines."""
        entry = index.data(HistoryRole.ENTRY)
        if not isinstance(entry, Entry):
            return
        look = theme.current()
        painter.save()
        rect: QRect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, look.color("accent_ground"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, look.color("hover"))
        side, pad = look.px(16), look.px(10)
        top = rect.top() + look.px(5)
        icon = look.icon(*_ICONS[entry.state])
        icon.paint(painter, QRect(rect.left() + pad, top, side, side))
        left = rect.left() + pad + side + look.px(8)
        room = rect.right() - pad - left
        metrics, small = QFontMetrics(look.ui_font()), look.ui_font(size=11)
        painter.setFont(look.ui_font())
        painter.setPen(look.color("text" if entry.state is EntryState.DONE else "muted"))
        title = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.ascent()), title)
        painter.setFont(small)
        painter.setPen(look.color("muted"))
        detail = QFontMetrics(small).elidedText(str(index.data(HistoryRole.DETAIL)), Qt.TextElideMode.ElideRight, room)
        baseline = top + metrics.height() + look.px(2) + QFontMetrics(small).ascent()
        painter.drawText(QPoint(left, baseline), detail)
        painter.restore()


class HistoryPanel(QWidget):
    """List and buttons. It shows what the store says; the actions do the work."""

    folder_wanted = Signal(object)  # Path

    def __init__(self, model: HistoryModel, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self._actions = actions
        self._model = model
        self._list = QListView(self)
        self._list.setAccessibleName("Changes made with ctxviewer")
        self._list.setModel(model)
        self._list.setItemDelegate(EntryDelegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._empty = EmptyState("Nothing was changed in this task with ctxviewer.", icon="rollback", parent=self)
        body = QWidget(self)
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._list)
        self._undo, self._redo = QPushButton("Undo", self), QPushButton("Redo", self)
        self._backup = QPushButton("Show backup", self)
        self._backup.clicked.connect(self._show_backup)
        for button, name in ((self._undo, "edit.undo"), (self._redo, "edit.redo")):
            button.setAccessibleName(button.text())
            button.clicked.connect(actions[name].trigger)
            actions[name].changed.connect(self._follow)
        self._buttons = QHBoxLayout()
        for button in (self._undo, self._redo, self._backup):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(body, 1)
        layout.addLayout(self._buttons)
        self._list.selectionModel().selectionChanged.connect(self._follow)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self.show_history(History())

    def show_history(self, history: History) -> None:
        """Show what the store says of the open task."""
        self._model.set_entries(history.entries)
        self._stack.setCurrentWidget(self._list if history.entries else self._empty)
        self._follow()

    @property
    def count(self) -> int:
        """How many changes are listed."""
        return self._model.rowCount()

    def _chosen(self) -> Entry | None:
        index = self._list.currentIndex()
        entry = index.data(HistoryRole.ENTRY) if index.isValid() else self._model.index(0).data(HistoryRole.ENTRY)
        return entry if isinstance(entry, Entry) else None

    def _follow(self, *_news: object) -> None:
        for button, name in ((self._undo, "edit.undo"), (self._redo, "edit.redo")):
            button.setEnabled(self._actions[name].isEnabled())
            button.setToolTip(self._actions[name].toolTip())
        entry = self._chosen()
        folder = entry.backup_dir if entry is not None else None
        self._backup.setEnabled(folder is not None)
        self._backup.setToolTip(str(folder) if folder is not None else "No backup is kept for this change.")

    def _show_backup(self, _checked: bool = False) -> None:
        entry = self._chosen()
        if entry is not None and entry.backup_dir is not None:
            self.folder_wanted.emit(Path(entry.backup_dir))

    def _restyle(self) -> None:
        look = theme.current()
        self._buttons.setContentsMargins(look.px(8), look.px(6), look.px(8), look.px(8))
        self._buttons.setSpacing(look.px(6))
        self._list.doItemsLayout()
