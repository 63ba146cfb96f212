"""Notices at the foot of the conversation: what, where, what to do. Never modal, and never in the way of reading."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.catalogue import BY_ID
from ctxviewer.domain.finding import Severity
from ctxviewer.services.notices import Notice, Notices
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import plain_label

SHOWN = 3
"""Notices that are shown at once; the newest ones win."""
_ICONS = {
    Severity.INFO: ("info", "accent"),
    Severity.WARNING: ("warning", "warning"),
    Severity.ERROR: ("error", "error"),
}


class NoticeRow(QFrame):
    """One notice."""

    dismissed = Signal(object)  # str: identity of the notice
    copy_wanted = Signal(object)  # str

    def __init__(self, notice: Notice, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notice = notice
        self.setProperty("look", "notice")
        self.setAccessibleName(f"{notice.severity}: {notice.sentence}")
        self.setAccessibleDescription(notice.hint)
        look = theme.current()
        icon = QLabel(self)
        side = look.px(16)
        icon.setPixmap(look.icon(*_ICONS[notice.severity]).pixmap(QSize(side, side)))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(plain_label(notice.sentence, "", self))
        if notice.hint:
            words.addWidget(plain_label(notice.hint, "muted", self))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(look.px(10), look.px(5), look.px(5), look.px(5))
        layout.setSpacing(look.px(8))
        layout.addWidget(icon, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(words, 1)
        layout.setAlignment(words, Qt.AlignmentFlag.AlignVCenter)
        if notice.action in BY_ID:
            action = actions[notice.action]
            layout.addWidget(self._button(BY_ID[notice.action].name, action.trigger, f"{BY_ID[notice.action].tooltip}"))
        layout.addWidget(self._button("Copy details", self._copy, "Copy this notice with everything known about it"))
        close = QToolButton(self)
        close.setIcon(look.icon("close"))
        close.setToolTip("Dismiss this notice")
        close.setAccessibleName("Dismiss this notice")
        close.clicked.connect(self._dismiss)
        layout.addWidget(close)

    @property
    def notice(self) -> Notice:
        """What it shows."""
        return self._notice

    def _button(self, words: str, slot: Callable[..., object], tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setProperty("look", "link")
        button.setText(words)
        button.setToolTip(tip)
        button.setAccessibleName(words)
        button.clicked.connect(slot)
        return button

    def _copy(self, _checked: bool = False) -> None:
        notice = self._notice
        self.copy_wanted.emit("\n".join(part for part in (notice.sentence, notice.hint, notice.details) if part))

    def _dismiss(self, _checked: bool = False) -> None:
        self.dismissed.emit(self._notice.identity)


class NoticeBar(QWidget):
    """The newest notices, one below the other."""

    copy_wanted = Signal(object)  # str

    def __init__(self, notices: Notices, actions: ActionSet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Notices")
        self._notices, self._actions = notices, actions
        self._rows: list[NoticeRow] = []
        self._more = QLabel(self)
        self._more.setProperty("look", "muted")
        self._layout = QVBoxLayout(self)
        self._layout.addWidget(self._more)
        notices.changed.connect(self._show)
        theme.current().changed.connect(self._rebuild)
        self._rebuild()

    @property
    def shown(self) -> tuple[Notice, ...]:
        """Notices on the screen, newest first."""
        return tuple(row.notice for row in self._rows)

    def _rebuild(self) -> None:
        look = theme.current()
        self._layout.setContentsMargins(look.px(8), look.px(6), look.px(8), look.px(6))
        self._layout.setSpacing(look.px(4))
        self._clear()
        self._show(self._notices.standing)

    def _show(self, standing: tuple[Notice, ...]) -> None:
        wanted = tuple(reversed(standing))[:SHOWN]
        if wanted != self.shown:
            self._clear()
            for number, notice in enumerate(wanted):
                row = NoticeRow(notice, self._actions, self)
                row.dismissed.connect(self._dismiss)
                row.copy_wanted.connect(self._pass_copy)
                self._layout.insertWidget(number, row)
                self._rows.append(row)
        hidden = len(standing) - len(wanted)
        self._more.setText(f"and {hidden:,} older notice{'s' if hidden != 1 else ''}")
        self._more.setVisible(hidden > 0)
        self.setVisible(bool(wanted))

    def _clear(self) -> None:
        for row in self._rows:
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows.clear()

    def _dismiss(self, identity: str) -> None:
        self._notices.clear(identity)

    def _pass_copy(self, text: str) -> None:
        self.copy_wanted.emit(text)
