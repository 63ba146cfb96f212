"""A conversation view of a picture, and what stands in its viewport, for tests."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from ctxviewer.models.conversation import ConversationModel
from ctxviewer.views.conversation import ConversationView
from ctxviewer.views.conversation.headers import plan_header
from ctxviewer.views.conversation.rows import LEAD, Kind
from helpers.talk import talk


class Bench:
    """A shown view with its model and talk."""

    def __init__(self, qtbot, made, *, width=700, height=400):
        self.talk = made
        self.model = ConversationModel()
        self.model.set_timeline(made)
        self.model.set_projection(made.shown)
        self.view = ConversationView()
        qtbot.addWidget(self.view)
        self.view.resize(width, height)
        self.view.set_model(self.model)
        self.view.show()
        self.paint()

    @property
    def sheet(self):
        return self.view.sheet

    def paint(self):
        self.view.viewport().repaint()

    def show(self, projection):
        self.model.set_projection(projection)
        self.paint()

    def items(self):
        """Items that begin in the viewport: 5 for a row, '5-' for the line above it."""
        return [f"{p.row}-" if p.element == LEAD else p.row for p in self.sheet.placed if p.element in {LEAD, 0}]

    def key(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.keyClick(self.view, key, modifier)
        self.paint()

    def point(self, row, kind=Kind.HEADER, x=None, dy=None, nth=0):
        """The middle of an element of a row that is in the viewport."""
        found = []
        for placed in self.sheet.placed:
            if placed.row == row:
                at = LEAD if placed.element == LEAD else self.sheet.row_layout(row).elements[placed.element].kind
                if at == (LEAD if kind == LEAD else kind):
                    found.append(placed)
        placed = found[nth]
        y = placed.y + (placed.height // 2 if dy is None else dy)
        return QPoint(self.sheet.metrics.text_x + 30 if x is None else x, y)

    def label_point(self, row):
        plan = plan_header(self.model.facts(row), self.sheet.metrics)
        place = plan.label or plan.repaired
        return self.point(row, x=place[0] + place[1] // 2)

    def click(self, point, modifier=Qt.KeyboardModifier.NoModifier):
        QTest.mouseClick(self.view.viewport(), Qt.MouseButton.LeftButton, modifier, point)
        self.paint()


def bench(qtbot, picture, *, width=700, height=400, **options):
    """A view of a picture."""
    return Bench(qtbot, talk(picture, **options), width=width, height=height)


def check_layout(sheet):
    """What stands in the viewport hangs together and agrees with the geometry."""
    placed = sheet.placed
    assert placed, "something must be shown"
    for one, other in pairwise(placed):
        assert one.end == other.y
        assert sheet.after(one.row, one.element) == (other.row, other.element)
        assert sheet.before(other.row, other.element) == (one.row, one.element)
    assert placed[0].y <= 0 < placed[0].end
    first = (placed[0].row, placed[0].element)
    if placed[0].y == 0 and sheet.before(*first) is None:
        assert sheet.scroll == 0
    if placed[-1].end < sheet.height:
        assert sheet.after(placed[-1].row, placed[-1].element) is None
        assert placed[0].y == 0, "a gap below is only allowed when there is not enough to show"
        assert sheet.before(*first) is None
    assert placed[-1].y < sheet.height
    for row, _, _ in sheet.rows_in_view():
        assert sheet.geometry.height(row) == sheet.row_layout(row).height
    for p in placed:
        if p.element == LEAD:
            assert sheet.geometry.has_lead(p.row)
        else:
            assert not sheet.geometry.is_folded(p.row)
    assert sheet.scroll == sheet.geometry.top(placed[0].row) - placed[0].y + (
        0
        if placed[0].element == LEAD
        else sheet.geometry.lead(placed[0].row) + int(sheet.row_layout(placed[0].row).tops[placed[0].element])
    )
    assert 0 <= sheet.scroll <= max(0, sheet.total - sheet.height)
