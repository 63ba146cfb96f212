"""Fields that are generated from the settings of a strategy, each with its own sentence where a value cannot be."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.strategies import Setting, SettingKind, Value
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import grouped
from ctxviewer.views.answers.parts import Remark

PAUSE_MS = 350
"""What is typed is taken after so long, or at once with Enter."""


def value_text(value: Value) -> str:
    """A value as a person types it; '' for what the task decides."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return grouped(value)
    return f"{value:g}" if isinstance(value, float) else value


def name_of(setting: Setting) -> str:
    """'Keep system' for keep_system."""
    words = setting.name.replace("_", " ")
    return words[:1].upper() + words[1:]


class Field(QWidget):
    """One setting. `set_text` and `set_value` raise a CtxError for what cannot be; its sentence is shown below."""

    changed = Signal()
    """A value was taken, or refused."""

    def __init__(
        self,
        setting: Setting,
        set_text: Callable[[str], None],
        set_value: Callable[[Value], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setting = setting
        self._set_text, self._set_value = set_text, set_value
        self._check: QCheckBox | None = None
        self._combo: QComboBox | None = None
        self._edit: QLineEdit | None = None
        self.remark = Remark(self)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(PAUSE_MS)
        self._soon.timeout.connect(self._take_text)
        self.editor = self._make()
        self.editor.setAccessibleName(name_of(setting))
        self.editor.setAccessibleDescription(setting.meaning)
        self.editor.setToolTip(plain_tip(f"{setting.meaning}\n{self._allowed()}"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.editor)
        layout.addWidget(self.remark)

    @property
    def problem(self) -> str:
        """Why the value in the field cannot be; '' when it can."""
        return self.remark.words

    def label(self) -> QLabel | None:
        """A label for the editor; None for a switch, which has its own."""
        if self._check is not None:
            return None
        label = QLabel(name_of(self.setting), self.parentWidget())
        label.setBuddy(self.editor)
        label.setToolTip(self.editor.toolTip())
        return label

    def show_value(self, value: Value) -> None:
        """Show what holds, unless something else is just being typed or cannot be."""
        if self._check is not None:
            with QSignalBlocker(self._check):
                self._check.setChecked(value is True)
        elif self._combo is not None:
            with QSignalBlocker(self._combo):
                self._combo.setCurrentIndex(max(0, self._combo.findData(value)))
        elif self._edit is not None and not self._soon.isActive() and not self.problem:
            text = "" if value == self.setting.default else value_text(value)
            if self._edit.text() != text and not (self._edit.hasFocus() and self._edit.isModified()):
                self._edit.setText(text)

    def reset(self) -> None:
        """Forget what is typed, and that it cannot be."""
        self._soon.stop()
        self.remark.say("")
        if self._edit is not None:
            self._edit.clear()

    # -- inside

    def _make(self) -> QWidget:
        match self.setting.kind:
            case SettingKind.SWITCH:
                self._check = QCheckBox(name_of(self.setting), self)
                self._check.toggled.connect(self._take_switch)
                return self._check
            case SettingKind.CHOICE:
                self._combo = QComboBox(self)
                for choice in self.setting.choices:
                    self._combo.addItem(choice, choice)
                self._combo.activated.connect(self._take_choice)
                return self._combo
            case _:
                self._edit = QLineEdit(self)
                default = value_text(self.setting.default)
                self._edit.setPlaceholderText(
                    default or ("none" if self.setting.default == "" else "as the task has it")
                )
                self._edit.textEdited.connect(self._wait)
                self._edit.editingFinished.connect(self._take_text)
                return self._edit

    def _allowed(self) -> str:
        default = value_text(self.setting.default)
        words = f"Default: {default}." if default else "Empty: as the task has it."
        if self.setting.kind in {SettingKind.WHOLE, SettingKind.SHARE}:
            allowed = self.setting.allowed
            return f"{allowed[:1].upper()}{allowed[1:]}. {words}"
        return words

    def _wait(self, _text: str) -> None:
        self._soon.start()

    def _take_text(self) -> None:
        self._soon.stop()
        if self._edit is not None and (self._edit.isModified() or self.problem):
            text = self._edit.text()
            self._try(lambda: self._set_text(text))
            self._edit.setModified(False)

    def _take_switch(self, on: bool) -> None:
        self._try(lambda: self._set_value(on))

    def _take_choice(self, place: int) -> None:
        if self._combo is not None:
            value = self._combo.itemData(place)
            self._try(lambda: self._set_value(value))

    def _try(self, take: Callable[[], None]) -> None:
        self.remark.say("")
        try:
            take()
        except CtxError as error:
            self.remark.say(error.sentence, "warning", "warning")
        self.changed.emit()
