"""Between points of the viewport and places in the text."""

from __future__ import annotations

from typing import NamedTuple

from ctxviewer.models.segments import Body
from ctxviewer.views.conversation.rows import LEAD, Kind
from ctxviewer.views.conversation.selection import END, Spot, word_at
from ctxviewer.views.conversation.sheet import Placed, Sheet


class Cursor(NamedTuple):
    """Where a place in the text is in the viewport."""

    x: float
    y: float
    height: float


def spot_at(sheet: Sheet, x: float, y: float) -> Spot:
    """The place nearest to a point. There must be rows in the viewport."""
    placed = sheet.at(round(y))
    if placed is None:
        placed = sheet.placed[0] if y < 0 else sheet.placed[-1]
    return _spot_in(sheet, placed, x, y)


def _spot_in(sheet: Sheet, placed: Placed, x: float, y: float) -> Spot:
    row, number = placed.row, placed.element
    if number == LEAD:
        return Spot(row, -1, 0)
    layout = sheet.row_layout(row)
    element = layout.elements[number]
    if element.kind is Kind.FOOT:
        return Spot(row, END, 0)
    if element.section < 0:
        return Spot(row, 0, 0)
    part = layout.section(number)
    if element.kind is Kind.TEXT:
        raw = sheet.piece(row, number).raw_at(x - sheet.metrics.text_x, y - placed.y)
        return Spot(row, element.section, part.cuts[element.piece] + raw)
    return Spot(row, element.section, len(part.text) if element.kind is Kind.MORE else 0)


def cursor_at(sheet: Sheet, spot: Spot) -> Cursor | None:
    """Where a place in a text is, None while its element is not in the viewport."""
    if spot.section < 0 or sheet.geometry.is_folded(spot.row):
        placed = sheet.find(spot.row, LEAD)
        return Cursor(0, placed.y, placed.height) if placed is not None else None
    layout = sheet.row_layout(spot.row)
    sections = layout.body.sections if layout.body is not None else ()
    number = layout.element_of(spot.section, spot.offset) if spot.section < len(sections) else 0
    if spot.section >= len(sections) and sections:
        number = len(layout.elements) - 1
    placed = sheet.find(spot.row, number)
    if placed is None:
        return None
    element = layout.elements[number]
    if element.kind is not Kind.TEXT:
        return Cursor(sheet.metrics.text_x, placed.y, placed.height)
    start = sections[spot.section].cuts[element.piece]
    x, y, height = sheet.piece(spot.row, number).place_of(spot.offset - start)
    return Cursor(sheet.metrics.text_x + x, placed.y + y, height)


def step_character(body: Body, spot: Spot, by: int) -> Spot:
    """One character on or back within a row; a line end of CRLF counts as one, sections follow each other."""
    sections = body.sections
    if not sections:
        return spot
    section = max(0, min(spot.section, len(sections) - 1))
    offset = spot.offset if section == spot.section else 0 if spot.section < 0 else len(sections[section].text)
    text = sections[section].text
    if by > 0:
        if offset >= len(text):
            return Spot(spot.row, section + 1, 0) if section + 1 < len(sections) else Spot(spot.row, END, 0)
        return Spot(spot.row, section, offset + (2 if text.startswith("\r\n", offset) else 1))
    if offset <= 0:
        return Spot(spot.row, section - 1, len(sections[section - 1].text)) if section else Spot(spot.row, 0, 0)
    return Spot(spot.row, section, offset - (2 if text.startswith("\r\n", offset - 2) and offset > 1 else 1))


def step_word(body: Body, spot: Spot, by: int) -> Spot:
    """To the end of the word that follows, or the beginning of the one before."""
    moved = step_character(body, spot, by)
    if not 0 <= moved.section < len(body.sections):
        return moved
    text = body.sections[moved.section].text
    offset = moved.offset
    if by > 0:
        while offset < len(text) and text[offset - 1 : offset].isspace() and text[offset - 1] != "\n":
            offset += 1
        low, high = word_at(text, max(0, offset - 1))
        return moved._replace(offset=max(offset, high) if low < high else offset)
    while offset > 0 and text[offset : offset + 1].isspace() and text[offset - 1] != "\n":
        offset -= 1
    low, _ = word_at(text, offset)
    return moved._replace(offset=min(offset, low))
