"""Preferences: look, folders that are looked through, and where backups are kept. Everything takes effect at once."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from ctxviewer.services.key_keeper import KeyKeeper
from ctxviewer.services.settings import (
    EXTRA_ROOTS,
    PROPORTIONAL,
    REOPEN,
    SCALE,
    SCALE_MAX,
    SCALE_MIN,
    SCALE_STEP,
    THEME,
    THEMES,
    WINDOWS,
    Settings,
)
from ctxviewer.sources.own_data import VARIABLE
from ctxviewer.views import theme
from ctxviewer.views.dialogs.model_section import ModelSection
from ctxviewer.views.dialogs.parts import plain_label, rule
from ctxviewer.views.dialogs.price_section import PriceSection

THEME_NAMES = dict(zip(THEMES, ("As the system", "Light", "Dark", "High contrast"), strict=True))


class PreferencesDialog(QDialog):
    """Edits Settings directly; *Close* only closes."""

    folder_added = Signal(object)  # Path
    folder_removed = Signal(object)  # str
    folder_wanted = Signal(object)  # Path: to be shown in the file manager

    def __init__(
        self, settings: Settings, data_folder: Path, keeper: KeyKeeper | None = None, parent: QWidget | None = None
    ) -> None:
        """`data_folder`: where backups go in this run. `keeper`: of the key of a model; None = no model can be set."""
        super().__init__(parent)
        self._settings = settings
        self._data_folder = data_folder
        look = theme.current()
        self.setWindowTitle("Preferences")
        self.setMinimumWidth(look.px(560))
        form = QFormLayout()
        form.setHorizontalSpacing(look.px(16))
        form.setVerticalSpacing(look.px(8))
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self._theme = QComboBox(self)
        for key, name in THEME_NAMES.items():
            self._theme.addItem(name, key)
        self._theme.currentIndexChanged.connect(self._set_theme)
        form.addRow(self._name("&Theme", self._theme), self._theme)
        self._scale = QSpinBox(self)
        self._scale.setRange(SCALE_MIN, SCALE_MAX)
        self._scale.setSingleStep(SCALE_STEP)
        self._scale.setSuffix(" %")
        self._scale.valueChanged.connect(self._set_scale)
        form.addRow(self._name("Si&ze of words", self._scale), self._scale)
        self._proportional = QCheckBox("&Proportional text in messages", self)
        self._proportional.setToolTip("Show messages in the font of the window instead of the fixed one")
        self._proportional.toggled.connect(self._set_proportional)
        form.addRow("", self._proportional)
        self._reopen = QCheckBox("Open the &last task at the start", self)
        self._reopen.setToolTip("Show the task that was open when the window was closed")
        self._reopen.toggled.connect(self._set_reopen)
        form.addRow("", self._reopen)

        self._folders = QListWidget(self)
        self._folders.setFrameShape(QListWidget.Shape.StyledPanel)
        self._folders.setMaximumHeight(look.px(110))
        self._folders.itemSelectionChanged.connect(self._settle)
        add, self._remove = QPushButton("&Add…", self), QPushButton("&Remove", self)
        for button in (add, self._remove):
            button.setAutoDefault(False)
        add.setToolTip("Add a folder that holds tasks")
        add.clicked.connect(self._ask_folder)
        self._remove.clicked.connect(self._remove_folder)
        side = QVBoxLayout()
        side.addWidget(add)
        side.addWidget(self._remove)
        side.addStretch(1)
        folders = QHBoxLayout()
        folders.addWidget(self._folders, 1)
        folders.addLayout(side)

        self._data = QLineEdit(str(data_folder), self)
        self._data.setReadOnly(True)
        self._data.setToolTip(f"Set {VARIABLE} in the environment to keep them elsewhere")
        show = QPushButton("&Show", self)
        show.setAutoDefault(False)
        show.setToolTip("Open this folder in the file manager")
        show.clicked.connect(self._show_data)
        data = QHBoxLayout()
        data.addWidget(self._data, 1)
        data.addWidget(show)

        self._windows = plain_label("", "muted", self)
        self._forget_windows = QPushButton("&Forget", self)
        self._forget_windows.setAutoDefault(False)
        self._forget_windows.setToolTip("Use the window that is found for every task")
        self._forget_windows.clicked.connect(self._reset_windows)
        windows = QHBoxLayout()
        windows.addWidget(self._windows, 1)
        windows.addWidget(self._forget_windows)

        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(20), look.px(16), look.px(20), look.px(14))
        layout.setSpacing(look.px(8))
        layout.addLayout(form)
        for heading, buddy, content in (
            ("Folders that are looked t&hrough, besides the usual places", self._folders, folders),
            ("&Backups and journal", self._data, data),
            ("Model windows that you have set", self._forget_windows, windows),
        ):
            layout.addSpacing(look.px(4))
            layout.addWidget(rule(self))
            layout.addWidget(self._name(heading, buddy, look="heading"))
            layout.addLayout(content)
        self.prices = PriceSection(settings, self)
        layout.addSpacing(look.px(4))
        layout.addWidget(rule(self))
        layout.addWidget(self._name("Pr&ices of models", self.prices.path, look="heading"))
        layout.addWidget(self.prices)
        self.model: ModelSection | None = None
        if keeper is not None:
            self.model = ModelSection(settings, keeper, self)
            layout.addSpacing(look.px(4))
            layout.addWidget(rule(self))
            layout.addWidget(self._name("Summaries by a &model, for the lab", self.model.address, look="heading"))
            layout.addWidget(self.model)
            self.model.grew.connect(self._fit)
        layout.addSpacing(look.px(8))
        layout.addWidget(box)
        settings.changed.connect(self._show)
        self._show()
        self._fit()

    def _fit(self) -> None:
        """As high as its sentences need at its width."""
        width = max(self.width(), self.minimumWidth())
        layout = self.layout()
        tall = layout is not None and layout.hasHeightForWidth()
        needed = layout.heightForWidth(width) if layout is not None and tall else self.sizeHint().height()
        self.setMinimumHeight(needed)
        self.resize(width, needed)

    @property
    def folders(self) -> tuple[str, ...]:
        """Folders in the list."""
        return tuple(self._folders.item(row).text() for row in range(self._folders.count()))

    def _name(self, text: str, buddy: QWidget, look: str = "") -> QLabel:
        label = QLabel(text, self)
        label.setBuddy(buddy)
        buddy.setAccessibleName(text.replace("&", ""))
        if look:
            label.setProperty("look", look)
        return label

    def _show(self, _field: object = None) -> None:
        settings = self._settings
        for widget in (self._theme, self._scale, self._proportional, self._reopen):
            widget.blockSignals(True)
        self._theme.setCurrentIndex(self._theme.findData(settings.get(THEME)))
        self._scale.setValue(settings.get(SCALE))
        self._proportional.setChecked(settings.get(PROPORTIONAL))
        self._reopen.setChecked(settings.get(REOPEN))
        for widget in (self._theme, self._scale, self._proportional, self._reopen):
            widget.blockSignals(False)
        folders = settings.get(EXTRA_ROOTS)
        if self.folders != folders:
            self._folders.clear()
            self._folders.addItems(folders)
        count = len(settings.get(WINDOWS))
        self._windows.setText(
            f"{count} task{'s' if count != 1 else ''}" if count else "None: every window is as found."
        )
        self._forget_windows.setEnabled(count > 0)
        self._settle()

    def _settle(self) -> None:
        chosen = bool(self._folders.selectedItems())
        self._remove.setEnabled(chosen)
        self._remove.setToolTip("Stop looking through this folder" if chosen else "Choose a folder in the list first.")

    def _set_theme(self, index: int) -> None:
        self._settings.set(THEME, str(self._theme.itemData(index)))

    def _set_scale(self, percent: int) -> None:
        self._settings.set(SCALE, percent)

    def _set_proportional(self, on: bool) -> None:
        self._settings.set(PROPORTIONAL, on)

    def _set_reopen(self, on: bool) -> None:
        self._settings.set(REOPEN, on)

    def _reset_windows(self, _checked: bool = False) -> None:
        self._settings.reset(WINDOWS)

    def _show_data(self, _checked: bool = False) -> None:
        self.folder_wanted.emit(self._data_folder)

    def _remove_folder(self, _checked: bool = False) -> None:
        for item in self._folders.selectedItems():
            self.folder_removed.emit(item.text())

    def _ask_folder(self, _checked: bool = False) -> None:
        dialog = self._folder_dialog("Add a folder that holds tasks")
        dialog.fileSelected.connect(self._add_folder)
        dialog.open()

    def _add_folder(self, path: str) -> None:
        self.folder_added.emit(Path(path))

    def _folder_dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self, title)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return dialog
