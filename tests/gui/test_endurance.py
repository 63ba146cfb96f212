"""The window survives long use: the binding loses no references, and twenty thousand paints change nothing.

Some versions of PySide6 lose a reference to None (or True) with most calls below Python 3.12; the process then aborts
after some thousand calls. Short tests stay green with them, these do not.
"""

import gc
import sys

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QWidget

from ctxviewer import resources
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.conversation import ConversationModel
from ctxviewer.sources import registry
from ctxviewer.views.conversation import ConversationView

SINGLETONS = (None, True, False)
CALLS, NOISE = 200, 20


def counts() -> list[int]:
    """References to the singletons. From 3.12 on they are immortal: what is counted then means nothing."""
    gc.collect()
    return [sys.getrefcount(value) if sys.version_info < (3, 12) else 0 for value in SINGLETONS]


def lost_by(work) -> list[int]:
    """References lost (positive) or gained by 200 calls, after a first one."""
    work()
    before = counts()
    for _ in range(CALLS):
        work()
    return [old - new for old, new in zip(before, counts(), strict=True)]


class Emitter(QObject):
    told = Signal(object)


def test_calls_that_return_nothing_lose_no_reference(qapp):
    widget = QWidget()
    for work in (widget.update, lambda: widget.resize(40, 40), lambda: widget.setToolTip("x"), qapp.processEvents):
        assert max(map(abs, lost_by(work))) <= NOISE, work


def test_emitting_loses_no_reference(qapp):
    emitter = Emitter()
    for value in SINGLETONS:
        assert max(map(abs, lost_by(lambda value=value: emitter.told.emit(value)))) <= NOISE, value


def test_painting_objects_lose_no_reference(qapp):
    pen = QPen()
    assert max(map(abs, lost_by(lambda: pen.setWidthF(1.5)))) <= NOISE


def test_twenty_thousand_paints(qtbot):
    (ref,) = registry.open_path(resources.path("samples", "tasks", "1770537600000"))
    timeline = Timeline(registry.read(ref))
    model, view = ConversationModel(), ConversationView()
    qtbot.addWidget(view)
    view.resize(300, 90)
    view.set_model(model)
    model.set_timeline(timeline)
    model.set_projection(timeline.projection(None))
    view.show()
    bar, requests = view.verticalScrollBar(), len(timeline.requests)
    assert bar.maximum() > 1_000
    for step in range(300):
        bar.setValue(step * 37 % bar.maximum())
        view.viewport().repaint()
    before = counts()
    for step in range(20_000):
        if step % 100 == 0:
            model.set_projection(timeline.projection(step // 100 % requests))
        bar.setValue(step * 37 % max(1, bar.maximum()))
        view.viewport().repaint()
    lost = [old - new for old, new in zip(before, counts(), strict=True)]
    assert max(lost) < 500, "a binding that loses references has lost thousands by now"
    assert view.isVisible()
