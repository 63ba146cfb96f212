"""The pane of tasks: a filter and a tree of agents, hosts and tasks. It follows the session and asks it to open."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QLineEdit,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.models.tasks import TaskFilter, TaskRole, TaskTreeModel
from ctxviewer.views import theme
from ctxviewer.views.empty import EmptyState

Index = QModelIndex | QPersistentModelIndex
FILTER_PAUSE_MS = 120


class TaskDelegate(QStyledItemDelegate):
    """Two lines a task: title, and when and how much; a dot while it runs; a sign when it cannot be opened."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.measure()

    def measure(self) -> None:
        """Take the heights of rows from the theme once: the tree asks again and again, for ten thousand rows."""
        look = theme.current()
        small = QFontMetrics(look.ui_font(size=11))
        title = QFontMetrics(look.ui_font())
        self._group_size = QSize(look.px(80), title.height() + look.px(10))
        self._task_size = QSize(look.px(80), title.height() + small.height() + look.px(12))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 - Qt's signature
        """All tasks are of one height, and so are all groups."""
        return self._group_size if index.data(TaskRole.REF) is None else self._task_size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground by the style, words by us."""
        look = theme.current()
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        rect: QRect = option.rect
        if chosen or (hovered and index.data(TaskRole.REF) is not None):
            painter.fillRect(rect, look.color("accent_ground" if chosen else "hover"))
        if chosen:
            painter.fillRect(QRect(rect.left(), rect.top(), look.px(3), rect.height()), look.color("accent"))
        if index.data(TaskRole.REF) is None:
            self._paint_group(painter, rect, index)
        else:
            self._paint_task(painter, rect, index)
        if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
            painter.setPen(QPen(look.color("accent"), 1))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _paint_group(self, painter: QPainter, rect: QRect, index: Index) -> None:
        look = theme.current()
        pad = look.px(8)
        side = look.px(14)
        view = self.parent()
        expanded = isinstance(view, QTreeView) and isinstance(index, QModelIndex) and view.isExpanded(index)
        icon = look.icon("expand" if expanded else "collapse")
        icon.paint(painter, QRect(rect.left() + pad - 2, rect.center().y() - side // 2 + 1, side, side))
        left = rect.left() + pad + side + look.px(2)
        small = look.ui_font(size=11)
        count = str(index.data(TaskRole.DETAIL) or "")
        width = QFontMetrics(small).horizontalAdvance(count)
        painter.setFont(look.ui_font(bold=True, size=12))
        painter.setPen(look.color("muted"))
        room = rect.right() - pad - width - look.px(8) - left
        title = painter.fontMetrics().elidedText(str(index.data() or ""), Qt.TextElideMode.ElideRight, max(0, room))
        painter.drawText(QRect(left, rect.top(), max(0, room), rect.height()), Qt.AlignmentFlag.AlignVCenter, title)
        painter.setFont(small)
        painter.setPen(look.color("faint"))
        painter.drawText(
            rect.adjusted(0, 0, -pad, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, count
        )

    def _paint_task(self, painter: QPainter, rect: QRect, index: Index) -> None:
        look = theme.current()
        problem = str(index.data(TaskRole.PROBLEM) or "")
        left, right = rect.left() + look.px(24), rect.right() - look.px(8)
        side = look.px(14)
        title_font, small = look.ui_font(), look.ui_font(size=11)
        metrics, small_metrics = QFontMetrics(title_font), QFontMetrics(small)
        top = rect.top() + look.px(5)
        for shown, name, color in (
            (bool(problem), "warning", "warning"),
            (bool(index.data(TaskRole.LIVE)), "live", "accent"),
            (bool(index.data(TaskRole.FAVOURITE)), "star", "muted"),
        ):
            if shown:
                size = look.px(8) if name == "live" else side
                box = QRect(right - side + (side - size) // 2, top + (metrics.height() - size) // 2, size, size)
                look.icon(name, color).paint(painter, box)
                right -= side + look.px(4)
        painter.setFont(title_font)
        painter.setPen(look.color("muted" if problem else "text"))
        title = metrics.elidedText(str(index.data() or ""), Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QPoint(left, top + metrics.ascent()), title)
        painter.setFont(small)
        painter.setPen(look.color("warning" if problem else "muted"))
        detail = problem or str(index.data(TaskRole.DETAIL) or "")
        room = rect.right() - look.px(8) - left
        second = small_metrics.elidedText(detail, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.height() + look.px(2) + small_metrics.ascent()), second)


class TaskTree(QTreeView):
    """The tree. Enter opens the task that has the cursor; a click opens at once."""

    chosen = Signal(object)  # QModelIndex

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Tasks")
        self.setHeaderHidden(True)
        self.setIndentation(0)
        self.setRootIsDecorated(False)
        self.setExpandsOnDoubleClick(False)
        self.setVerticalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self._delegate = TaskDelegate(self)
        self.setItemDelegate(self._delegate)
        self.clicked.connect(self._click)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space choose; Left and Right close and open groups."""
        index = self.currentIndex()
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space} and index.isValid():
            self._click(index)
            event.accept()
        elif event.key() == Qt.Key.Key_Left and index.parent().isValid():
            self.setCurrentIndex(index.parent())
            event.accept()
        else:
            super().keyPressEvent(event)

    def restyle(self) -> None:
        """The theme has changed: every row is measured and painted anew."""
        self._delegate.measure()
        self.doItemsLayout()
        self.viewport().update()

    def _click(self, index: QModelIndex) -> None:
        if index.data(TaskRole.REF) is None:
            self.setExpanded(index, not self.isExpanded(index))
        else:
            self.chosen.emit(index)


class TaskList(QWidget):
    """Filter, tree, and what to do when there is no task."""

    task_chosen = Signal(object)  # TaskRef
    open_wanted = Signal()

    def __init__(self, model: TaskTreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self._model = model
        self._proxy = TaskFilter(self)
        self._proxy.setSourceModel(model)
        self._open = ""
        self._closed_groups: set[str] = set()
        self._filter = QLineEdit(self)
        self._filter.setPlaceholderText("Filter tasks…")
        self._filter.setAccessibleName("Filter tasks")
        self._filter.setToolTip("Show only tasks whose title, id or folder has all these words (Ctrl+L)")
        self._filter.setClearButtonEnabled(True)
        self._filter.installEventFilter(self)
        self._tree = TaskTree(self)
        self._tree.setModel(self._proxy)
        self._empty = EmptyState(parent=self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(FILTER_PAUSE_MS)
        self._searching = False
        body = QWidget(self)
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._tree)
        self._stack.addWidget(self._empty)
        self._layout = QVBoxLayout(self)
        self._layout.setSpacing(0)
        self._layout.addWidget(self._filter)
        self._layout.addWidget(body, 1)
        self.setFocusProxy(self._tree)
        self._filter.textChanged.connect(self._pause_filter)
        self._pause.timeout.connect(self._apply_filter)
        self._tree.chosen.connect(self._choose)
        self._tree.collapsed.connect(self._note_collapsed)
        self._tree.expanded.connect(self._note_expanded)
        self._empty.activated.connect(self._empty_action)
        for signal in (model.rowsInserted, model.rowsRemoved, model.modelReset, model.layoutChanged):
            signal.connect(self._settle)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self._settle()

    @property
    def tree(self) -> QTreeView:
        """The tree itself."""
        return self._tree

    @property
    def filter_field(self) -> QLineEdit:
        """The field above the tree."""
        return self._filter

    @property
    def visible_titles(self) -> tuple[str, ...]:
        """Titles of the tasks that pass the filter, in order."""
        found: list[str] = []
        for row in range(self._proxy.rowCount()):
            group = self._proxy.index(row, 0)
            found += [str(self._proxy.index(i, 0, group).data()) for i in range(self._proxy.rowCount(group))]
        return tuple(found)

    def show_open(self, task: TaskRef | None) -> None:
        """Mark the task that is open, without opening it."""
        self._open = str(task.directory) if task is not None else ""
        self._mark_open(scroll=True)

    def set_searching(self, searching: bool) -> None:
        """Say that tasks are being looked for while there is none."""
        self._searching = searching
        self._settle()

    def focus_filter(self) -> None:
        """Put the cursor into the filter, ready to be typed over."""
        self._filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._filter.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the filter: Down goes to the tree, Enter opens the first task, Esc empties it."""
        if watched is self._filter and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Down:
                self._apply_filter()
                self._tree.setFocus(Qt.FocusReason.TabFocusReason)
                self._select_first()
                return True
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                self._apply_filter()
                first = self._select_first()
                if first.isValid():
                    self._choose(first)
                return True
            if event.key() == Qt.Key.Key_Escape and self._filter.text():
                self._filter.clear()
                return True
        return super().eventFilter(watched, event)

    def _select_first(self) -> QModelIndex:
        first = self._proxy.index(0, 0, self._proxy.index(0, 0))
        if first.isValid() and not self._tree.currentIndex().parent().isValid():
            self._tree.setCurrentIndex(first)
        return first

    def _pause_filter(self, _text: str) -> None:
        self._pause.start()

    def _apply_filter(self) -> None:
        self._pause.stop()
        self._proxy.set_filter(self._filter.text())
        self._settle()

    def _choose(self, index: QModelIndex) -> None:
        ref = index.data(TaskRole.REF)
        if isinstance(ref, TaskRef):
            self.task_chosen.emit(ref)

    def _note_collapsed(self, index: QModelIndex) -> None:
        self._closed_groups.add(str(index.data()))

    def _note_expanded(self, index: QModelIndex) -> None:
        self._closed_groups.discard(str(index.data()))

    def _settle(self, *_news: object) -> None:
        for row in range(self._proxy.rowCount()):
            group = self._proxy.index(row, 0)
            wanted = bool(self._filter.text()) or str(group.data()) not in self._closed_groups
            if self._tree.isExpanded(group) != wanted:
                self._tree.blockSignals(True)
                self._tree.setExpanded(group, wanted)
                self._tree.blockSignals(False)
        nothing = self._proxy.rowCount() == 0
        if nothing and self._filter.text() and self._model.rowCount():
            self._empty.set_words("No task has these words.", "Clear the filter", "filter")
        elif nothing and self._searching:
            self._empty.set_words("Looking for tasks…", icon="find")
        elif nothing:
            self._empty.set_words("No tasks were found in the usual places.", "Open a folder…", "open")
        self._stack.setCurrentWidget(self._empty if nothing else self._tree)
        self._mark_open(scroll=False)

    def _mark_open(self, *, scroll: bool) -> None:
        index = self._proxy.mapFromSource(self._model.index_of(self._open)) if self._open else QModelIndex()
        selection = self._tree.selectionModel()
        if not index.isValid():
            selection.clearSelection()
            return
        if not selection.isSelected(index):
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            selection.select(index, flags)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        if scroll:
            self._tree.scrollTo(index)

    def _empty_action(self) -> None:
        if self._filter.text():
            self._filter.clear()
            self._apply_filter()
        else:
            self.open_wanted.emit()

    def _restyle(self) -> None:
        pad = theme.current().px(8)
        self._filter.setContentsMargins(pad, pad, pad, pad)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._tree.restyle()
