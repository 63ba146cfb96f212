"""The second consent: writing to a task that looks open in its editor."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ctxviewer.models.preview import Tone, looks_open_sentence
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import Banner, drawable, plain_label

CONSENT = "The task is closed in its editor, or its changes may be lost. Write all the same."
ADVICE = "An open task is kept in memory there and overwrites what is written here. Close it first."


class ConsentDialog(QDialog):
    """Accepted only with the box ticked; *Cancel* has the focus."""

    def __init__(self, title: str, reasons: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        look = theme.current()
        self.setWindowTitle(drawable(title))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = plain_label(title, "title", self)
        heading.setFont(look.ui_font(bold=True, size=15))
        self.box = QCheckBox(CONSENT, self)
        self.box.setAccessibleName("Write although the task looks open")
        self.box.setToolTip("Second consent")
        self.write_button = QPushButton("Write", self)
        self.write_button.setProperty("look", "primary")
        self.write_button.setAutoDefault(False)
        self.write_button.clicked.connect(self.accept)
        cancel = QPushButton("Cancel", self)
        cancel.setAutoDefault(False)
        cancel.setFocus()
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setSpacing(look.px(8))
        buttons.addStretch(1)
        buttons.addWidget(self.write_button)
        buttons.addWidget(cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(20), look.px(16), look.px(20), look.px(14))
        layout.setSpacing(look.px(12))
        layout.addWidget(heading)
        layout.addWidget(Banner(looks_open_sentence(reasons), Tone.WARNING, ADVICE, self))
        layout.addWidget(self.box)
        layout.addLayout(buttons)
        self.setMinimumWidth(look.px(520))
        self.box.toggled.connect(self._settle)
        self._settle()

    def _settle(self, _ticked: bool = False) -> None:
        self.write_button.setEnabled(self.box.isChecked())
        self.write_button.setToolTip("" if self.box.isChecked() else "Tick the box first.")
