"""One QAction for every row of the catalogue, kept enabled, checked and explained. Widgets only show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.actions.needs import Situation, reason
from ctxviewer.actions.spec import ActionSpec, Need


def key_text(keys: tuple[str, ...]) -> str:
    """Key sequences as people of this system read them: 'Alt+Left, Left'."""
    return ", ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys)


class ActionSet(QObject):
    """All actions of one window. `run` is called with the id of the triggered action."""

    triggered = Signal(object)  # str: id

    def __init__(self, run: Callable[[str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._group = QActionGroup(self)
        self._group.setExclusionPolicy(QActionGroup.ExclusionPolicy.None_)
        self._reasons: dict[str, str] = {}
        """Why each action cannot be carried out, as last told; '' when it can."""
        self._actions = {spec.id: self._make(spec) for spec in CATALOGUE}
        self._group.triggered.connect(self._trigger)
        self.update(Situation())

    def __getitem__(self, action_id: str) -> QAction:
        """The action with this id. KeyError on a typo."""
        return self._actions[action_id]

    @property
    def actions(self) -> Mapping[str, QAction]:
        """All actions by id, in the order of the catalogue."""
        return self._actions

    def update(self, now: Situation) -> None:
        """Enable what can be done now; the tooltip of everything else says why it cannot.

        Runs at every step through requests: only what has changed is touched.
        """
        reasons = {need: reason(need, now) for need in Need}
        for spec in CATALOGUE:
            why = next((reasons[need] for need in spec.needs if reasons[need]), "")
            if self._reasons.get(spec.id) == why:
                continue
            self._reasons[spec.id] = why
            action = self._actions[spec.id]
            action.setEnabled(not why)
            keys = key_text(spec.all_keys)
            tip = f"{spec.tooltip} ({keys})" if keys else spec.tooltip
            if why:
                tip = f"{spec.name} is not possible: {why[0].lower()}{why[1:]}"
            action.setToolTip(tip)
            action.setStatusTip(why or spec.tooltip)

    def set_checked(self, action_id: str, checked: bool) -> None:
        """Show a checkable action as on or off, without triggering it."""
        self._actions[action_id].setChecked(checked)

    def set_text(self, action_id: str, text: str) -> None:
        """Say more than the catalogue: 'Undo truncate to half (messages 2–41)'."""
        self._actions[action_id].setText(text)

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self._group)
        action.setObjectName(spec.id)
        action.setData(spec.id)
        action.setCheckable(spec.checkable)
        action.setIconVisibleInMenu(not spec.checkable)  # an icon there would hide the tick
        action.setShortcuts([QKeySequence(key) for key in spec.keys])
        if spec.id == "app.quit":
            action.setMenuRole(QAction.MenuRole.QuitRole)
        elif spec.id == "app.preferences":
            action.setMenuRole(QAction.MenuRole.PreferencesRole)
        elif spec.id == "help.about":
            action.setMenuRole(QAction.MenuRole.AboutRole)
        else:
            action.setMenuRole(QAction.MenuRole.NoRole)
        return action

    def _trigger(self, action: QAction) -> None:
        action_id = str(action.data())
        self._run(action_id)
        self.triggered.emit(action_id)
