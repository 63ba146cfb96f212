"""Painting of the header of a row and of the line above a stretch; where in them one can click."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from ctxviewer.domain.projection import Standing
from ctxviewer.models.facts import RowFacts, Speaker
from ctxviewer.models.stretches import Stretch, StretchKind
from ctxviewer.views.conversation.brush import Brush
from ctxviewer.views.conversation.metrics import Metrics
from ctxviewer.views.fact_look import paint_chip

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_CHIPS = {
    Speaker.USER: ("role_user", "user", "user"),
    Speaker.ASSISTANT: ("role_assistant", "assistant", "assistant"),
    Speaker.TOOL: ("role_tool", "tool", "tool"),
    Speaker.OTHER: ("hover", "json", ""),
}


THIS_STEP = "this step"
_LETTER = 16
"""Side of the letter of a pinned fact, at scale 1."""


class Part(Enum):
    """What of a header lies under a point."""

    REST = auto()
    LABEL = auto()
    TOKENS = auto()
    TRACKED = auto()
    NUMBER = auto()


@dataclass(frozen=True, slots=True)
class HeaderPlan:
    """Where the parts of a header go, from its left edge."""

    label: tuple[int, int] | None
    """(x, width) of the label that names the rule."""
    repaired: tuple[int, int] | None
    left_out: tuple[int, int] | None
    """What a strategy leaves out."""
    touched: tuple[int, int] | None
    """The mark of the step that is looked at."""
    tracked: tuple[int, int] | None
    """The letters of pinned facts."""
    tokens: tuple[int, int]
    rest_x: int
    """Where the preview of a closed row starts."""


def plan_header(facts: RowFacts, metrics: Metrics) -> HeaderPlan:
    """Lay the parts of a header out: labels shrink before the number of tokens does."""
    px = metrics.theme.px
    width = metrics.ui.horizontalAdvance(facts.tokens_text) if facts.tokens_text else 0
    tokens_x = metrics.width - metrics.margin - width
    x, room = metrics.label_x, tokens_x - px(12)
    label = repaired = left_out = touched = tracked = None
    if facts.tracked:
        wide = len(facts.tracked) * px(_LETTER + 3)
        tracked = (max(x, room - wide), wide)
        room = tracked[0] - px(8)
    if facts.touched and room - x > px(24):
        touched = (x, min(touched_width(metrics), room - x))
        x += touched[1] + px(8)
    if facts.label and room - x > px(24):
        wanted = metrics.stripe + 2 * px(6) + metrics.ui.horizontalAdvance(label_words(facts))
        label = (x, min(wanted, room - x))
        x += label[1] + px(8)
    if facts.left_out and room - x > px(40):
        wanted = px(14) + 3 * px(6) + metrics.ui.horizontalAdvance(facts.left_out)
        left_out = (x, min(wanted, room - x))
        x += left_out[1] + px(8)
    if facts.repaired and room - x > px(40):
        wanted = px(14) + 3 * px(6) + metrics.ui.horizontalAdvance(repaired_words(facts))
        repaired = (x, min(wanted, room - x))
        x += repaired[1] + px(8)
    return HeaderPlan(label, repaired, left_out, touched, tracked, (tokens_x, width), x)


def touched_width(metrics: Metrics) -> int:
    """Pixels of the mark of a step."""
    px = metrics.theme.px
    return px(14) + 3 * px(6) + metrics.ui.horizontalAdvance(THIS_STEP)


def label_words(facts: RowFacts) -> str:
    """What the label says: the rule, and the text that is shown if it is not the one that was sent."""
    return f"{facts.label} · {facts.mode_note}" if facts.mode_note else facts.label


def repaired_words(facts: RowFacts) -> str:
    """The repair; it carries the mode when there is no label to do so."""
    return f"{facts.repaired} · {facts.mode_note}" if facts.mode_note and not facts.label else facts.repaired


def part_at(facts: RowFacts, metrics: Metrics, x: int) -> Part:
    """The part of a header at `x`."""
    plan = plan_header(facts, metrics)
    for place in (plan.label, plan.repaired):
        if place is not None and place[0] <= x < place[0] + place[1]:
            return Part.LABEL
    if plan.tracked is not None and plan.tracked[0] <= x < plan.tracked[0] + plan.tracked[1]:
        return Part.TRACKED
    if plan.tokens[1] and x >= plan.tokens[0] - metrics.theme.px(6):
        return Part.TOKENS
    return Part.NUMBER if x < metrics.chip_x else Part.REST


def paint_header(
    painter: QPainter, brush: Brush, metrics: Metrics, facts: RowFacts, y: int, *, closed: bool, hovered: Part | None
) -> None:
    """Number, chip, labels, tokens; for a closed row also its first words."""
    px, height, standing = brush.px, metrics.header, facts.standing
    plan = plan_header(facts, metrics)
    quiet = brush.quiet(standing)
    painter.setFont(metrics.ui_font)
    painter.setPen(quiet)
    painter.drawText(QRect(metrics.margin, y, metrics.number, height), _RIGHT, str(facts.number))
    _paint_chip(painter, brush, metrics, facts, y)
    if plan.label is not None:
        rect = QRect(plan.label[0], y + px(2), plan.label[1], height - px(4))
        _paint_label(painter, brush, metrics, label_words(facts), rect, hovered=hovered is Part.LABEL)
    if plan.repaired is not None:
        rect = QRect(plan.repaired[0], y + px(2), plan.repaired[1], height - px(4))
        hovered_here = hovered is Part.LABEL and plan.label is None
        _paint_repair(painter, brush, metrics, repaired_words(facts), rect, hovered=hovered_here)
    if plan.left_out is not None:
        rect = QRect(plan.left_out[0], y + px(2), plan.left_out[1], height - px(4))
        _paint_left_out(painter, brush, metrics, facts.left_out, rect)
    if plan.touched is not None:
        paint_touched(painter, brush, metrics, (plan.touched[0], y), plan.touched[1])
    if plan.tracked is not None:
        side = px(_LETTER)
        for place, mark in enumerate(facts.tracked):
            rect = QRect(plan.tracked[0] + place * px(_LETTER + 3), y + (height - side) // 2, side, side)
            paint_chip(painter, rect, mark.place, hollow=not mark.carried)
    if facts.tokens_text:
        painter.setFont(metrics.ui_font)
        painter.setPen(quiet)
        painter.drawText(QRect(plan.tokens[0], y, plan.tokens[1], height), _LEFT, facts.tokens_text)
    end = plan.tracked[0] if plan.tracked is not None else plan.tokens[0]
    room = end - px(12) - plan.rest_x
    if closed and room > px(24):
        painter.setFont(metrics.ui_font)
        painter.setPen(brush.text(standing))
        words = brush.short(facts.preview, metrics.ui, room, metrics.ui_font)
        painter.drawText(QRect(plan.rest_x, y, room, height), _LEFT, words)


def _paint_chip(painter: QPainter, brush: Brush, metrics: Metrics, facts: RowFacts, y: int) -> None:
    """Who speaks: icon and word on a ground of their own, without it when the message is not sent."""
    word = _CHIPS[facts.speaker][2] or facts.role or "no role"
    device = painter.device()
    ratio = device.devicePixelRatio() if device is not None else 1.0
    key = (word, facts.speaker, facts.standing, metrics.chip, ratio)
    size = brush.px(20)
    painter.drawPixmap(
        metrics.chip_x,
        y + (metrics.header - size) // 2,
        brush.pixmap(key, metrics.chip, size, lambda chip: _draw_chip(chip, brush, metrics, facts, word)),
    )


def _draw_chip(painter: QPainter, brush: Brush, metrics: Metrics, facts: RowFacts, word: str) -> None:
    px = brush.px
    ground, icon, _ = _CHIPS[facts.speaker]
    rect = QRect(0, 0, metrics.chip, px(20))
    sent = facts.standing is Standing.SENT
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen if sent else QPen(brush.color("line")))
    painter.setBrush(brush.color(ground) if sent else Qt.BrushStyle.NoBrush)
    if sent:
        painter.drawRoundedRect(rect, px(6), px(6))
    else:
        painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), px(6), px(6))
    color = {Standing.SENT: "text", Standing.NOT_SENT: "hidden_text", Standing.LATER: "later"}[facts.standing]
    brush.icon(painter, icon, color, QRect(px(6), 0, px(14), rect.height()))
    painter.setFont(metrics.ui_font)
    painter.setPen(brush.color(color))
    words = QRect(px(24), 0, rect.width() - px(26), rect.height())
    painter.drawText(words, _LEFT, brush.short(word, metrics.ui, words.width(), metrics.ui_font))


def _paint_label(painter: QPainter, brush: Brush, metrics: Metrics, words: str, rect: QRect, *, hovered: bool) -> None:
    """A stripe and the rule."""
    px = brush.px
    painter.fillRect(rect, brush.color("rewritten_ground"))
    painter.fillRect(QRect(rect.x(), rect.y(), metrics.stripe, rect.height()), brush.color("rewritten"))
    inner = rect.adjusted(metrics.stripe + px(6), 0, -px(2), 0)
    _words(painter, brush, (metrics.ui_font, metrics.ui), brush.color("rewritten"), inner, words, hovered)


def _paint_repair(painter: QPainter, brush: Brush, metrics: Metrics, words: str, rect: QRect, *, hovered: bool) -> None:
    """A chain link and the repair."""
    px = brush.px
    painter.fillRect(rect, brush.color("repaired_ground"))
    brush.icon(painter, "repaired", "repaired", QRect(rect.x() + px(5), rect.y(), px(14), rect.height()))
    inner = rect.adjusted(px(14) + 2 * px(6), 0, -px(2), 0)
    _words(painter, brush, (metrics.ui_font, metrics.ui), brush.color("repaired"), inner, words, hovered)


def _paint_left_out(painter: QPainter, brush: Brush, metrics: Metrics, words: str, rect: QRect) -> None:
    """An eye struck out on hatch, and what is left out."""
    px = brush.px
    brush.hatched(painter, rect, rect.y())
    inner = rect.adjusted(px(14) + px(8), 0, 0, 0)
    painter.fillRect(inner, brush.color("hidden_fill"))
    painter.fillRect(QRect(rect.x(), rect.y(), px(22), rect.height()), brush.color("hidden_fill"))
    brush.icon(painter, "hidden", "event", QRect(rect.x() + px(4), rect.y(), px(14), rect.height()))
    font = (metrics.ui_font, metrics.ui)
    _words(painter, brush, font, brush.color("event"), inner.adjusted(0, 0, -px(2), 0), words, underlined=False)


def paint_touched(painter: QPainter, brush: Brush, metrics: Metrics, place: tuple[int, int], room: int) -> int:
    """The mark of the step that is looked at, at `place` = (x, y); its width, at most `room`."""
    px = brush.px
    width = min(touched_width(metrics), max(0, room))
    rect = QRect(place[0], place[1] + px(2), width, metrics.header - px(4))
    painter.fillRect(rect, brush.color("accent"))
    brush.icon(painter, "step", "on_accent", QRect(rect.x() + px(5), rect.y(), px(14), rect.height()))
    inner = rect.adjusted(px(14) + 2 * px(5), 0, -px(2), 0)
    font = (metrics.ui_font, metrics.ui)
    _words(painter, brush, font, brush.color("on_accent"), inner, THIS_STEP, underlined=False)
    return width


def _words(
    painter: QPainter,
    brush: Brush,
    font: tuple[QFont, QFontMetrics],
    color: QColor,
    rect: QRect,
    words: str,
    underlined: bool,
) -> None:
    painter.setFont(font[0])
    painter.setPen(color)
    short = brush.short(words, font[1], rect.width(), font[0])
    painter.drawText(rect, _LEFT, short)
    if underlined:
        y = rect.center().y() + font[1].ascent() // 2 + 1
        painter.drawLine(rect.x(), y, rect.x() + font[1].horizontalAdvance(short), y)


def paint_lead(
    painter: QPainter,
    brush: Brush,
    metrics: Metrics,
    stretch: Stretch,
    place: tuple[int, int],
    *,
    folded: bool,
    hovered: bool,
    touched: bool = False,
) -> None:
    """The line above a stretch at `place` = (y, origin of the hatch)."""
    y, origin = place
    phase = (y - origin) % max(1, brush.hatch.texture().height())
    state = (folded, hovered, touched)

    def draw(inner: QPainter, rect: QRect) -> None:
        _paint_lead(inner, brush, metrics, stretch, (rect, rect.y() - phase), state)

    brush.strip(painter, (stretch, state, metrics.chip_x, phase), QRect(0, y, metrics.width, metrics.lead), draw)


def _paint_lead(
    painter: QPainter,
    brush: Brush,
    metrics: Metrics,
    stretch: Stretch,
    place: tuple[QRect, int],
    state: tuple[bool, bool, bool],
) -> None:
    rect, origin = place
    folded, hovered, touched = state
    px, y, height = brush.px, rect.y(), rect.height()
    hidden = stretch.kind is StretchKind.NOT_SENT
    if hidden:
        brush.hatched(painter, rect, origin)
    else:
        painter.fillRect(rect, brush.color("surface"))
    color, sign = ("event", "hidden") if hidden else ("muted", "later")
    words_x = metrics.chip_x + px(40)
    room = metrics.width - words_x - metrics.margin - px(8) - (touched_width(metrics) + px(4) if touched else 0)
    title = brush.short(stretch.title, metrics.bold, room, metrics.bold_font)
    width = metrics.bold.horizontalAdvance(title)
    rest = brush.short(f" · {stretch.details}", metrics.ui, room - width, metrics.ui_font)
    end = words_x + width + metrics.ui.horizontalAdvance(rest)
    if hidden:
        painter.fillRect(
            QRect(metrics.chip_x - px(4), y, end + px(12) - metrics.chip_x, height), brush.color("hidden_fill")
        )
    else:
        painter.setPen(QPen(brush.color("muted"), 1, Qt.PenStyle.DashLine))
        middle = y + height // 2
        painter.drawLine(QPoint(metrics.margin, middle), QPoint(metrics.chip_x - px(6), middle))
        painter.drawLine(QPoint(end + px(10), middle), QPoint(metrics.width - metrics.margin, middle))
    if touched:
        mark = (end + px(4), y + (height - metrics.header) // 2)
        paint_touched(painter, brush, metrics, mark, metrics.width - metrics.margin - mark[0])
    fold = "collapse" if folded else "expand"  # the icon set says what it looks like, a chevron, not what a click does
    brush.icon(painter, fold, color, QRect(metrics.chip_x, y, px(16), height))
    brush.icon(painter, sign, color, QRect(metrics.chip_x + px(19), y, px(15), height))
    _words(
        painter, brush, (metrics.bold_font, metrics.bold), brush.color(color),
        QRect(words_x, y, width + px(2), height), title, hovered,
    )  # fmt: skip
    painter.setFont(metrics.ui_font)
    painter.setPen(brush.color("hidden_text" if hidden else "muted"))
    painter.drawText(QRect(words_x + width, y, room - width, height), _LEFT, rest)
    painter.setPen(brush.color("line"))
    painter.drawLine(0, y + height - 1, metrics.width, y + height - 1)
