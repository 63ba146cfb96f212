"""One strategy, its settings, and the way through its plan."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.engine.strategies import STRATEGIES
from ctxviewer.models.listing import plain_tip
from ctxviewer.models.numbers import grouped
from ctxviewer.models.steps import StepsModel
from ctxviewer.models.visible import one_line
from ctxviewer.services.lab.choosing import Choosing
from ctxviewer.services.lab.planning import SUMMARISING
from ctxviewer.services.lab.stepping import Stepping
from ctxviewer.services.lab.summaries import Summaries
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Remark
from ctxviewer.views.dialogs.parts import drawable, plain_label
from ctxviewer.views.lab.fields import Field
from ctxviewer.views.lab.sentence import Sentence
from ctxviewer.views.lab.settings_form import SettingsForm
from ctxviewer.views.lab.step_list import StepList
from ctxviewer.views.lab.stops import Stops
from ctxviewer.views.toolbar import BarButton

MOVES = ("lab.reset", "lab.back", "lab.step", "lab.play", "lab.run")


class StepsPage(QWidget):
    """Rules on the left (or above), steps on the right (or below)."""

    preferences_wanted = Signal()

    def __init__(
        self,
        stepping: Stepping,
        choosing: Choosing,
        summaries: Summaries,
        actions: ActionSet,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._stepping, self._choosing, self._summaries, self._actions = stepping, choosing, summaries, actions
        self._playing = False
        self.model = StepsModel(self)
        self._make_rules()
        self._make_steps()
        self._narrow = False
        self._field: Field | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._scroll_to_field)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.addWidget(self._rules, 2)
        self._row.addWidget(self._walk, 3)
        stepping.changed.connect(self.refresh)
        choosing.changed.connect(self._show_choice)
        summaries.changed.connect(self._show_summaries)
        theme.current().changed.connect(self._restyle)
        self._restyle()
        self._show_choice()
        self._show_summaries()
        self.refresh()

    # -- parts

    def _make_rules(self) -> None:
        self.strategy = QComboBox(self)
        self.strategy.setAccessibleName("Strategy")
        self.strategy.setToolTip("The rules that are tried; nothing of them is written")
        agent = ""
        for row in STRATEGIES:
            if agent and row.agent != agent:
                self.strategy.insertSeparator(self.strategy.count())
            agent = row.agent
            self.strategy.addItem(f"{row.agent}: {row.name}", row.key)
            tip = plain_tip(f"{row.meaning}\nSource: {row.source}")
            self.strategy.setItemData(self.strategy.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.strategy.activated.connect(self._choose_strategy)
        self._meaning = plain_label("", "", self)
        self._source = plain_label("", "muted", self)
        self.form = SettingsForm(self._choosing, self)
        self.form.refused.connect(self._show_field)
        self._fold = QToolButton(self)
        self._fold.setCheckable(True)
        self._fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fold.toggled.connect(self._settle_form)
        self._model_switch = QCheckBox("Let a model write the summaries", self)
        self._model_switch.toggled.connect(self._summaries.set_wanted)
        self._enter_model = QToolButton(self)
        self._enter_model.setProperty("look", "link")
        self._enter_model.setText("Enter a model…")
        self._enter_model.setToolTip("Open the preferences: without an address, no model is asked and no network used")
        self._enter_model.clicked.connect(self.preferences_wanted)
        inner = QWidget(self)
        inner.setProperty("look", "pane")
        self._column = QVBoxLayout(inner)
        self._column.addWidget(self.form)
        self._column.addWidget(self._source)
        self._column.addStretch(1)
        self._scroll = QScrollArea(self)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(inner)
        self._choice = QHBoxLayout()
        self._choice.addWidget(self.strategy, 1)
        self._choice.addWidget(self._fold)
        self._rules = QWidget(self)
        self._rules_column = QVBoxLayout(self._rules)
        self._rules_column.setContentsMargins(0, 0, 0, 0)
        self._rules_column.addLayout(self._choice)
        self._rules_column.addWidget(self._meaning)
        self._rules_column.addWidget(self._scroll, 1)
        self._rules_column.addWidget(self._model_switch)
        self._rules_column.addWidget(self._enter_model, 0, Qt.AlignmentFlag.AlignLeft)

    def _make_steps(self) -> None:
        self._walk = QWidget(self)
        self._buttons = [BarButton(self._actions[name], parent=self._walk) for name in MOVES]
        self._place = QLabel(self._walk)
        self._place.setProperty("look", "number")
        self._follow = QCheckBox("follow", self._walk)
        self._follow.setChecked(True)
        self._follow.setToolTip(
            "Bring what a step changed into view. While steps are played, scrolling the conversation yourself stops it."
        )
        self._moves = QHBoxLayout()
        for button in self._buttons:
            self._moves.addWidget(button)
        self._moves.addWidget(self._place)
        self._moves.addStretch(1)
        self._moves.addWidget(self._follow)
        self._now = Sentence(self._walk)
        self.remark = Remark(self._walk)
        self.list = StepList(self.model, self._walk)
        self.list.step_chosen.connect(self._stepping.go_to)
        self.stops = Stops(self._stepping, self._walk)
        self._steps_column = QVBoxLayout(self._walk)
        self._steps_column.setContentsMargins(0, 0, 0, 0)
        self._steps_column.addLayout(self._moves)
        self._steps_column.addWidget(self._now)
        self._steps_column.addWidget(self.remark)
        self._steps_column.addWidget(self.list, 1)
        self._steps_column.addWidget(self.stops)

    # -- what others ask

    @property
    def follows(self) -> bool:
        """True if what a step changed is to be brought into view."""
        return self._follow.isChecked()

    @property
    def now(self) -> str:
        """The sentence of the step that was done last."""
        return self._now.text()

    @property
    def place(self) -> str:
        """'3 of 7'."""
        return self._place.text()

    def set_narrow(self, narrow: bool) -> None:
        """One below the other instead of side by side."""
        if narrow != self._narrow:
            self._narrow = narrow
            self._row.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
            self._settle_form()

    def _show_field(self, field: Field) -> None:
        """Bring a field whose value cannot be, and its sentence, into view."""
        self._fold.setChecked(True)
        self._field = field
        self._soon.start(0)

    def _scroll_to_field(self) -> None:
        if self._field is not None:
            self._scroll.ensureWidgetVisible(self._field)
            self._field = None

    def _settle_form(self, _open: bool = False) -> None:
        """Where there is little room, the settings are shown when they are asked for."""
        settings = len(self._choosing.strategy.settings)
        shown = not self._narrow or self._fold.isChecked()
        changed = len(self._choosing.given())
        self._fold.setVisible(self._narrow)
        self._fold.setEnabled(settings > 0)
        self._fold.setText(f"{changed} changed" if changed else "Settings")
        self._fold.setToolTip(
            ("Hide the settings" if self._fold.isChecked() else "Show the settings of these rules")
            if settings
            else "These rules have no settings."
        )
        self._scroll.setVisible(shown and not (self._narrow and not settings))
        self._row.setStretch(0, 2 if shown and not self._narrow else 3 if shown and settings else 0)
        self._row.setStretch(1, 3)

    def set_message(self, message: int | None) -> None:
        """The chosen message, which can be a breakpoint."""
        self.stops.set_message(message)

    # -- showing

    def refresh(self) -> None:
        """Show the place in the plan."""
        stepping = self._stepping
        stepper, answer = stepping.stepper, stepping.answer
        if self.model.set_plan(stepper.plan if stepper is not None else None):
            self._make_room(stepper.length if stepper is not None else 0)
        shown = stepper.position if stepper is not None and stepping.shown else 0
        moved = shown != self.model.done
        self.model.set_done(shown)
        self.model.set_stops({row: point.title for row, point in stepping.hits.items()})
        if moved:
            self.list.show_place()
        self._place.setText(f"{grouped(shown)} of {grouped(stepper.length)}" if stepper is not None else "")
        self._now.say(drawable(one_line(self._sentence(), 600)))
        if self._now.isHidden() == bool(self._now.text()):
            self._now.setVisible(bool(self._now.text()))
        if answer.error is not None:
            self.remark.say_error(answer.error)
        elif stepper is None and stepping.planning.waits_for_consent:
            self.remark.say(f"The first step asks {self._summaries.name} for a summary.", "made-up")
        elif answer.working or (stepper is None and stepping.planning.pending):
            self.remark.say("Working out the plan…", "reload")
        elif stepper is not None and stepper.stopped_by is not None:
            self.remark.say(
                f"Stopped: {stepper.stopped_by.title} is about to go. Step or run to go on.", "break", "warning"
            )
        elif stepper is not None and stepper.plan.warnings:
            self.remark.say(" ".join(stepper.plan.warnings), "warning", "warning")
        else:
            self.remark.say("")
        self.stops.refresh()
        self._show_playing()

    def _show_playing(self, *, anew: bool = False) -> None:
        play, playing = self._actions["lab.play"], self._stepping.playing
        if anew or playing != self._playing:
            self._playing = playing
            play.setIcon(theme.current().icon("pause" if playing else "play"))
        play.setChecked(playing)

    def _make_room(self, length: int) -> None:
        """The place in a plan of so many steps keeps its room: numbers change without moving anything."""
        widest = f"{grouped(length)} of {grouped(length)}" if length else ""
        metrics = self._place.fontMetrics()
        self._place.setFixedSize(metrics.horizontalAdvance(widest) + theme.current().px(2), metrics.height())
        self._now.restart()

    def _sentence(self) -> str:
        stepper = self._stepping.stepper
        if stepper is None:
            return ""
        if self._stepping.shown and stepper.done is not None:
            return stepper.sentence
        count = grouped(stepper.length)
        return f"{stepper.plan.title}: {count} {'step' if stepper.length == 1 else 'steps'}, none done yet."

    def _show_choice(self) -> None:
        strategy = self._choosing.strategy
        self.strategy.setCurrentIndex(self.strategy.findData(strategy.key))
        self._meaning.setText(strategy.meaning)
        self._meaning.setToolTip(plain_tip(f"Source: {strategy.source}"))
        self._source.setText(f"Rules: {strategy.source}.")
        self._settle_form()
        self._show_summaries()

    def _show_summaries(self) -> None:
        summarises = self._choosing.strategy.key in SUMMARISING
        available = self._summaries.available
        self._model_switch.setVisible(summarises and available)
        self._model_switch.setText(f"Let {one_line(self._summaries.name, 40)} write the summaries")
        self._model_switch.setToolTip("Sends the messages that are summarised to this address; off at every start")
        self._model_switch.blockSignals(True)
        self._model_switch.setChecked(self._summaries.wanted)
        self._model_switch.blockSignals(False)
        self._enter_model.setVisible(summarises and not available)

    # -- choosing

    def _choose_strategy(self, place: int) -> None:
        self._choosing.set_strategy(str(self.strategy.itemData(place)))

    def _restyle(self) -> None:
        look = theme.current()
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(look.px(12))
        self._fold.setIcon(look.icon("settings"))
        self._column.setContentsMargins(look.px(2), look.px(2), look.px(6), look.px(2))
        self._column.setSpacing(look.px(6))
        self._rules_column.setSpacing(look.px(5))
        self._moves.setSpacing(look.px(2))
        self._steps_column.setSpacing(look.px(5))
        for button in self._buttons:
            button.setIconSize(QSize(look.px(16), look.px(16)))
        stepper = self._stepping.stepper
        self._make_room(stepper.length if stepper is not None else 0)
        self._show_playing(anew=True)
