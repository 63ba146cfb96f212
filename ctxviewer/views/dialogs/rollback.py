"""Asks for the point to roll back to. Choosing one only leads to the preview."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.models.points import PointRole, PointsModel
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import plain_label
from ctxviewer.views.empty import EmptyState

Index = QModelIndex | QPersistentModelIndex


class PointDelegate(QStyledItemDelegate):
    """Title, and time and request below it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 - Qt's signature
        """All rows are of one height."""
        look = theme.current()
        title, small = QFontMetrics(look.ui_font()), QFontMetrics(look.ui_font(size=11))
        return QSize(look.px(80), title.height() + small.height() + look.px(12))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Two lines."""
        look = theme.current()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, look.color("accent_ground"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, look.color("hover"))
        left, room = option.rect.left() + look.px(10), option.rect.width() - look.px(20)
        top = option.rect.top() + look.px(5)
        metrics, small = QFontMetrics(look.ui_font()), look.ui_font(size=11)
        painter.setFont(look.ui_font())
        painter.setPen(look.color("text"))
        title = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.ascent()), title)
        painter.setFont(small)
        painter.setPen(look.color("muted"))
        detail = QFontMetrics(small).elidedText(str(index.data(PointRole.DETAIL)), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QPoint(left, top + metrics.height() + look.px(2) + QFontMetrics(small).ascent()), detail)
        painter.restore()


class RollbackDialog(QDialog):
    """A filter, the points newest first, and *Preview*."""

    chosen = Signal(object)  # Checkpoint

    def __init__(self, points: Sequence[Checkpoint], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        look = theme.current()
        self.setWindowTitle("Roll back")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._model = PointsModel(_now_ms, self)
        self._filter = QLineEdit(self)
        self._filter.setPlaceholderText("Filter…")
        self._filter.setAccessibleName("Filter the points")
        self._filter.setToolTip("Show only points whose title or time has all these words")
        self._filter.setClearButtonEnabled(True)
        self._filter.installEventFilter(self)
        self._all = QCheckBox("Other entries too", self)
        self._all.setToolTip("Also show entries of the timeline that are no checkpoints")
        self._all.setChecked(not any(point.kind is not CheckpointKind.MESSAGE for point in points))
        self._list = QListView(self)
        self._list.setAccessibleName("Points to roll back to")
        self._list.setModel(self._model)
        self._list.setItemDelegate(PointDelegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.doubleClicked.connect(self._accept_index)
        self._empty = EmptyState("No point has these words.", icon="checkpoint", parent=self)
        body = QWidget(self)
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._empty)
        box = QDialogButtonBox(self)
        self._preview = QPushButton("Preview…", self)
        self._preview.setProperty("look", "primary")
        self._preview.setDefault(True)
        cancel = QPushButton("Cancel", self)
        box.addButton(self._preview, QDialogButtonBox.ButtonRole.AcceptRole)
        box.addButton(cancel, QDialogButtonBox.ButtonRole.RejectRole)
        box.accepted.connect(self._accept_current)
        box.rejected.connect(self.reject)
        top = QHBoxLayout()
        top.addWidget(self._filter, 1)
        top.addWidget(self._all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(16), look.px(14), look.px(16), look.px(12))
        layout.setSpacing(look.px(8))
        layout.addWidget(
            plain_label("Everything after the chosen point goes. The next step shows what exactly.", "muted")
        )
        layout.addLayout(top)
        layout.addWidget(body, 1)
        layout.addWidget(box)
        self.resize(look.px(560), look.px(520))
        self._filter.textChanged.connect(self._refilter)
        self._all.toggled.connect(self._refilter)
        self._list.selectionModel().selectionChanged.connect(self._settle)
        self._model.set_points(points)
        self._refilter()
        self._list.setFocus()

    def choose(self, row: int) -> None:
        """Choose a row of those that pass the filter, as a double click does."""
        self._accept_index(self._model.index(row))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down in the filter goes to the list."""
        pressed = watched is self._filter and event.type() == QEvent.Type.KeyPress
        if pressed and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Down:
            self._list.setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return super().eventFilter(watched, event)

    def _refilter(self, *_news: object) -> None:
        self._model.set_filter(self._filter.text(), only_checkpoints=not self._all.isChecked())
        has_rows = self._model.rowCount() > 0
        self._stack.setCurrentWidget(self._list if has_rows else self._empty)
        if has_rows:
            self._list.setCurrentIndex(self._model.index(0))
        self._settle()

    def _settle(self, *_news: object) -> None:
        chosen = self._list.currentIndex().isValid() and self._model.rowCount() > 0
        self._preview.setEnabled(chosen)
        self._preview.setToolTip("Show what would change" if chosen else "Choose a point first.")

    def _accept_current(self) -> None:
        self._accept_index(self._list.currentIndex())

    def _accept_index(self, index: QModelIndex) -> None:
        point = index.data(PointRole.CHECKPOINT)
        if isinstance(point, Checkpoint):
            self.accept()
            self.chosen.emit(point)


def _now_ms() -> int:
    return int(time.time() * 1000)
