"""Lists beside the conversation: events, checkpoints, findings. They say what the user wants and do nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from ctxviewer.domain.finding import Finding
from ctxviewer.domain.request import Checkpoint
from ctxviewer.engine.events import Event
from ctxviewer.engine.plans import can_repair
from ctxviewer.models.happenings import CheckpointsModel, EventsModel, FindingsModel, finding_text, finding_words
from ctxviewer.models.numbers import counted
from ctxviewer.models.visible import for_clipboard
from ctxviewer.views import theme
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.details.rows import RowList
from ctxviewer.views.empty import EmptyState


class Panel(QWidget):
    """A list, or a sentence where there is none, with a line of buttons below."""

    def __init__(self, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self.setAccessibleName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.list = RowList(name, self)
        self.empty = EmptyState(parent=self)
        self.stack = QStackedWidget(self)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.list)
        self.buttons = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.stack, 1)
        self._place = QVBoxLayout()
        """Where a subclass puts what stands between list and buttons."""
        layout.addLayout(self._place)
        layout.addLayout(self.buttons)
        theme.current().changed.connect(self.restyle)
        self.restyle()

    def restyle(self) -> None:
        """Take sizes from the theme."""
        look = theme.current()
        margin = (look.px(8), look.px(6), look.px(8), look.px(8)) if self.buttons.count() else (0, 0, 0, 0)
        self.buttons.setContentsMargins(*margin)
        self.buttons.setSpacing(look.px(6))

    def show_rows(self, count: int, sentence: str, icon: str, action: str = "") -> None:
        """The list, or the sentence when it has no rows."""
        if count:
            self.stack.setCurrentWidget(self.list)
        else:
            self.empty.set_words(sentence, action, icon)
            self.stack.setCurrentWidget(self.empty)


class EventsPanel(Panel):
    """What changed the context, in order; choosing one chooses its request."""

    request_wanted = Signal(object)
    """int or None (live, for an event after the last request)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Events", parent)
        self.model = EventsModel(self)
        self.list.setModel(self.model)
        self.list.row_chosen.connect(self._chosen)
        self.set_events(())

    def set_events(self, events: tuple[Event, ...], *, open_task: bool = False) -> None:
        """Events of the open task, in order of time."""
        self.model.set_items(events)
        sentence = "Nothing changed the context of this task: every request sent all of it."
        self.show_rows(
            len(events), sentence if open_task else "Open a task to see what changed its context.", "truncate"
        )

    def _chosen(self, row: int) -> None:
        self.request_wanted.emit(self.model.item(row).request)


class CheckpointsPanel(Panel):
    """Points to roll back to; choosing one chooses its request, the button starts the roll-back."""

    request_wanted = Signal(object)
    """int: the last request before the point."""
    rollback_wanted = Signal(object)
    """Checkpoint."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Checkpoints", parent)
        self._refusal = ""
        self._open = False
        self.model = CheckpointsModel()
        self.model.setParent(self)
        self.list.setModel(self.model)
        self.list.row_chosen.connect(self._chosen)
        self.list.selectionModel().currentChanged.connect(self._settle)
        self.model.modelReset.connect(self._settle)
        self._everything = QCheckBox("every entry", self)
        self._everything.setToolTip(
            "Also show entries that are no checkpoints; the conversation can go back to them too"
        )
        self._everything.setAccessibleName("Show every entry")
        self._everything.toggled.connect(self._set_everything)
        self._back = QPushButton("Roll back to…", self)
        self._back.setAccessibleName("Roll back to the highlighted point")
        self._back.clicked.connect(self._roll_back)
        self.buttons.addWidget(self._everything)
        self.buttons.addStretch(1)
        self.buttons.addWidget(self._back)
        self.restyle()
        self.set_checkpoints(())

    def set_checkpoints(self, points: tuple[Checkpoint, ...], *, open_task: bool = False) -> None:
        """All points of the open task, oldest first."""
        self._open = open_task
        self.model.set_points(points)
        self._settle()

    def set_refusal(self, reason: str) -> None:
        """Why nothing can be rolled back now, '' when it can."""
        self._refusal = reason
        self._settle()

    def _set_everything(self, on: bool) -> None:
        self.model.set_with_messages(on)
        self._settle()

    def _settle(self, *_news: object) -> None:
        sentence = "Open a task to see the points it can be rolled back to."
        if self._open:
            sentence = "This task has no checkpoints."
            if self.model.left_out:
                sentence += f" {counted(self.model.left_out, 'other entry').replace('entrys', 'entries')} can be shown."
        self.show_rows(self.model.rowCount(), sentence, "checkpoint")
        self._everything.setEnabled(self.model.left_out > 0 or self.model.with_messages)
        row = self.list.current_row()
        reason = self._refusal or ("" if row is not None else "Highlight a point first.")
        self._back.setEnabled(not reason)
        self._back.setToolTip(reason or "Show what would go and what would come back; nothing is written yet")

    def _chosen(self, row: int) -> None:
        request = self.model.item(row).request
        if request is not None:
            self.request_wanted.emit(request)

    def _roll_back(self) -> None:
        row = self.list.current_row()
        if row is not None:
            self.rollback_wanted.emit(self.model.item(row))


class FindingsPanel(Panel):
    """What is wrong or odd; choosing one goes to its message or request, what it means stands below the list."""

    message_wanted = Signal(object)
    """int."""
    request_wanted = Signal(object)
    """int."""
    repair_wanted = Signal(object)
    """str: the code of a finding that has a safe repair."""
    copy_wanted = Signal(object)
    """str, for the clipboard."""

    _made = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Findings", parent)
        self._refusal = ""
        self.model = FindingsModel(self)
        self.list.setModel(self.model)
        self.list.row_chosen.connect(self._chosen)
        self.list.selectionModel().currentChanged.connect(self._settle)
        self.model.modelReset.connect(self._settle)
        self._meaning = wrapped("", "muted", self)
        self._scroll = QScrollArea(self)
        self._scroll.setWidget(self._meaning)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setAccessibleName("What the finding means")
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._place.addWidget(self._scroll)
        self._copy = QPushButton("Copy details", self)
        self._copy.setAccessibleName("Copy details")
        self._copy.clicked.connect(self._copy_clicked)
        self._repair = QPushButton("Repair…", self)
        self._repair.setAccessibleName("Repair what the highlighted finding names")
        self._repair.clicked.connect(self._repair_clicked)
        self.buttons.addStretch(1)
        self.buttons.addWidget(self._copy)
        self.buttons.addWidget(self._repair)
        self._made = True
        self.restyle()
        self.set_findings(())

    def restyle(self) -> None:
        """Take sizes from the theme."""
        super().restyle()
        if self._made:
            look = theme.current()
            self._meaning.setContentsMargins(look.px(12), look.px(6), look.px(8), look.px(2))
            self._scroll.setFixedHeight(6 * self.fontMetrics().lineSpacing())

    def set_findings(self, findings: tuple[Finding, ...], *, open_task: bool = False) -> None:
        """Findings of the open task."""
        self.model.set_findings(findings)
        sentence = "Nothing odd was found in this task."
        self.show_rows(len(findings), sentence if open_task else "Open a task to see what is odd about it.", "apply")
        self._settle()

    def set_refusal(self, reason: str) -> None:
        """Why nothing can be repaired now, '' when it can."""
        self._refusal = reason
        self._settle()

    def _settle(self, *_news: object) -> None:
        count = self.model.rowCount()
        finding = self._current()
        self._copy.setVisible(count > 0)
        self._copy.setToolTip("Copy this finding" if finding is not None else f"Copy all {count:,}")
        self._repair.setVisible(any(can_repair(one) for one in self.model.items))
        why = self._refusal
        if finding is None:
            why = "Highlight a finding first."
        elif not can_repair(finding):
            why = "There is no safe repair for this one; it says what can be done."
        self._repair.setEnabled(not why)
        self._repair.setToolTip(why or "Show what would be written; nothing is written yet")
        self._scroll.setVisible(finding is not None)
        self._meaning.setText(for_clipboard(finding_words(finding)) if finding is not None else "")

    def _current(self) -> Finding | None:
        row = self.list.current_row()
        return self.model.item(row) if row is not None and row < self.model.rowCount() else None

    def _chosen(self, row: int) -> None:
        finding = self.model.item(row)
        if finding.request is not None:
            self.request_wanted.emit(finding.request)
        if finding.message is not None:
            self.message_wanted.emit(finding.message)

    def _repair_clicked(self) -> None:
        finding = self._current()
        if finding is not None:
            self.repair_wanted.emit(finding.code)

    def _copy_clicked(self) -> None:
        finding = self._current()
        chosen = self.model.items if finding is None else (finding,)
        self.copy_wanted.emit(for_clipboard("\n\n".join(finding_text(one) for one in chosen)))
