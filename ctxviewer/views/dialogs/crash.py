"""The one dialog for bugs: what happened, with a report to copy. The same bug opens it once."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from ctxviewer.models.preview import Tone
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import Banner, drawable


class CrashDialog(QDialog):
    """Says that a bug was met, and shows the report. The window stays usable."""

    copy_wanted = Signal(object)  # str

    def __init__(self, report: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        look = theme.current()
        self._report = report
        self.setWindowTitle("Something went wrong")
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        banner = Banner(
            "ctxviewer has met a bug. Your tasks are untouched: a write is done wholly or not at all.",
            Tone.ERROR,
            "You can go on working. Please send the report below; it has no text of any conversation.",
            self,
        )
        self._text = QPlainTextEdit(drawable(report), self)
        self._text.setReadOnly(True)
        self._text.setProperty("look", "framed")
        self._text.setFont(look.fixed_font(size=12))
        self._text.setAccessibleName("Report")
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        copy = QPushButton("Copy the report", self)
        copy.clicked.connect(self._copy)
        box.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
        box.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(16), look.px(14), look.px(16), look.px(12))
        layout.setSpacing(look.px(10))
        layout.addWidget(banner)
        layout.addWidget(self._text, 1)
        layout.addWidget(box)
        self.resize(look.px(680), look.px(420))

    @property
    def report(self) -> str:
        """The text of the report."""
        return self._report

    def add(self, report: str) -> None:
        """Another bug while the dialog is open: its report goes below."""
        self._report = f"{self._report}\n\n{report}"
        self._text.setPlainText(drawable(self._report))

    def _copy(self, _checked: bool = False) -> None:
        self.copy_wanted.emit(self._report)
