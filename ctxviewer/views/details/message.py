"""The chosen message: where it stands, its text in three forms, its updates and repairs, its JSON."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from ctxviewer.domain.projection import Standing
from ctxviewer.domain.view import TextMode
from ctxviewer.models.details import MessageDetails
from ctxviewer.models.happenings import UpdateRow, UpdatesModel
from ctxviewer.models.listing import joined, stamp
from ctxviewer.models.numbers import counted
from ctxviewer.models.segments import Body, Section
from ctxviewer.models.visible import for_clipboard
from ctxviewer.views import theme
from ctxviewer.views.details.parts import wrapped
from ctxviewer.views.details.reading import ReadingPane
from ctxviewer.views.details.rows import RowList
from ctxviewer.views.empty import EmptyState

_STANDING_ICONS: Final = {Standing.SENT: "sent", Standing.NOT_SENT: "hidden", Standing.LATER: "later"}
_MODES: Final = (
    (TextMode.AS_SENT, "as sent", "The text that the model receives"),
    (TextMode.AS_STORED, "as stored", "The text in the file"),
    (TextMode.DIFFERENCE, "difference", "What was replaced: − stored, + sent"),
)
_ROWS: Final = 4
"""Updates that are seen without scrolling."""


class MessagePane(QWidget):
    """Shows a MessageDetails."""

    text_mode_chosen = Signal(object)
    """TextMode: as sent, as stored or difference was clicked. The pane waits for `set_text_mode`."""
    copy_wanted = Signal(object)
    """str, for the clipboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._details: MessageDetails | None = None
        self._mode = TextMode.AS_SENT
        self._json = False
        self._update: UpdateRow | None = None
        self._title = wrapped("", "title", self)
        self._icon = QLabel(self)
        self._standing = wrapped("", "muted", self)
        self._repairs = wrapped("", "muted", self)
        self._buttons: dict[TextMode, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._modes = QHBoxLayout()
        self._modes.setSpacing(0)
        for mode, words, tip in _MODES:
            button = self._segment(words, tip)
            button.clicked.connect(self._mode_clicked)
            self._buttons[mode] = button
        self._json_button = self._segment("JSON", "The message as it stands in the file; only white space is added")
        self._json_button.clicked.connect(self._json_clicked)
        self._modes.addStretch(1)
        self._copy = QToolButton(self)
        self._copy.setToolTip("Copy the text that is shown, exactly")
        self._copy.setAccessibleName("Copy the text that is shown")
        self._copy.clicked.connect(self._copy_clicked)
        self._modes.addWidget(self._copy)
        self._caption = wrapped("", "muted", self)
        self._reading = ReadingPane("Text of the message", self)
        self._reading.copy_wanted.connect(self._pass_copy)
        self._updates_title = wrapped("", "heading", self)
        self._updates = UpdatesModel(self)
        self._list = RowList("Updates of the message", self)
        self._list.setModel(self._updates)
        self._list.row_chosen.connect(self._update_chosen)
        self._empty = EmptyState("Choose a message to see its text as sent and as stored.", parent=self)
        self._page = QWidget(self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)
        self._column = QVBoxLayout(self._page)
        self._where = QHBoxLayout()
        self._where.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._where.addWidget(self._standing, 1)
        self._column.addWidget(self._title)
        self._column.addLayout(self._where)
        self._column.addWidget(self._repairs)
        self._column.addLayout(self._modes)
        self._column.addWidget(self._caption)
        self._column.addWidget(self._reading, 1)
        self._column.addWidget(self._updates_title)
        self._column.addWidget(self._list)
        theme.current().changed.connect(self._restyle)
        self._restyle()

    def _segment(self, words: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("look", "segment")
        button.setText(words)
        button.setToolTip(tip)
        button.setAccessibleName(words)
        button.setCheckable(True)
        self._group.addButton(button)
        self._modes.addWidget(button)
        return button

    def bare_height(self) -> int:
        """How high the pane is when no message is chosen: its sentence on two lines, with some air."""
        return 2 * self.fontMetrics().lineSpacing() + theme.current().px(24)

    # -- inputs

    def set_details(self, details: MessageDetails | None) -> None:
        """Show a message, or none. The same message again (the task grew) keeps what is looked at."""
        same = details is not None and self._details is not None and details.number == self._details.number
        self._details = details
        if not same or details is None or self._update not in details.updates:
            self._update = None
        self._stack.setCurrentWidget(self._page if details is not None else self._empty)
        self._show()

    def set_text_mode(self, mode: TextMode) -> None:
        """Show the text in this form."""
        if mode is not self._mode:
            self._mode = mode
            self._update = None
            self._show()

    @property
    def shown_text(self) -> str:
        """The whole text that is shown, as it would be copied."""
        return self._body().text()

    # -- inside

    def _body(self) -> Body:
        details = self._details
        if details is None:
            return Body(())
        if self._update is not None:
            return Body((Section(self._update.update.text),))
        if self._json:
            return Body((Section(details.json_text()),))
        return details.body(self._mode)

    def _show(self) -> None:
        details = self._details
        if details is None:
            self._reading.set_body(Body(()))
            return
        look = theme.current()
        self._title.setText(for_clipboard(details.title))
        side = look.px(16)
        tone = "muted" if details.standing is Standing.SENT else "event"
        if details.standing is Standing.LATER:
            tone = "faint"
        self._icon.setPixmap(look.icon(_STANDING_ICONS[details.standing], tone).pixmap(QSize(side, side)))
        self._standing.setText(joined(details.standing_words, details.tokens_words))
        self._repairs.setText(for_clipboard("\n".join(f"repaired: {words}" for words in details.repairs)))
        self._repairs.setVisible(bool(details.repairs))
        for mode, button in self._buttons.items():
            button.setChecked(mode is self._mode and not self._json and self._update is None)
        difference = self._buttons[TextMode.DIFFERENCE]
        difference.setEnabled(details.changed or self._mode is TextMode.DIFFERENCE)
        tip = _MODES[2][2] if details.changed else "This message is sent as it is stored"
        difference.setToolTip(tip)
        self._json_button.setChecked(self._json and self._update is None)
        body = self._body()
        caption = self._caption_words(details) or body.remark
        self._caption.setText(caption)
        self._caption.setVisible(bool(caption))
        self._reading.set_body(body)
        self._show_updates(details)

    def _caption_words(self, details: MessageDetails) -> str:
        if self._update is not None:
            update = self._update.update
            when = stamp(update.timestamp)
            return joined(f"text of the update of {when}" if when else "text of an update", f"block {update.block}")
        if self._json:
            return f"{len(details.raw):,} bytes in the file; every token is unchanged"
        return ""

    def _show_updates(self, details: MessageDetails) -> None:
        count = len(details.updates)
        self._updates.set_items(details.updates)
        self._updates_title.setText(counted(count, "update"))
        self._updates_title.setVisible(count > 0)
        self._list.setVisible(count > 0)
        if count:
            self._list.setFixedHeight(self._list.sizeHintForRow(0) * min(count, _ROWS))
        if self._update is None:
            self._list.clearSelection()

    def _mode_clicked(self) -> None:
        chosen = next(mode for mode, button in self._buttons.items() if button.isChecked())
        self._json, self._update = False, None
        if chosen is self._mode:
            self._show()
        else:
            self.text_mode_chosen.emit(chosen)
            self._show()

    def _json_clicked(self) -> None:
        self._json, self._update = True, None
        self._show()

    def _update_chosen(self, row: int) -> None:
        self._update = self._updates.item(row)
        self._uncheck()
        self._show()

    def _uncheck(self) -> None:
        """No form of the text is shown: an exclusive group gives its button back only when it is opened."""
        self._group.setExclusive(False)
        for button in (*self._buttons.values(), self._json_button):
            button.setChecked(False)
        self._group.setExclusive(True)

    def _copy_clicked(self) -> None:
        self._pass_copy(self.shown_text)

    def _pass_copy(self, text: str) -> None:
        self.copy_wanted.emit(for_clipboard(text))

    def _restyle(self) -> None:
        look = theme.current()
        self._column.setContentsMargins(look.px(12), look.px(8), look.px(8), look.px(4))
        self._column.setSpacing(look.px(4))
        self._where.setSpacing(look.px(6))
        self._copy.setIcon(look.icon("copy"))
        self._show()
