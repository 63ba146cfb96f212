"""What the handlers ask of whoever shows the window. Tests pass a few lines instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ctxviewer.domain.plan import Plan


class Front(Protocol):
    """The window, as seen from the actions. Everything that asks is answered through a callback: nothing blocks."""

    def ask_folder(self, answer: Callable[[Path], None]) -> None:
        """Let the user choose a folder."""
        ...

    def ask_window(self) -> None:
        """Let the user set the model window of the open task."""
        ...

    def ask_request(self) -> None:
        """Let the user type the number of a request."""
        ...

    def show_export(self) -> None:
        """Let the user choose what to export, in which form and where to."""
        ...

    def ask_checkpoint(self) -> None:
        """Let the user choose a point to roll back to; it ends in `Handlers.rollback`."""
        ...

    def ask_consent(self, title: str, reasons: tuple[str, ...], answer: Callable[[], None]) -> None:
        """Let the user consent to a write to a task that looks open; `answer` is called only then."""
        ...

    def show_plan(self, plan: Plan) -> None:
        """Show the preview of a plan, from where it can be applied."""
        ...

    def show_find(self) -> None:
        """Open the find bar."""
        ...

    def find_next(self, *, backwards: bool) -> None:
        """Go to the next place in the order of the text, or the one before."""
        ...

    def focus_filter(self) -> None:
        """Put the cursor into the filter of the task list."""
        ...

    def focus_pane(self, step: int) -> None:
        """Move the focus by so many panes."""
        ...

    def toggle_panel(self, name: str) -> None:
        """Show or hide a panel."""
        ...

    def ask(self, name: str) -> None:
        """Show a panel that answers a question, and put the focus into it."""
        ...

    def track_selection(self) -> None:
        """Pin the selected words, or the chosen message, as a fact."""
        ...

    def mark_reference(self) -> None:
        """Make the shown request the one that others are compared with."""
        ...

    def run_lab(self, command: str) -> None:
        """Carry out a command of the lab by its name, one of `handlers.LAB_COMMANDS`."""
        ...

    def reset_layout(self) -> None:
        """Put every panel back."""
        ...

    def fold_hidden(self, *, folded: bool) -> None:
        """Fold or unfold every stretch that is not sent."""
        ...

    def copy_selection(self) -> None:
        """Copy what is selected where the focus is."""
        ...

    def select_all(self) -> None:
        """Select the whole conversation."""
        ...

    def copy_text(self, text: str) -> None:
        """Put text on the clipboard."""
        ...

    def show_folder(self, folder: Path) -> None:
        """Open the system's file manager."""
        ...

    def show_preferences(self) -> None:
        """Open the preferences."""
        ...

    def show_help(self, page: str) -> None:
        """Open a page: 'shortcuts', 'legend' or 'about'."""
        ...

    def escape(self) -> bool:
        """Esc was pressed on the stage: close what is open there. True if there was something."""
        ...

    def quit(self) -> None:
        """Close the window."""
        ...
