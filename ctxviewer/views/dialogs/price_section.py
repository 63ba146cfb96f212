"""Which prices count: the built-in table, or a file of the user's own before it. What is no table is told at once."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ctxviewer.domain.errors import CtxError
from ctxviewer.services.settings import PRICES, Settings
from ctxviewer.tokens.price_file import bundled_prices, load_prices
from ctxviewer.views import theme
from ctxviewer.views.dialogs.parts import plain_label


class PriceSection(QWidget):
    """Edits the setting directly."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        look = theme.current()
        self.path = QLineEdit(self)
        self.path.setReadOnly(True)
        self.path.setPlaceholderText(
            f"only the built-in table, as of {max(row.as_of for row in bundled_prices().rows)}"
        )
        self.path.setToolTip("A TOML file with prices of your own; its rows count before the built-in ones")
        self._choose = QPushButton("&Choose…", self)
        self._choose.setToolTip("Choose a price table of your own")
        self._clear = QPushButton("&Use the built-in", self)
        self._clear.setToolTip("Forget the file; it stays where it is")
        for button in (self._choose, self._clear):
            button.setAutoDefault(False)
        self._choose.clicked.connect(self._ask)
        self._clear.clicked.connect(self._reset)
        self.told = plain_label("", "warning", self)
        row = QHBoxLayout()
        row.setSpacing(look.px(6))
        row.addWidget(self.path, 1)
        row.addWidget(self._choose)
        row.addWidget(self._clear)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(look.px(4))
        layout.addLayout(row)
        layout.addWidget(self.told)
        settings.changed.connect(self._show)
        self._show()

    def use(self, path: str) -> None:
        """Take a file; one that is no price table is refused with its reason."""
        if not path:
            return
        try:
            load_prices(Path(path))
        except CtxError as error:
            self._say(error)
            return
        self._settings.set(PRICES, path)

    def _say(self, error: CtxError | None) -> None:
        words = " ".join(part for part in (error.sentence, error.hint, error.place) if part) if error else ""
        self.told.setText(words.encode("utf-16", "replace").decode("utf-16"))
        self.told.setVisible(bool(words))

    def _show(self, _field: object = None) -> None:
        chosen = self._settings.get(PRICES)
        self.path.setText(chosen)
        self._clear.setEnabled(bool(chosen))
        problem: CtxError | None = None
        if chosen:
            try:
                load_prices(Path(chosen))
            except CtxError as error:
                problem = error
        self._say(problem)

    def _reset(self, _checked: bool = False) -> None:
        self._settings.reset(PRICES)

    def _ask(self, _checked: bool = False) -> None:
        dialog = QFileDialog(self, "Choose a price table")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(["Price tables (*.toml)", "All files (*)"])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.use)
        dialog.open()
