"""One line above the conversation while a what-if is looked at: what it is, what it saves, apply or drop it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.domain.plan import Plan, PlanKind
from ctxviewer.models.numbers import grouped
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import StillLabel


class PlanBar(QFrame):
    """Hidden while there is no what-if."""

    def __init__(self, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("What-if")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel(self)
        self._words = StillLabel(self)
        self._apply = QPushButton("Apply…", self)
        self._drop = QPushButton("Drop", self)
        for button, name in ((self._apply, "act.apply"), (self._drop, "act.drop")):
            button.setAccessibleName(actions[name].iconText())
            button.clicked.connect(actions[name].trigger)
        self._actions = actions
        self._plan: Plan | None = None
        self._steps = ""
        actions["act.apply"].changed.connect(self._follow)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._icon)
        self._row.addWidget(self._words, 1)
        self._row.addWidget(self._apply)
        self._row.addWidget(self._drop)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self._follow()
        self.hide()

    @property
    def words(self) -> str:
        """What it says."""
        return self._words.text()

    @property
    def has_the_focus(self) -> bool:
        """True while one of its buttons has the keyboard."""
        return self._apply.hasFocus() or self._drop.hasFocus()

    def show_plan(self, plan: Plan | None) -> None:
        """Name the what-if, or hide."""
        self.setVisible(plan is not None)
        self._plan = plan
        self._say()

    def show_step(self, done: int | None, count: int) -> None:
        """Say how many steps of the what-if are shown; None = all, which need not be said."""
        self._steps = "" if done is None else f" · step {grouped(done)} of {grouped(count)}"
        self._say()

    def _say(self) -> None:
        plan = self._plan
        if plan is None:
            return
        if plan.refusal:
            tried = plan.kind is PlanKind.STRATEGY or "strategy" in plan.settings
            words = plan.refusal if tried else f"not possible: {plan.refusal}"
        else:
            saved = plan.characters_before - plan.characters_after
            change = (
                f"{grouped(abs(saved))} characters {'less' if saved >= 0 else 'more'}" if saved else "nothing saved"
            )
            words = f"{change} · nothing is written yet"
        words = f"What-if: {plan.title}{self._steps} · {words}"
        self._words.setText(words)
        self._words.setToolTip(words)

    def _follow(self) -> None:
        action = self._actions["act.apply"]
        self._apply.setEnabled(action.isEnabled())
        self._apply.setToolTip(action.toolTip())
        self._drop.setToolTip(self._actions["act.drop"].toolTip())

    def _restyle(self) -> None:
        look = theme.current()
        side = look.px(16)
        self._icon.setPixmap(look.icon("decide", "accent").pixmap(QSize(side, side)))
        self._row.setContentsMargins(look.px(10), look.px(5), look.px(8), look.px(5))
        self._row.setSpacing(look.px(8))
        ground, line = look.color("accent_ground").name(), look.color("accent").name()
        self.setStyleSheet(f"PlanBar {{ background: {ground}; border: none; border-bottom: 1px solid {line}; }}")
