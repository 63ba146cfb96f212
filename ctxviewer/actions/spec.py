"""What a row of the catalogue says about one thing that a user can do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Menu(StrEnum):
    """Menus of the window, in order."""

    TASK = "&Task"
    EDIT = "&Edit"
    VIEW = "&View"
    REQUEST = "&Request"
    ASK = "As&k"
    ACT = "&Act"
    LAB = "&Lab"
    HELP = "&Help"


class Need(StrEnum):
    """What must be so before an action can be carried out. `needs.reason` says why it is not."""

    TASK = "task"
    READABLE = "readable"
    """A task whose API history can be read."""
    CHECKABLE = "checkable"
    """A task that rules can be held against: its API history can be read, or at least its requests."""
    REQUESTS = "requests"
    EARLIER = "earlier"
    """There is a request before the one that is shown."""
    LATER = "later"
    """There is something newer than what is shown."""
    PINNED = "pinned"
    EVENT_BEFORE = "event-before"
    EVENT_AFTER = "event-after"
    MESSAGE = "message"
    CHECKPOINT = "checkpoint"
    PLAN = "plan"
    WRITABLE_PLAN = "writable-plan"
    IDLE = "idle"
    """No change is being written."""
    UNDO = "undo"
    REDO = "redo"
    STEP_BACK = "step-back"
    """A step of the lab's plan is done."""
    STEP_ON = "step-on"
    """A step of the lab's plan is not done."""
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One thing that a user can do. Menus, toolbar, tooltips, the shortcut page and the README come from these rows."""

    id: str
    text: str
    """As in the menu, with `&` before the mnemonic and `…` when something is asked first."""
    menu: Menu
    tooltip: str
    """One sentence: what it does."""
    keys: tuple[str, ...] = ()
    """Portable key sequences that work everywhere in the window."""
    stage_keys: tuple[str, ...] = ()
    """Key sequences that work only while the conversation, the graph or the stepper has the focus."""
    needs: tuple[Need, ...] = ()
    icon: str = ""
    """A word of `views.icons`, '' = none."""
    checkable: bool = False
    destructive: bool = False
    """It leads to a write, after a preview."""
    submenu: str = ""
    """Title of the submenu that holds it, '' = directly in the menu."""
    separator: bool = False
    """A line above it."""

    @property
    def name(self) -> str:
        """The text without mnemonic and dots."""
        return self.text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")

    @property
    def all_keys(self) -> tuple[str, ...]:
        """All key sequences, the ones for everywhere first."""
        return (*self.keys, *self.stage_keys)
