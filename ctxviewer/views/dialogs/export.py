"""Asks what to export, in which form, and where to; says how far it is and what was masked. Writes nothing itself."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.events import Event
from ctxviewer.models.export_choices import FORMATS, FormatWords, event_words, file_name
from ctxviewer.models.preview import Tone
from ctxviewer.services.exporting import Exported, Format, Order
from ctxviewer.services.paths import is_dir
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import Banner, drawable, plain_label, rule


class ExportDialog(QDialog):
    """Collects an `Order`. The owner starts it and tells the outcome."""

    ordered = Signal(object)  # Order, without a picture
    cancelled = Signal()
    """The export that is under way is to stop."""
    folder_wanted = Signal(object)  # Path: show it in the file manager
    folder_chosen = Signal(object)  # Path: where the next export should go too

    def __init__(
        self,
        task_id: str,
        folder: Path,
        *,
        request: int | None,
        events: tuple[Event, ...],
        readable: bool,
        parent: QWidget | None = None,
    ) -> None:
        """`request`: the shown request, None = live. `folder`: where the file goes unless the user says otherwise."""
        super().__init__(parent)
        self._task_id, self._folder, self._request, self._events = task_id, folder, request, events
        self._typed = False
        """The user gave the file a name of its own."""
        self._agreed: Path | None = None
        """The file that may be written over, because the user was asked."""
        self._working = False
        self._outcome: Exported | None = None
        self._banner: Banner | None = None
        look = theme.current()
        self.setWindowTitle("Export")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.format = QComboBox(self)
        self.format.setAccessibleName("Format")
        for words in FORMATS:
            if readable or words.key not in {"html", "markdown", "json", "bundle"}:
                self.format.addItem(words.name, words.key)
        self._meaning = plain_label("", "muted", self)
        self.whole = QRadioButton("the whole task, as it stands now", self)
        self.one = QRadioButton("", self)
        self.one.setText(f"request {request + 1:,} as sent" if request is not None else "the shown request as sent")
        self.one.setEnabled(request is not None)
        self.one.setToolTip("" if request is not None else "Choose a request first: the newest state is shown now.")
        self._scope = QButtonGroup(self)
        for button in (self.whole, self.one):
            self._scope.addButton(button)
        (self.one if request is not None else self.whole).setChecked(True)
        self.event_box = QComboBox(self)
        self.event_box.setAccessibleName("Event that the bug report shows")
        self.event_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.event_box.setMinimumContentsLength(24)
        for event in events:
            self.event_box.addItem(drawable(event_words(event)))
        here = [place for place, event in enumerate(events) if request is not None and event.request == request]
        self.event_box.setCurrentIndex(here[-1] if here else len(events) - 1)
        self.mask_secrets = QCheckBox("Mask what looks like a secret", self)
        self.mask_secrets.setChecked(True)
        self.mask_secrets.setToolTip("Keys, tokens and passwords are replaced by marks; equal ones get the same mark")
        self.path = QLineEdit(self)
        self.path.setAccessibleName("File to write")
        self._browse = QPushButton("Browse…", self)
        self._browse.setAutoDefault(False)
        self._browse.setToolTip("Choose where the file goes")
        self._status = plain_label("", "warning", self)
        self._bar = QProgressBar(self)
        self._bar.setAccessibleName("Progress of the export")
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 0)
        self._bar.hide()
        self._export = QPushButton("Export", self)
        self._export.setProperty("look", "primary")
        self._export.setDefault(True)
        self._show_folder = QPushButton("Show the folder", self)
        self._show_folder.setAutoDefault(False)
        self._show_folder.hide()
        self._close = QPushButton("Close", self)
        self._close.setAutoDefault(False)
        grid = QGridLayout()
        grid.setHorizontalSpacing(look.px(12))
        grid.setVerticalSpacing(look.px(8))
        self._scope_label, self._event_label = QLabel("What", self), QLabel("Event", self)
        for row, (label, widget) in enumerate(
            (
                (QLabel("Format", self), self.format),
                (QLabel("", self), self._meaning),
                (self._scope_label, self.whole),
                (QLabel("", self), self.one),
                (self._event_label, self.event_box),
                (QLabel("", self), self.mask_secrets),
            )
        ):
            label.setProperty("look", "muted")
            grid.addWidget(label, row, 0)
            grid.addWidget(widget, row, 1)
        where = QHBoxLayout()
        where.setSpacing(look.px(6))
        where.addWidget(self.path, 1)
        where.addWidget(self._browse)
        to = QLabel("To", self)
        to.setProperty("look", "muted")
        grid.addWidget(to, 6, 0)
        grid.addLayout(where, 6, 1)
        grid.setColumnStretch(1, 1)
        self._top = QVBoxLayout()
        self._top.setContentsMargins(look.px(20), look.px(16), look.px(20), look.px(12))
        self._top.setSpacing(look.px(10))
        self._top.addLayout(grid)
        self._top.addWidget(self._bar)
        self._top.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(look.px(20), look.px(10), look.px(20), look.px(14))
        buttons.setSpacing(look.px(8))
        buttons.addWidget(self._status, 1)
        for push in (self._show_folder, self._export, self._close):
            buttons.addWidget(push)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(self._top, 1)
        layout.addWidget(rule(self))
        layout.addLayout(buttons)
        self.resize(look.px(580), look.px(360))
        self.format.currentIndexChanged.connect(self._change_format)
        self._scope.buttonToggled.connect(self._settle)
        self.event_box.currentIndexChanged.connect(self._settle)
        self.path.textEdited.connect(self._note_typed)
        self._browse.clicked.connect(self._choose_file)
        self._export.clicked.connect(self._order)
        self._show_folder.clicked.connect(self._want_folder)
        self._close.clicked.connect(self.reject)
        self._settle()

    # -- what is chosen

    @property
    def words(self) -> FormatWords:
        """The chosen format."""
        key = self.format.currentData()
        return next(words for words in FORMATS if words.key == key)

    @property
    def target(self) -> Path:
        """The file that would be written."""
        return Path(self.path.text().strip()).expanduser()

    @property
    def status(self) -> str:
        """Why nothing can be exported yet, '' when it can."""
        return self._status.text()

    @property
    def told(self) -> str:
        """What the banner says, '' when there is none."""
        return self._banner.accessibleName() if self._banner is not None else ""

    @property
    def export_button(self) -> QPushButton:
        """Starts the export."""
        return self._export

    def _order(self) -> None:
        words, target = self.words, self.target
        request = self._request if words.of_a_request and self.one.isChecked() else None
        event = self.event_box.currentIndex() if words.key == "bundle" else None
        order = Order(
            Format(words.key),
            target,
            request,
            event,
            mask=self.mask_secrets.isChecked(),
            replace=self._agreed is not None and self._agreed == target,
        )
        self._working, self._outcome = True, None
        self._say(None)
        self.folder_chosen.emit(target.parent)
        self._settle()
        self.ordered.emit(order)

    # -- what the owner tells

    def show_step(self, step: tuple[int, int]) -> None:
        """How far it is: done, total; total 0 = nobody knows."""
        done, total = step
        self._bar.setRange(0, total)
        self._bar.setValue(done)

    def show_done(self, exported: Exported) -> None:
        """It was written."""
        self._working, self._outcome, self._agreed = False, exported, None
        notes = " ".join(exported.notes)
        self._say(Banner(exported.sentence, Tone.PLAIN, notes, self))
        self._settle()
        self._close.setFocus()

    def show_failed(self, error: CtxError) -> None:
        """It was not written: say why, in place."""
        self._working = False
        hint = error.hint.replace(", or repeat with --force", ", or choose it with Browse… to write over it")
        self._say(Banner(error.sentence, Tone.ERROR, hint, self))
        self._settle()

    def reject(self) -> None:
        """Close; an export that is under way stops and leaves nothing behind."""
        if self._working:
            self._working = False
            self.cancelled.emit()
        super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window's own close button is Close."""
        if self._working:
            self._working = False
            self.cancelled.emit()
        super().closeEvent(event)

    # -- inside

    def _say(self, banner: Banner | None) -> None:
        if self._banner is not None:
            self._banner.hide()
            self._banner.deleteLater()
        self._banner = banner
        if banner is not None:
            self._top.insertWidget(2, banner)

    def _settle(self, *_news: object) -> None:
        words = self.words
        self._meaning.setText(words.meaning)
        for widget in (self._scope_label, self.whole, self.one):
            widget.setVisible(words.of_a_request)
        for part in (self._event_label, self.event_box):
            part.setVisible(words.key == "bundle")
        self.mask_secrets.setVisible(words.has_texts)
        if not self._typed:
            request = self._request if self.one.isChecked() else None
            name = file_name(self._task_id, words, request, self.event_box.currentIndex())
            self.path.setText(drawable(str(self._folder / name)))
        why = ""
        if self._working:
            why = ""
        elif words.key == "bundle" and not self._events:
            why = "The task has no event, so there is nothing for a bug report to show."
        elif not self.path.text().strip():
            why = "Name a file."
        elif not is_dir(self.target.parent):
            why = f"There is no folder {self.target.parent}."
        self._status.setText(drawable(why))
        self._export.setEnabled(not why and not self._working)
        self._export.setToolTip(why or "Write the file")
        self._bar.setVisible(self._working)
        self._close.setText("Cancel" if self._working else "Close")
        self._show_folder.setVisible(self._outcome is not None)
        for control in (self.format, self.whole, self.event_box, self.mask_secrets, self.path, self._browse):
            control.setEnabled(not self._working)
        self.one.setEnabled(not self._working and self._request is not None)

    def _change_format(self, _place: int) -> None:
        """A name of the user's own gets the ending of the format."""
        if self._typed and self.target.suffix in {words.suffix for words in FORMATS}:
            self.path.setText(drawable(str(self.target.with_suffix(self.words.suffix))))
        if not self._working:
            self._outcome = None
            self._say(None)
        self._settle()

    def _note_typed(self, _text: str) -> None:
        self._typed = True
        self._settle()

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, "Export to")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setFileMode(QFileDialog.FileMode.AnyFile)
        dialog.setDefaultSuffix(self.words.suffix.removeprefix("."))
        dialog.selectFile(str(self.target))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.choose_file)
        dialog.open()

    def choose_file(self, path: str) -> None:
        """The user chose a file, and agreed that it is written over if it exists."""
        if path:
            self._typed = True
            self.path.setText(drawable(path))
            self._agreed = self.target
            self._settle()

    def _want_folder(self) -> None:
        if self._outcome is not None:
            self.folder_wanted.emit(self._outcome.target.parent)
