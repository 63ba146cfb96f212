"""Paints the stacked bars. They are composed as an image, pixel column by pixel column, so that the work depends on the
size of the window and not on the number of requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QImage

from ctxviewer.models.usage import Columns, Floats
from ctxviewer.views.theme import Theme

SERIES_COLORS: Final = ("series_input", "series_cache_read", "series_cache_write", "series_output")


def bars_image(columns: Columns, first: float, last: float, top: float, size: tuple[int, int], theme: Theme) -> QImage:
    """The bars of positions first … last and tokens 0 … top on `size` (width, height) device pixels; transparent."""
    width, height = size
    if width <= 0 or height <= 0 or last <= first or top <= 0:
        return QImage()
    colors = [theme.color(name) for name in SERIES_COLORS]
    shown = column_of_pixel(columns, first, last, width)
    edges = np.zeros((4, width))
    inside = shown >= 0
    edges[:, inside] = columns.tops[:, shown[inside]]
    return to_image(part_of_pixel(edges, top, height), colors, patterned=theme.doubles_patterns)


def column_of_pixel(columns: Columns, first: float, last: float, width: int) -> NDArray[np.int64]:
    """For each pixel column the column that it shows, -1 for a gap. Bars of 4 pixels and more stand apart."""
    result = np.full(width, -1, dtype=np.int64)
    count = len(columns.left)
    if not count:
        return result
    scale = width / (last - first)
    centre = first + (np.arange(width) + 0.5) / scale
    place = np.searchsorted(columns.left, centre, side="right") - 1
    place = np.clip(place, 0, count - 1)
    inside = (centre >= columns.left[place]) & (centre < columns.right[place])
    pitch = scale if columns.per_bucket == 1 else 0.0
    if pitch >= 4:
        gap = max(1, round(pitch * 0.2)) if pitch < 40 else 8
        start = np.round((columns.left[place] - first) * scale)
        inside &= np.arange(width) >= start + gap // 2
        end = np.round((columns.right[place] - first) * scale)
        inside &= np.arange(width) < end - (gap - gap // 2)
    result[inside] = place[inside]
    return result


def part_of_pixel(edges: Floats, top: float, height: int) -> NDArray[np.uint8]:
    """Shape (height, width): which part each pixel belongs to, 4 for none. A part with tokens has at least its edge."""
    reach = np.clip(np.round(edges * (height / top)), 0, height).astype(np.int16)
    some = edges[3] > 0
    reach[3, some] = np.maximum(reach[3, some], 1)  # a bar with numbers never vanishes
    from_below = np.arange(height - 1, -1, -1, dtype=np.int16)[:, None]
    parts = np.zeros((height, edges.shape[1]), dtype=np.uint8)
    for row in reach:  # a pixel lies in the part whose number is how many edges lie at or below it
        parts += (from_below >= row[None, :]).view(np.uint8)
    return parts


def to_image(parts: NDArray[np.uint8], colors: Sequence[QColor], *, patterned: bool) -> QImage:
    """The parts in their (opaque) colours. `patterned` gives each a texture, so that colour is not the only sign."""
    height, width = parts.shape
    table = np.array([*(color.rgba() for color in colors), 0], dtype=np.uint32)
    pixels = table.take(parts, mode="clip")
    if patterned:
        down, across = np.arange(height)[:, None], np.arange(width)[None, :]
        pixels[(parts == 1) & ((down + across) % 4 >= 2)] = 0
        pixels[(parts == 2) & (down % 3 == 2)] = 0
        pixels[(parts == 3) & ((down % 4 < 2) == (across % 4 < 2))] = 0
    pixels = np.ascontiguousarray(pixels)
    image = QImage(pixels.data, width, height, width * 4, QImage.Format.Format_ARGB32_Premultiplied)
    return image.copy()


def swatch(part: int, side: int, theme: Theme) -> QImage:
    """A square in the fill of a part, for the legend."""
    parts = np.full((side, side), part, dtype=np.uint8)
    return to_image(parts, [theme.color(name) for name in SERIES_COLORS], patterned=theme.doubles_patterns)
