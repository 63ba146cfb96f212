"""The preview of a plan: everything that would change, before anything is written. Apply is the only way to a write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.plan import Plan
from ctxviewer.models.preview import Section, Tone, file_lines, looks_open_sentence, number_rows, sections
from ctxviewer.services.changes import Preview
from ctxviewer.views import theme
from ctxviewer.views.dialogs.consent import ADVICE, CONSENT
from ctxviewer.views.dialogs.parts import Banner, SectionBox, drawable, plain_label, rule

if TYPE_CHECKING:  # numpy loads with it
    from ctxviewer.tokens import TokenSums


class PreviewDialog(QDialog):
    """Shows one plan. It never writes: `applied` asks for it, with whether the user consented to an open task."""

    applied = Signal(object)  # bool: consent to a task that looks open
    kept = Signal()
    """Closed, but the what-if stays on the screen."""
    again_wanted = Signal()
    """The task has changed: work it out anew."""

    def __init__(self, plan: Plan, backup: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plan = plan
        self._backup = backup
        self._preview: Preview | None = None
        self._stale = False
        self._writing = False
        look = theme.current()
        self.setWindowTitle(drawable(plan.title))
        self.setAccessibleName(f"Preview: {plan.title}")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumSize(look.px(560), look.px(420))
        self.resize(look.px(680), look.px(600))
        self._content = QWidget(self)
        self._content.setProperty("look", "ground")
        self._body = QVBoxLayout(self._content)
        self._body.setContentsMargins(look.px(20), look.px(16), look.px(20), look.px(16))
        self._body.setSpacing(look.px(14))
        self.title_label = plain_label(plan.title, "title", self._content)
        self.title_label.setFont(look.ui_font(bold=True, size=17))
        self._body.addWidget(self.title_label)
        self._banners = QVBoxLayout()
        self._banners.setSpacing(look.px(8))
        self._body.addLayout(self._banners)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(look.px(20))
        self._grid.setVerticalSpacing(look.px(4))
        self._body.addLayout(self._grid)
        self._cost = plain_label("", "muted", self._content)
        self._cost.hide()
        self._body.addWidget(self._cost)
        self._sections = [SectionBox(section, self._content) for section in sections(plan)]
        for box in self._sections:
            self._body.addWidget(box)
        self._files = QVBoxLayout()
        self._body.addLayout(self._files)
        self._body.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._content)
        scroll.setAccessibleName("What would change")
        self._consent = QCheckBox(CONSENT, self)
        self._consent.setAccessibleName("Write although the task looks open")
        self._consent.setToolTip(
            "Second consent: the agent keeps an open task in memory and overwrites what is written"
        )
        self._consent.toggled.connect(self._settle)
        self._consent.hide()
        self._apply = QPushButton("Apply", self)
        self._apply.setProperty("look", "primary")
        self._apply.setAutoDefault(False)
        self._apply.clicked.connect(self._ask_apply)
        self._keep = QPushButton("Look at it first", self)
        self._keep.setToolTip("Close this, and see the what-if in the conversation and the graph")
        self._keep.setAutoDefault(False)
        self._keep.clicked.connect(self._keep_looking)
        self._cancel = QPushButton("Cancel", self)
        self._cancel.setAutoDefault(False)
        self._cancel.setToolTip("Write nothing and drop the what-if (Esc)")
        self._cancel.clicked.connect(self.reject)
        self._status = plain_label("", "muted", self)
        self._status.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(look.px(20), look.px(10), look.px(20), look.px(14))
        buttons.setSpacing(look.px(8))
        buttons.addWidget(self._status, 1)
        for button in (self._apply, self._keep, self._cancel):
            buttons.addWidget(button)
        consent_row = QHBoxLayout()
        consent_row.setContentsMargins(look.px(20), look.px(8), look.px(20), 0)
        consent_row.addWidget(self._consent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scroll, 1)
        layout.addWidget(rule(self))
        layout.addLayout(consent_row)
        layout.addLayout(buttons)
        if plan.refusal:
            self._say(Banner(plan.refusal, Tone.ERROR, "Nothing can be written.", self._content))
        elif plan.effects.writes_nothing:
            self._say(Banner("There is nothing to write: the task is already so.", Tone.PLAIN, "", self._content))
        self.set_tokens(None, None)
        self._settle()
        self._cancel.setFocus()

    @property
    def plan(self) -> Plan:
        """What is previewed."""
        return self._plan

    @property
    def preview(self) -> Preview | None:
        """The bytes that Apply would write, None until they are worked out."""
        return self._preview

    @property
    def writing(self) -> bool:
        """True between the click on Apply and the outcome."""
        return self._writing

    def finish(self) -> None:
        """Close from outside: it was written, or another preview takes its place. Nothing is emitted but `finished`."""
        self._writing = False
        self.done(QDialog.DialogCode.Accepted)

    @property
    def can_apply(self) -> bool:
        """True when a click on Apply writes."""
        return self._apply.isEnabled() and not self._stale

    @property
    def consent_box(self) -> QCheckBox:
        """The second consent; hidden unless the task looks open."""
        return self._consent

    @property
    def apply_button(self) -> QPushButton:
        """Apply, or *Preview again* once the task has changed."""
        return self._apply

    @property
    def keep_button(self) -> QPushButton:
        """Closes the dialog and keeps the what-if."""
        return self._keep

    @property
    def told(self) -> tuple[str, ...]:
        """Everything that the sections, numbers and banners say, for tests and screen readers."""
        labels = [label.text() for label in self._content.findChildren(QLabel) if label.text()]
        lines = [line for box in self._content.findChildren(SectionBox) for line in box.shown_lines]
        return (*labels, *lines)

    def set_tokens(self, before: TokenSums | None, after: TokenSums | None) -> None:
        """Fill in the numbers; sums may come later than the dialog."""
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for column, words in enumerate(("", "before", "after", "")):
            if words:
                self._number(0, column, words, "heading")
        for row, numbers in enumerate(number_rows(self._plan, before, after), 1):
            self._number(row, 0, numbers.label, "muted")
            self._number(row, 1, numbers.before, "number")
            self._number(row, 2, numbers.after, "number")
            self._number(row, 3, numbers.change, "muted")
        self._grid.setColumnStretch(4, 1)

    def set_cost(self, words: str) -> None:
        """What the plan costs at the provider's cache, in words; '' = not known."""
        self._cost.setText(drawable(words))
        self._cost.setVisible(bool(words))

    def set_preview(self, preview: Preview) -> None:
        """The bytes are known: say which files would be written, and whether the task looks open."""
        if preview.plan is not self._plan or self._preview is not None:
            return
        self._preview = preview
        change = preview.change
        if change is not None:
            box = SectionBox(Section("Files that will be written", file_lines(preview.snapshot, change)), self._content)
            self._files.addWidget(box)
            where = (f"Copies of them go to {self._backup}.", "Undo in the Edit menu brings everything back.")
            self._files.addWidget(SectionBox(Section("Backup", where), self._content))
            if change.looks_open:
                self._say(
                    Banner(
                        looks_open_sentence(change.looks_open),
                        Tone.WARNING,
                        ADVICE,
                        self._content,
                    )
                )
                self._consent.show()
        self._settle()

    def set_stale(self, changes: tuple[str, ...]) -> None:
        """The task has changed since: say how, and offer to work it out again instead of applying."""
        if self._writing:
            return
        self._stale = True
        what = "; ".join(changes)
        sentence = (
            f"The task has changed since this preview: {what}." if what else "The task has changed since this preview."
        )
        self._say(
            Banner(sentence, Tone.WARNING, "Nothing was written. Preview again to see the new effect.", self._content)
        )
        self._settle()

    def set_failed(self, error: CtxError) -> None:
        """The change was refused or failed: say why, in place."""
        self._writing = False
        self._say(Banner(error.sentence, Tone.ERROR, error.hint, self._content))
        self._settle()

    def reject(self) -> None:
        """Cancel: nothing is written. Not possible while writing."""
        if not self._writing:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """The window's own close button cancels."""
        if self._writing:
            event.ignore()
        else:
            super().closeEvent(event)

    def _number(self, row: int, column: int, text: str, look: str) -> None:
        label = plain_label(text, look, self._content)
        label.setWordWrap(False)
        label.setSizePolicy(label.sizePolicy().Policy.Preferred, label.sizePolicy().Policy.Preferred)
        if column in {1, 2}:
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(label, row, column)

    def _say(self, banner: Banner) -> None:
        self._banners.addWidget(banner)

    def _settle(self, *_news: object) -> None:
        why = ""
        if self._plan.refusal:
            why = self._plan.refusal
        elif self._plan.effects.writes_nothing:
            why = "There is nothing to write."
        elif self._writing:
            why = "Writing…"
        elif self._stale:
            why = ""
        elif self._preview is None:
            why = "Working out the files…"
        elif not self._consent.isHidden() and not self._consent.isChecked():
            why = "Tick the box above to write to a task that looks open."
        self._apply.setEnabled(not why)
        self._apply.setText("Preview again" if self._stale else "Apply")
        self._apply.setToolTip(why or ("Work it out anew" if self._stale else "Write these files now"))
        self._status.setText("" if self._plan.refusal else why)
        for button in (self._keep, self._cancel):
            button.setEnabled(not self._writing)
        self._keep.setEnabled(not self._writing and not self._plan.refusal)

    def _ask_apply(self, _checked: bool = False) -> None:
        if self._stale:
            self.again_wanted.emit()
        elif self._preview is not None and self._preview.change is not None:
            self._writing = True
            self._settle()
            self.applied.emit(not self._consent.isHidden() and self._consent.isChecked())

    def _keep_looking(self, _checked: bool = False) -> None:
        self.kept.emit()
        self.accept()
