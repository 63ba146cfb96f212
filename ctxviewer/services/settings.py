"""What is remembered between runs, as one typed object. Nobody else touches QSettings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from ctxviewer.domain.view import TextMode

T = TypeVar("T")
Plain = bool | int | float | str | None
"""A value that a setting of a strategy may have."""

THEMES = ("system", "light", "dark", "high-contrast")
SCALE_MIN, SCALE_MAX, SCALE_STEP = 80, 160, 10
RECENT_LIMIT = 12


@dataclass(frozen=True, slots=True, eq=False)
class Field(Generic[T]):
    """One setting: where it is kept, what it is when nobody set it, and how a stored text becomes a value.

    Values are stored as JSON text: an INI file gives 'true' for True and a bare string for a list of one.
    """

    key: str
    default: T
    accept: Callable[[object], T | None]
    """Narrows a decoded JSON value; None = not usable, take the default."""


def _choice(*words: str) -> Callable[[object], str | None]:
    return lambda value: value if isinstance(value, str) and value in words else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(dict.fromkeys(value))
    return None


def _scale(value: object) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool)
    return max(SCALE_MIN, min(SCALE_MAX, value)) if usable and isinstance(value, int) else None


def _windows(value: object) -> dict[str, int] | None:
    if not isinstance(value, dict):
        return None
    return {key: size for key, size in value.items() if isinstance(key, str) and type(size) is int and size > 0}


def _values(value: object) -> dict[str, dict[str, Plain]] | None:
    if not isinstance(value, dict):
        return None
    return {
        key: {name: item for name, item in held.items() if item is None or isinstance(item, (bool, int, float, str))}
        for key, held in value.items()
        if isinstance(key, str) and isinstance(held, dict)
    }


THEME: Field[str] = Field("look/theme", "system", _choice(*THEMES))
SCALE: Field[int] = Field("look/scale", 100, _scale)
PROPORTIONAL: Field[bool] = Field("look/proportional", False, _flag)
COMPACT: Field[bool] = Field("look/compact", False, _flag)
"""Only the first words of messages are shown."""
TEXT_MODE: Field[str] = Field("look/text-mode", TextMode.AS_SENT.value, _choice(*(mode.value for mode in TextMode)))
EXTRA_ROOTS: Field[tuple[str, ...]] = Field("tasks/folders", (), _texts)
RECENT: Field[tuple[str, ...]] = Field("tasks/recent", (), _texts)
LAST_TASK: Field[str] = Field("tasks/last", "", _text)
REOPEN: Field[bool] = Field("tasks/reopen-last", True, _flag)
WINDOWS: Field[Mapping[str, int]] = Field("tasks/windows", {}, _windows)
"""Model windows set by the user, in tokens, by task directory."""

PRICES: Field[str] = Field("costs/price-table", "", _text)
"""Path of the user's own price table, '' = only the built-in one."""
EXPORT_FOLDER: Field[str] = Field("export/folder", "", _text)
"""Where the last export went, '' = the home folder."""
LAB_STRATEGY: Field[str] = Field("lab/strategy", "decide", _text)
"""Key of the strategy that was looked at last."""
LAB_VALUES: Field[Mapping[str, Mapping[str, Plain]]] = Field("lab/settings", {}, _values)
"""Settings of strategies that the user set, by name, by key of the strategy."""
MODEL_URL: Field[str] = Field("model/base-url", "", _text)
"""Where a model that writes summaries is asked, '' = none is."""
MODEL_NAME: Field[str] = Field("model/name", "", _text)

FIELDS: tuple[Field[Any], ...] = (
    THEME, SCALE, PROPORTIONAL, COMPACT, TEXT_MODE, EXTRA_ROOTS, RECENT, LAST_TASK, REOPEN, WINDOWS,
    PRICES, EXPORT_FOLDER, LAB_STRATEGY, LAB_VALUES, MODEL_URL, MODEL_NAME,
)  # fmt: skip

_GEOMETRY, _LAYOUT, _LAYOUT_VERSION = "window/geometry", "window/layout", 4


class Settings(QObject):
    """Typed reading and writing of settings. Damaged values read as the default."""

    changed = Signal(object)  # Field

    def __init__(self, file: Path, parent: QObject | None = None) -> None:
        """`file`: an INI file, in our own data folder."""
        super().__init__(parent)
        self._store = QSettings(str(file), QSettings.Format.IniFormat)

    @property
    def file(self) -> Path:
        """Where the settings are kept."""
        return Path(self._store.fileName())

    def get(self, field: Field[T]) -> T:
        """The value now in force."""
        text = self._store.value(field.key, "", type=str)
        if not isinstance(text, str) or not text:
            return field.default
        try:
            value = field.accept(json.loads(text))
        except ValueError:
            value = None
        return field.default if value is None else value

    def set(self, field: Field[T], value: T) -> None:
        """Remember a value and tell everybody; setting what stands already does nothing."""
        if self.get(field) != value:
            self._store.setValue(field.key, json.dumps(value, default=dict))
            self.changed.emit(field)

    def reset(self, field: Field[T]) -> None:
        """Back to the default."""
        self.set(field, field.default)

    def sync(self) -> None:
        """Write to disk now."""
        self._store.sync()

    def remember_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        """Keep the main window's place and docks."""
        self._store.setValue(_GEOMETRY, geometry)
        self._store.setValue(f"{_LAYOUT}-{_LAYOUT_VERSION}", layout)

    def window(self) -> tuple[QByteArray, QByteArray]:
        """Place and docks as remembered; empty arrays when there is nothing."""
        values = (self._store.value(_GEOMETRY), self._store.value(f"{_LAYOUT}-{_LAYOUT_VERSION}"))
        geometry, layout = (value if isinstance(value, QByteArray) else QByteArray() for value in values)
        return geometry, layout

    def forget_window(self) -> None:
        """The next window comes up as on the first day."""
        self._store.remove(_GEOMETRY)
        self._store.remove(f"{_LAYOUT}-{_LAYOUT_VERSION}")

    def window_override(self, task_dir: str) -> int | None:
        """Tokens that the user gave for the model window of this task, None when nothing was given."""
        return self.get(WINDOWS).get(task_dir)

    def set_window_override(self, task_dir: str, tokens: int | None) -> None:
        """Remember (or with None forget) the model window of a task."""
        windows = dict(self.get(WINDOWS).items())
        if tokens is None:
            windows.pop(task_dir, None)
        else:
            windows[task_dir] = tokens
        self.set(WINDOWS, windows)

    def note_recent(self, task_dir: str) -> None:
        """Put a task first in the list of recent ones."""
        others = tuple(path for path in self.get(RECENT) if path != task_dir)
        self.set(RECENT, (task_dir, *others)[:RECENT_LIMIT])
        self.set(LAST_TASK, task_dir)
