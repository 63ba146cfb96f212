"""Which strategy is looked at, with which settings and which window. Remembered, but for the window."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from ctxviewer.engine.matrix import Choice
from ctxviewer.engine.strategies import STRATEGIES, Setting, SettingKind, SettingsError, Strategy, Value, strategy
from ctxviewer.engine.strategies.base import check_window
from ctxviewer.services.session import Session
from ctxviewer.services.settings import LAB_STRATEGY, LAB_VALUES, Settings

WINDOW = Setting(
    "window", SettingKind.WHOLE, None, "The model's window in tokens; empty = the one of the task.", low=1, high=10**12
)
"""The window, entered as the settings are."""


class Choosing(QObject):
    """What the user set. Values that cannot be used never get in: whoever sets one is told with a SettingsError."""

    changed = Signal()

    def __init__(self, settings: Settings, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._session = settings, session
        self._strategy = _remembered(settings.get(LAB_STRATEGY))
        self._values = _usable(settings.get(LAB_VALUES))
        self._window: int | None = None
        session.task_changed.connect(self._forget_window)
        session.window_changed.connect(self._note_window)

    @property
    def strategy(self) -> Strategy:
        """The strategy that is looked at."""
        return self._strategy

    @property
    def window(self) -> int | None:
        """Tokens of the window, None = the one that is set for the task."""
        return self._window

    @property
    def effective_window(self) -> int | None:
        """Tokens of the window that the rules are given, None without a task."""
        return self._window if self._window is not None else self._session.window

    def given(self, key: str | None = None) -> Mapping[str, Value]:
        """The settings that were set for a strategy (None = the one that is looked at); all others are as they come."""
        return self._values.get(self._strategy.key if key is None else key, {})

    def value(self, setting: Setting) -> Value:
        """What holds for a setting of the strategy that is looked at; None = the task decides."""
        return self.given().get(setting.name, setting.default)

    @property
    def is_changed(self) -> bool:
        """True if a setting of the strategy, or the window, is not as it comes."""
        return bool(self.given()) or self._window is not None

    def choice(self, key: str | None = None) -> Choice:
        """A strategy (None = the one that is looked at) with its settings."""
        row = self._strategy if key is None else strategy(key)
        return Choice(row, dict(self.given(row.key)))

    def choices(self) -> tuple[Choice, ...]:
        """All strategies with their settings, in the order of the table."""
        return tuple(self.choice(row.key) for row in STRATEGIES)

    def set_strategy(self, key: str) -> None:
        """Look at another strategy. SettingsError for a key that does not exist."""
        row = strategy(key)
        if row is not self._strategy:
            self._strategy = row
            self._settings.set(LAB_STRATEGY, row.key)
            self.changed.emit()

    def set_text(self, setting: Setting, text: str) -> None:
        """Set a setting as typed; an empty text is how it comes. SettingsError says what is allowed."""
        self.set_value(setting, setting.read(text))

    def set_value(self, setting: Setting, value: Value) -> None:
        """Set a setting of the strategy that is looked at. SettingsError changes nothing."""
        checked = setting.check(value)
        values = dict(self.given())
        if checked == setting.default and type(checked) is type(setting.default):
            values.pop(setting.name, None)
        else:
            values[setting.name] = checked
        self._keep(values)

    def set_window(self, text: str) -> None:
        """Set the window as typed: '200000', '200k'; an empty text is the task's. SettingsError changes nothing."""
        window = _window_of(text)
        snapshot = self._session.snapshot
        if snapshot is not None:
            check_window(window, snapshot.model)
        if window != self._window:
            self._window = window
            self.changed.emit()

    def reset(self) -> None:
        """Everything of the strategy that is looked at, and the window, as it comes."""
        had, self._window = self._window, None
        if self.given():
            self._keep({})
        elif had is not None:
            self.changed.emit()

    def _keep(self, values: dict[str, Value]) -> None:
        if values == self.given():
            return
        self._values = {**self._values, self._strategy.key: values}
        self._settings.set(LAB_VALUES, {key: dict(kept) for key, kept in self._values.items() if kept})
        self.changed.emit()

    def _forget_window(self, _task: object) -> None:
        self._window = None
        self.changed.emit()

    def _note_window(self, _window: object) -> None:
        if self._window is None:
            self.changed.emit()


def _window_of(text: str) -> int | None:
    if not text.strip():
        return None
    value = WINDOW.read(text)
    return value if isinstance(value, int) else None


def _remembered(key: str) -> Strategy:
    try:
        return strategy(key) if key else STRATEGIES[0]
    except SettingsError:
        return STRATEGIES[0]


def _usable(kept: Mapping[str, Mapping[str, Value]]) -> dict[str, dict[str, Value]]:
    """What is still a setting of a strategy, and in range, of what was remembered."""
    found: dict[str, dict[str, Value]] = {}
    for row in STRATEGIES:
        values: dict[str, Value] = {}
        for setting in row.settings:
            if setting.name in kept.get(row.key, {}):
                try:
                    values[setting.name] = setting.check(kept[row.key][setting.name])
                except SettingsError:
                    continue
        found[row.key] = values
    return found
