"""Opens the export dialog for the open task, takes the pictures, and passes on how far an export is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject
from PySide6.QtWidgets import QWidget

from ctxviewer.domain.errors import RefusedError
from ctxviewer.services.exporting import PICTURES, Exporting, Format, Order
from ctxviewer.services.paths import is_dir
from ctxviewer.services.session import Session
from ctxviewer.services.settings import EXPORT_FOLDER, Settings
from ctxviewer.views.dialogs.export import ExportDialog

if TYPE_CHECKING:
    from ctxviewer.views.main_window import MainWindow


class ExportDesk(QObject):
    """Between the dialog and the service."""

    def __init__(self, exporting: Exporting, session: Session, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._exporting, self._session, self._settings = exporting, session, settings
        self._window: MainWindow | None = None

    def dialog(self, window: MainWindow) -> ExportDialog:
        """A dialog for the open task, to be shown by the caller. RefusedError while nothing of it is there."""
        snapshot, timeline = self._session.snapshot, self._session.timeline
        if snapshot is None or timeline is None:
            raise RefusedError("The task is still being read.", hint="Try again in a moment.")
        self._window = window
        last = self._settings.get(EXPORT_FOLDER)
        dialog = ExportDialog(
            snapshot.task.task_id,
            Path(last) if last and is_dir(last) else Path.home(),
            request=self._session.request,
            events=timeline.events,
            readable=snapshot.has_messages and len(snapshot.messages) > 0,
            parent=window,
        )
        dialog.ordered.connect(self._start)
        dialog.cancelled.connect(self._exporting.cancel)
        dialog.folder_chosen.connect(self._keep_folder)
        self._exporting.progressed.connect(dialog.show_step)
        self._exporting.finished.connect(dialog.show_done)
        self._exporting.failed.connect(dialog.show_failed)
        return dialog

    def _start(self, order: Order) -> None:
        if order.format in PICTURES and self._window is not None:
            widget = self._window.panels.usage if order.format is Format.GRAPH else self._window
            order = replace(order, picture=_png(widget))
        self._exporting.start(order)

    def _keep_folder(self, folder: Path) -> None:
        self._settings.set(EXPORT_FOLDER, str(folder))


def _png(widget: QWidget) -> bytes:
    """A widget as it looks, as a PNG."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    buffer.close()
    return bytes(data.data())
