"""Message above, request below, with a handle between them."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from ctxviewer.domain.view import TextMode
from ctxviewer.models.details import MessageDetails, RequestDetails
from ctxviewer.views import theme
from ctxviewer.views.details.message import MessagePane
from ctxviewer.views.details.request import RequestPane

QWIDGETSIZE_MAX = 16_777_215
"""Qt's own largest height, which its Python names do not have."""


class DetailsView(QWidget):
    """The content of the details dock."""

    text_mode_chosen = Signal(object)
    """TextMode."""
    copy_wanted = Signal(object)
    """str, for the clipboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("look", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Details")
        self.message = MessagePane(self)
        self.request = RequestPane(self)
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.message)
        self._splitter.addWidget(self.request)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 1)
        self._sizes = [540, 460]
        self._bare = True
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._splitter)
        theme.current().changed.connect(self._settle)
        self._settle()
        self.message.text_mode_chosen.connect(self.text_mode_chosen)
        self.message.copy_wanted.connect(self.copy_wanted)

    def set_message(self, details: MessageDetails | None) -> None:
        """The chosen message, None = none is chosen: its pane then takes no more room than its sentence."""
        self.message.set_details(details)
        bare = details is None
        if bare is not self._bare:
            if bare:
                self._sizes = self._splitter.sizes()
            self._bare = bare
            self._settle()

    def _settle(self) -> None:
        self._splitter.handle(1).setEnabled(not self._bare)
        self.message.setMaximumHeight(self.message.bare_height() if self._bare else QWIDGETSIZE_MAX)
        if not self._bare:
            self._splitter.setSizes(self._sizes)

    def set_text_mode(self, mode: TextMode) -> None:
        """The form in which texts are shown everywhere."""
        self.message.set_text_mode(mode)

    def set_request(self, details: RequestDetails | None) -> None:
        """The chosen request or the next one, None = no task is open."""
        self.request.set_details(details)

    def save_state(self) -> QByteArray:
        """Where the handle stands, for the remembered layout."""
        return self._splitter.saveState()

    def restore_state(self, state: QByteArray) -> bool:
        """Put the handle back; False when `state` is none of ours."""
        return self._splitter.restoreState(state)
