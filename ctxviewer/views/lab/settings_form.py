"""The settings of the chosen strategy as a form, made from its own list; reset brings all back."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QToolButton, QVBoxLayout, QWidget

from ctxviewer.engine.strategies import Strategy
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import plain_label
from ctxviewer.views.lab.fields import Field


class SettingsForm(QWidget):
    """Follows what is chosen; fields are made anew for another strategy."""

    refused = Signal(object)
    """Field whose value cannot be."""

    def __init__(self, choosing: Choosing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choosing = choosing
        self._strategy: Strategy | None = None
        self._fields: list[Field] = []
        self._form = QWidget(self)
        self._none = plain_label("These rules have no settings.", "muted", self)
        self._reset = QToolButton(self)
        self._reset.setText("Reset")
        self._reset.setProperty("look", "link")
        self._reset.setAccessibleName("Reset the settings of this strategy and the window")
        self._reset.clicked.connect(self.reset)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._form)
        self._column.addWidget(self._none)
        self._column.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        choosing.changed.connect(self.refresh)
        theme.current().changed.connect(self._restyle)
        self.refresh()

    @property
    def fields(self) -> tuple[Field, ...]:
        """One a setting, in order."""
        return tuple(self._fields)

    def refresh(self) -> None:
        """Show what holds."""
        if self._choosing.strategy is not self._strategy:
            self._strategy = self._choosing.strategy
            self._make(self._choosing.strategy)
        for field in self._fields:
            field.show_value(self._choosing.value(field.setting))
        self._settle()

    def reset(self, _checked: bool = False) -> None:
        """Everything as it comes; what is typed and cannot be is forgotten."""
        for field in self._fields:
            field.reset()
        self._choosing.reset()
        self.refresh()

    def _make(self, strategy: Strategy) -> None:
        old, self._form = self._form, QWidget(self)
        self._fields = []
        form = QFormLayout(self._form)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for setting in strategy.settings:
            field = Field(
                setting,
                partial(self._choosing.set_text, setting),
                partial(self._choosing.set_value, setting),
                self._form,
            )
            field.changed.connect(self._note)
            label = field.label()
            if label is None:
                form.addRow(field)
            else:
                form.addRow(label, field)
            self._fields.append(field)
        self._column.replaceWidget(old, self._form)
        old.hide()
        old.deleteLater()
        self._form.setVisible(bool(strategy.settings))
        self._none.setVisible(not strategy.settings)
        self._restyle()

    def _note(self) -> None:
        self._settle()
        field = self.sender()
        if isinstance(field, Field) and field.problem:
            self.refused.emit(field)

    def _settle(self) -> None:
        changed = self._choosing.is_changed or any(field.problem for field in self._fields)
        self._reset.setEnabled(changed)
        self._reset.setToolTip(
            "Bring back every setting of this strategy, and the task's window"
            if changed
            else "Everything is as it comes."
        )

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setSpacing(look.px(6))
        form = self._form.layout()
        if isinstance(form, QFormLayout):
            form.setHorizontalSpacing(look.px(10))
            form.setVerticalSpacing(look.px(6))
