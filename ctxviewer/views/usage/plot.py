"""The plot itself: pyqtgraph's view box and axes with our layers in it. Importing this module imports pyqtgraph.

pyqtgraph's own curves are not used: they cost seconds at 100,000 requests, and clipping them to the view raises
AttributeError in 0.14 on PySide6. Axes are filled by us, so that they count requests.
"""

from __future__ import annotations

import pyqtgraph
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import QGridLayout, QToolTip, QWidget

from ctxviewer.models.curves import curve_sentences
from ctxviewer.models.usage import request_sentence
from ctxviewer.views import theme
from ctxviewer.views.usage.curves import CurvesLayer
from ctxviewer.views.usage.gutter import Gutter
from ctxviewer.views.usage.items import BarsLayer, OverlayLayer
from ctxviewer.views.usage.lanes import Lanes
from ctxviewer.views.usage.scale import Span, ceiling, request_ticks, slots, token_ticks
from ctxviewer.views.usage.state import Picture
from ctxviewer.views.usage.strips import Strips

CLOSEST = 4.0
"""Fewest requests that fill the view."""
ZOOM_STEP = 1.5


class PlotArea(QWidget):
    """Lanes, bars and gutter with one horizontal scale. Owns which requests are visible."""

    request_clicked = Signal(object)
    """int: number of the request."""
    hovered = Signal(object)
    """int or None: the request under the mouse."""

    def __init__(self, picture: Picture, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture = picture
        self._lanes = Lanes(picture, self)
        self._strips = Strips(picture, self)
        self._gutter = Gutter(picture, self)
        self._view = pyqtgraph.GraphicsView(self)
        self._view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._plot = pyqtgraph.PlotItem(enableMenu=False)
        self._plot.hideButtons()
        self._box = self._plot.getViewBox()
        self._box.setMouseEnabled(x=True, y=False)
        self._box.setDefaultPadding(0)
        self._box.disableAutoRange()
        self._view.setCentralItem(self._plot)
        self._bars = BarsLayer(picture)
        self._overlay = OverlayLayer(picture)
        self._overlay.setZValue(10)
        self._curves = CurvesLayer(picture)
        self._curves.setZValue(5)
        self._box.addItem(self._bars, ignoreBounds=True)
        self._box.addItem(self._curves, ignoreBounds=True)
        self._box.addItem(self._overlay, ignoreBounds=True)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._lanes, 0, 0, 1, 2)
        layout.addWidget(self._strips, 1, 0, 1, 2)
        layout.addWidget(self._view, 2, 0)
        layout.addWidget(self._gutter, 2, 1)
        layout.setRowStretch(2, 1)
        layout.setColumnStretch(0, 1)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.timeout.connect(self._align)
        self._view.viewport().installEventFilter(self)
        self._box.sigXRangeChanged.connect(self._span_moved)
        self._box.sigResized.connect(self._box_resized)
        self._view.scene().sigMouseClicked.connect(self._clicked)
        self._mouse = pyqtgraph.SignalProxy(self._view.scene().sigMouseMoved, rateLimit=60, slot=self._mouse_moved)
        self._lanes.position_clicked.connect(self._mark_clicked)
        self._strips.position_clicked.connect(self._strip_clicked)
        self._end = slots(0)
        self.restyle()
        self.fit()

    # -- what is visible

    def span(self) -> Span:
        """Visible requests, and pixels of this widget."""
        (first, last), _ = self._box.viewRange()
        rect = self._box.sceneBoundingRect()
        return Span(first, last, self._view.x() + rect.left(), rect.width())

    @property
    def is_fitted(self) -> bool:
        """True when everything is visible."""
        first, last = self._box.viewRange()[0]
        return bool(first <= 0.001 and last >= self._end - 0.001)

    def fit(self) -> None:
        """Show all requests."""
        self._show(0.0, self._end)

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Show `factor` times as many requests. `around` (a position) stays in place, else the chosen or middle one."""
        first, last = self._box.viewRange()[0]
        if around is None:
            chosen = self._picture.selected
            around = chosen + 0.5 if chosen is not None and first <= chosen + 0.5 <= last else (first + last) / 2
        width = min(max((last - first) * factor, CLOSEST), self._end)
        share = (around - first) / (last - first)
        self._show(around - share * width, around + (1 - share) * width)

    def pan(self, share: float) -> None:
        """Move by a share of what is visible; positive to later requests."""
        first, last = self._box.viewRange()[0]
        by = (last - first) * share
        self._show(first + by, last + by)

    def reveal(self, number: int) -> None:
        """Move as little as needed to see request `number`."""
        first, last = self._box.viewRange()[0]
        margin = min(1.0, (last - first) / 4)
        if number < first:
            self._show(number - margin, number - margin + (last - first))
        elif number + 1 > last:
            self._show(number + 1 + margin - (last - first), number + 1 + margin)

    def _show(self, first: float, last: float) -> None:
        width = min(last - first, self._end)
        first = min(max(first, 0.0), self._end - width)
        self._box.setXRange(first, first + width, padding=0)

    # -- what is shown

    def data_changed(self, *, keep_view: bool) -> None:
        """The picture's requests, lines or marks are others. `keep_view`: it is the same task, grown."""
        first, last = self._box.viewRange()[0]
        at_end = last >= self._end - 0.001
        fitted = self.is_fitted or not keep_view
        self._end, self._picture.top = self._extent()
        self._box.setLimits(xMin=0.0, xMax=self._end, minXRange=min(CLOSEST, self._end), maxXRange=self._end)
        self._box.setYRange(0.0, self._picture.top, padding=0)
        if fitted:
            self.fit()
        elif at_end:
            self._show(self._end - (last - first), self._end)
        self._ticks()
        self._gutter.refresh()
        self._lanes.update()
        for layer in (self._bars, self._curves, self._overlay):
            layer.set_extent(self._end, self._picture.top)
            layer.update()

    def what_if_changed(self) -> None:
        """Another what-if, or another estimate: often its line alone."""
        if self._extent() == (self._end, self._picture.top):
            self._overlay.update()
            self._gutter.refresh()
        else:
            self.data_changed(keep_view=True)

    def _extent(self) -> tuple[float, float]:
        """How many requests and tokens there is room for."""
        return slots(self._picture.end), ceiling(self._peak(), self._picture.window)

    def _peak(self) -> float:
        what_if = self._picture.what_if
        estimated = what_if.tokens if what_if is not None and what_if.tokens is not None else 0.0
        return max(self._picture.stacks.peak, estimated, *(curve.peak for curve in self._picture.curves))

    def selection_changed(self) -> None:
        """Another request is chosen: repaint the overlay alone."""
        self._overlay.update()
        self._lanes.update()
        self._strips.update()

    def strips_changed(self) -> None:
        """Other facts are pinned."""
        self._strips.refresh()
        self._settle.start(0)

    @property
    def strips(self) -> Strips:
        """The lanes of the pinned facts."""
        return self._strips

    # -- keeping parts in step

    def _span_moved(self, *_args: object) -> None:
        self._align()
        self._ticks()

    def _box_resized(self, *_args: object) -> None:
        self._align()
        self._ticks()

    def _align(self) -> None:
        rect = self._box.sceneBoundingRect()
        self._lanes.set_span(self.span())
        self._strips.set_span(self.span())
        self._gutter.set_box(rect.top(), rect.bottom())

    def _ticks(self) -> None:
        look, rect = theme.current(), self._box.sceneBoundingRect()
        count = len(self._picture.stacks)
        apart = self.fontMetrics().horizontalAdvance(f"{count:,}") + look.px(18)
        self._plot.getAxis("bottom").setTicks([request_ticks(self.span(), count, apart)])
        self._plot.getAxis("left").setTicks([token_ticks(self._picture.top, rect.height(), look.px(26))])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle.start(0)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._settle.start(0)

    def restyle(self) -> None:
        """Take colours and fonts from the theme."""
        look = theme.current()
        self._view.setBackground(look.color("surface"))
        font = look.ui_font(size=11)
        for name in ("left", "bottom"):
            axis = self._plot.getAxis(name)
            axis.setPen(look.color("line"))
            axis.setTextPen(look.color("muted"))
            axis.setStyle(tickFont=font, tickLength=0, tickTextOffset=look.px(4), hideOverlappingLabels=False)
        self._plot.getAxis("left").setWidth(self.fontMetrics().horizontalAdvance("0,000k") + look.px(4))
        self._plot.getAxis("bottom").setHeight(look.px(18))
        self._lanes.restyle()
        self._strips.restyle()
        self._gutter.restyle()
        self._gutter.refresh()
        self._bars.forget()
        self._curves.forget()
        self._ticks()
        self._view.viewport().update()

    # -- mouse

    def number_at(self, scene_point: QPointF) -> int | None:
        """The request at a point of the scene, None beside them."""
        if not self._box.sceneBoundingRect().contains(scene_point):
            return None
        number = int(self._box.mapSceneToView(scene_point).x() // 1)
        return number if 0 <= number < len(self._picture.stacks) else None

    def _clicked(self, event: object) -> None:
        button, point = event.button(), event.scenePos()  # type: ignore[attr-defined]
        number = self.number_at(point)
        if button == Qt.MouseButton.LeftButton and number is not None:
            self.request_clicked.emit(number)

    def _mark_clicked(self, position: float) -> None:
        number = min(max(0, int(position - 0.5)), len(self._picture.stacks) - 1)
        if number >= 0:
            self.request_clicked.emit(number)

    def _strip_clicked(self, position: float) -> None:
        number = min(int(position), len(self._picture.stacks) - 1)
        if number >= 0:
            self.request_clicked.emit(number)

    def _mouse_moved(self, arguments: tuple[QPointF, ...]) -> None:
        self._hover(self.number_at(arguments[0]), arguments[0])

    def _hover(self, number: int | None, point: QPointF) -> None:
        if number != self._picture.hovered:
            self._picture.hovered = number
            self._overlay.update()
            self.hovered.emit(number)
        if number is None:
            QToolTip.hideText()
            return
        lines = request_sentence(self._picture.stacks, number, self._picture.window)
        words = "\n".join((*lines, *curve_sentences(self._picture.curves, number)))
        where = self._view.viewport().mapToGlobal(point.toPoint() + QPoint(12, 12))
        QToolTip.showText(where, words, self._view.viewport())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Leave:
            self._hover(None, QPointF())
        elif isinstance(event, QWheelEvent):
            self._box.updateMatrix()  # pyqtgraph zooms by the matrix of the last painting, which may be older
            delta = event.angleDelta()
            sideways = delta.x() if abs(delta.x()) > abs(delta.y()) else 0
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not sideways:
                sideways = delta.y()
            if sideways:
                self.pan(-sideways / 1200)
                return True
        return super().eventFilter(watched, event)

    def release(self) -> None:
        """Let go of pyqtgraph's scene. Called by the owner while everything is alive."""
        self._view.viewport().removeEventFilter(self)
        self._mouse.disconnect()
        self._view.close()
