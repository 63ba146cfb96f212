"""The window as the actions see it: dialogs that ask, and small movements of focus and panels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
)

from ctxviewer.actions.handlers import Handlers
from ctxviewer.domain.errors import RefusedError
from ctxviewer.domain.plan import Plan
from ctxviewer.engine.facts import MessageQuestion, Question, TextQuestion
from ctxviewer.models.preview import first_touched
from ctxviewer.services.answers.desk import Answers
from ctxviewer.services.changes import Changes, Preview, Refusal, what_changed
from ctxviewer.services.counting import Counting
from ctxviewer.services.discovery import Discovery
from ctxviewer.services.exporting import Exporting
from ctxviewer.services.key_keeper import KeyKeeper
from ctxviewer.services.paths import is_dir
from ctxviewer.services.session import Session, SnapshotChange
from ctxviewer.services.settings import Settings
from ctxviewer.views.details.reading import ReadingText
from ctxviewer.views.dialogs.consent import ConsentDialog
from ctxviewer.views.dialogs.help import HelpDialog
from ctxviewer.views.dialogs.preferences import PreferencesDialog
from ctxviewer.views.dialogs.preview import PreviewDialog
from ctxviewer.views.dialogs.rollback import RollbackDialog
from ctxviewer.views.export_desk import ExportDesk

if TYPE_CHECKING:
    from ctxviewer.views.main_window import MainWindow

SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 100_000_000


class WindowFront(QObject):
    """Implements `actions.front.Front` for one MainWindow."""

    def __init__(
        self,
        window: MainWindow,
        *,
        session: Session,
        changes: Changes,
        counting: Counting,
        discovery: Discovery,
        settings: Settings,
        handlers: Handlers,
        answers: Answers,
        exporting: Exporting,
        data_folder: Path,
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._changes, self._counting = window, session, changes, counting
        self._discovery, self._settings, self._handlers, self._answers = discovery, settings, handlers, answers
        self._exports = ExportDesk(exporting, session, settings, self)
        self._data_folder = data_folder
        self._preview: PreviewDialog | None = None
        self._dialog: QDialog | None = None
        self._answer: Callable[[Path], None] | None = None
        self._consented: Callable[[], None] | None = None
        self._run_lab: Callable[[str], None] | None = None
        self._add_lab: Callable[[QMenu, int], None] | None = None
        self._keeper: KeyKeeper | None = None
        changes.previewed.connect(self._fill_preview)
        changes.refused.connect(self._tell_refusal)
        changes.committed.connect(self._finish_preview)
        counting.counts_changed.connect(self._fill_tokens)
        session.snapshot_changed.connect(self._tell_change)
        session.task_changed.connect(self._leave_task)

    @property
    def preview_dialog(self) -> PreviewDialog | None:
        """The preview that is open."""
        return self._preview

    @property
    def dialog(self) -> QDialog | None:
        """The small dialog that is open, if any."""
        return self._dialog

    # -- questions ----------------------------------------------------------------------------------------------

    def ask_folder(self, answer: Callable[[Path], None]) -> None:
        """Let the user choose a folder."""
        dialog = QFileDialog(self._window, "Open a task, or a folder that holds tasks")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._answer = answer
        dialog.fileSelected.connect(self._give_folder)
        self._show(dialog)

    def ask_window(self) -> None:
        """Let the user type the size of the model window."""
        dialog = QInputDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Model window")
        dialog.setLabelText("Context window of the model, in tokens, for this task:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(SMALLEST_WINDOW, LARGEST_WINDOW)
        dialog.setIntStep(1_000)
        dialog.setIntValue(self._session.window or 200_000)
        dialog.intValueSelected.connect(self._handlers.set_window)
        self._show(dialog)

    def ask_request(self) -> None:
        """Let the user type the number of a request."""
        count = self._session.request_count
        dialog = QInputDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Go to request")
        dialog.setLabelText(f"Number of the request, 1 to {count:,}:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(1, max(1, count))
        dialog.setIntValue((self._session.request if self._session.request is not None else count - 1) + 1)
        dialog.intValueSelected.connect(self._go_to)
        self._show(dialog)

    def show_export(self) -> None:
        """Let the user choose what to export, in which form and where to."""
        dialog = self._exports.dialog(self._window)
        dialog.folder_wanted.connect(self.show_folder)
        self._show(dialog)

    def ask_checkpoint(self) -> None:
        """Let the user choose a point to roll back to."""
        snapshot = self._session.snapshot
        if snapshot is not None:
            dialog = RollbackDialog(snapshot.checkpoints, self._window)
            dialog.chosen.connect(self._handlers.rollback)
            self._show(dialog)

    def ask_consent(self, title: str, reasons: tuple[str, ...], answer: Callable[[], None]) -> None:
        """Let the user consent to a write to a task that looks open."""
        dialog = ConsentDialog(title, reasons, self._window)
        self._consented = answer
        dialog.accepted.connect(self._give_consent)
        self._show(dialog)

    def _give_consent(self) -> None:
        answer, self._consented = self._consented, None
        if answer is not None:
            answer()

    def _show(self, dialog: QDialog) -> None:
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.finished.connect(self._forget_dialog)
        self._dialog = dialog
        dialog.open()

    def _forget_dialog(self, _result: int = 0) -> None:
        self._dialog = None

    def _give_folder(self, path: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and path:
            answer(Path(path))

    def _go_to(self, number: int) -> None:
        self._session.select_request(number - 1)

    # -- the preview --------------------------------------------------------------------------------------------

    def show_plan(self, plan: Plan) -> None:
        """Open the preview of a plan; its files are worked out meanwhile."""
        snapshot = self._session.snapshot
        if snapshot is None:
            return
        self._close_preview()
        dialog = PreviewDialog(plan, self._data_folder, self._window)
        dialog.applied.connect(self._apply)
        dialog.again_wanted.connect(self._preview_again)
        dialog.rejected.connect(self._drop_plan)
        dialog.kept.connect(self._reveal_change)
        dialog.finished.connect(self._forget_preview)
        self._preview = dialog
        self._counting.count_plan(plan)
        self._fill_tokens()
        dialog.open()
        self._changes.prepare(snapshot, plan)

    def _reveal_change(self) -> None:
        """The user wants to look at the what-if: choose the first message that it touches."""
        plan = self._session.plan
        if plan is not None and (first := first_touched(plan)) is not None:
            self._session.select_message(first)

    def _fill_preview(self, preview: Preview) -> None:
        if self._preview is not None:
            self._preview.set_preview(preview)

    def _fill_tokens(self, _table: object = None) -> None:
        if self._preview is not None:
            plan = self._preview.plan
            self._preview.set_tokens(self._counting.sums(plan.before), self._counting.sums(plan.after))

    def show_cost(self, plan: Plan | None, words: str) -> None:
        """Say in the open preview what its plan costs at the provider's cache."""
        if self._preview is not None and self._preview.plan is plan:
            self._preview.set_cost(words)

    def _apply(self, consent: bool) -> None:
        if self._preview is not None and self._preview.preview is not None:
            self._changes.commit(self._preview.preview, consent_open=consent)

    def _preview_again(self) -> None:
        plan = self._session.plan
        if plan is not None:
            self.show_plan(plan)
        else:
            self._close_preview()

    def _tell_change(self, change: SnapshotChange) -> None:
        dialog = self._preview
        if dialog is not None and change.previous is not None and dialog.plan.generation < change.snapshot.generation:
            base = dialog.preview.snapshot if dialog.preview is not None else change.previous
            dialog.set_stale(what_changed(base, change.snapshot))

    def _tell_refusal(self, refusal: Refusal) -> None:
        if self._preview is not None and refusal.preview is self._preview.preview:
            self._preview.set_failed(refusal.error)

    def _finish_preview(self, _outcome: object) -> None:
        if self._preview is not None and self._preview.writing:
            self._preview.finish()
            self._session.preview(None)
            self._session.go_live()

    def _leave_task(self, _task: object) -> None:
        self._close_preview()

    def _drop_plan(self) -> None:
        self._session.preview(None)

    def _forget_preview(self, _result: int = 0) -> None:
        dialog, self._preview = self._preview, None
        if dialog is not None:
            dialog.deleteLater()

    def _close_preview(self) -> None:
        if self._preview is not None:
            self._preview.finish()

    # -- looking ------------------------------------------------------------------------------------------------

    def show_find(self) -> None:
        """Open the find bar, with the selected words if there are some."""
        self._window.stage.find_bar.open_bar()

    def find_next(self, *, backwards: bool) -> None:
        """Go to the next place; without words, ask for them."""
        self._window.find_step(backwards=backwards)

    def focus_filter(self) -> None:
        """Put the cursor into the filter of the task list."""
        self._window.show_panel("tasks")
        self._window.task_list.focus_filter()

    def focus_pane(self, step: int) -> None:
        """Move the focus by so many panes."""
        self._window.focus_pane(step)

    def toggle_panel(self, name: str) -> None:
        """Show or hide a panel."""
        self._window.toggle_panel(name)

    def ask(self, name: str) -> None:
        """Show a panel that answers a question, and put the focus into it."""
        self._window.show_panel(name)
        panels = self._window.panels
        if name == "facts":
            panels.facts.ask()
        else:
            panels.widget(name).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def track_selection(self) -> None:
        """Pin the selected words, or the chosen message, as a fact."""
        question = self._asked_about()
        self._window.show_panel("facts")
        self._answers.tracking.track(question)

    def _asked_about(self) -> Question:
        focus = QApplication.focusWidget()
        if isinstance(focus, ReadingText) and focus.textCursor().hasSelection():
            return TextQuestion(focus.selected_text())
        conversation = self._window.stage.conversation
        extent = conversation.selection.extent
        if extent is not None and not conversation.selection.is_empty:
            if extent.first.row != extent.last.row:
                raise RefusedError("The selection goes over several messages.", hint="Select words of one message.")
            return TextQuestion(conversation.selected_text())
        message = self._session.message
        if message is None:
            raise RefusedError("No words are selected.", hint="Select words in the conversation, or choose a message.")
        return MessageQuestion(message)

    def mark_reference(self) -> None:
        """Make the shown request the one that others are compared with."""
        if self._session.request is not None:
            self._answers.comparing.mark(self._session.request)
            self._window.show_panel("difference")

    def attach_lab(
        self, run: Callable[[str], None], add_to_menu: Callable[[QMenu, int], None], keeper: KeyKeeper
    ) -> None:
        """Who carries out commands of the lab, what it adds to the menu of a message, and who keeps a model's key."""
        self._run_lab, self._add_lab, self._keeper = run, add_to_menu, keeper

    def run_lab(self, command: str) -> None:
        """Carry out a command of the lab."""
        if self._run_lab is not None:
            self._run_lab(command)

    def add_lab(self, menu: QMenu, message: int) -> None:
        """What the lab offers for a message."""
        if self._add_lab is not None:
            self._add_lab(menu, message)

    def reset_layout(self) -> None:
        """Put every panel back."""
        self._window.reset_layout()

    def fold_hidden(self, *, folded: bool) -> None:
        """Fold or unfold every stretch that is not sent."""
        self._window.stage.conversation.fold_all(folded)

    def copy_selection(self) -> None:
        """Copy what is selected where the focus is, else in the conversation."""
        focus = QApplication.focusWidget()
        if isinstance(focus, QLineEdit | QPlainTextEdit | QTextEdit):
            focus.copy()
        else:
            self._window.stage.conversation.copy()

    def select_all(self) -> None:
        """Select the whole conversation, or the text where the focus is."""
        focus = QApplication.focusWidget()
        if isinstance(focus, QLineEdit | QPlainTextEdit | QTextEdit):
            focus.selectAll()
        else:
            self._window.stage.conversation.select_all()

    def copy_text(self, text: str) -> None:
        """Put text on the clipboard."""
        QGuiApplication.clipboard().setText(text.encode("utf-16", "replace").decode("utf-16"))

    def show_folder(self, folder: Path) -> None:
        """Open the system's file manager at a folder; nothing else is ever handed to the desktop."""
        if is_dir(folder):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def show_preferences(self) -> None:
        """Open the preferences."""
        dialog = PreferencesDialog(self._settings, self._data_folder, self._keeper, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.folder_wanted.connect(self.show_folder)
        dialog.folder_added.connect(self._add_folder)
        dialog.folder_removed.connect(self._discovery.forget_folder)
        self._show(dialog)

    def show_help(self, page: str) -> None:
        """Open a page of help beside the window."""
        HelpDialog(page, self._window).show()

    def escape(self) -> bool:
        """Close the find bar, else let the conversation drop its selection. True if there was something."""
        stage = self._window.stage
        if stage.find_bar.isVisible():
            stage.find_bar.close_bar()
            return True
        return stage.conversation.escape()

    def quit(self) -> None:
        """Close the window."""
        self._window.close()

    def _add_folder(self, path: Path) -> None:
        self._discovery.open_path(path, remember=True)
