"""The part of the preferences about the model that may write summaries in the lab. Empty = none, and no network."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from ctxviewer.services.key_keeper import KeyKeeper
from ctxviewer.services.model_endpoint import problem_of
from ctxviewer.services.settings import MODEL_NAME, MODEL_URL, Settings
from ctxviewer.views import theme
from ctxviewer.views.answers.parts import Remark
from ctxviewer.views.dialogs.parts import plain_label

EXPLANATION = (
    "Sage's rules can let a model write the summaries in the lab. Without an address none is asked and nothing leaves "
    "this machine. With one, it is asked only where you switch it on in the lab, and is sent what is summarised."
)
_ANY_MODEL = "m"


class ModelSection(QWidget):
    """Address, name, key. What cannot be used is told below the fields and is not kept."""

    grew = Signal()
    """It says more or less than before."""

    def __init__(self, settings: Settings, keeper: KeyKeeper, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings, self._keeper = settings, keeper
        look = theme.current()
        self.address = QLineEdit(self)
        self.address.setPlaceholderText("none, for example http://localhost:11434/v1")
        self.address.setToolTip("Address of an OpenAI-compatible service; the usual case is one on this machine")
        self.address.editingFinished.connect(self._take_address)
        self.model = QLineEdit(self)
        self.model.setPlaceholderText("as the service names it")
        self.model.setToolTip("Name of the model that writes the summaries")
        self.model.editingFinished.connect(self._take_model)
        self.key = QLineEdit(self)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText("none; a service on this machine needs none as a rule")
        self.key.setToolTip("It goes into the system's keyring, never into a file of ctxviewer")
        self.key.textChanged.connect(self._settle)
        self._keep, self._forget = QPushButton("&Keep", self), QPushButton("For&get", self)
        for button, does in ((self._keep, self._keep_key), (self._forget, self._forget_key)):
            button.setAutoDefault(False)
            button.clicked.connect(does)
        self._keep.setToolTip("Keep the key in the system's keyring")
        self._forget.setToolTip("Forget the key that is kept for this address")
        keys = QHBoxLayout()
        keys.setContentsMargins(0, 0, 0, 0)
        keys.addWidget(self.key, 1)
        keys.addWidget(self._keep)
        keys.addWidget(self._forget)
        form = QFormLayout()
        form.setHorizontalSpacing(look.px(16))
        form.setVerticalSpacing(look.px(6))
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for name, editor, row in (
            ("Address", self.address, self.address),
            ("Model", self.model, self.model),
            ("Key", self.key, keys),
        ):
            editor.setAccessibleName(f"{name} of the model that writes summaries")
            label = QLabel(name, self)
            label.setBuddy(editor)
            form.addRow(label, row)
        self.remark = Remark(self)
        self._kept = plain_label("", "muted", self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(6))
        column.addWidget(plain_label(EXPLANATION, "muted", self))
        column.addLayout(form)
        column.addWidget(self.remark)
        column.addWidget(self._kept)
        settings.changed.connect(self._show)
        keeper.told.connect(self._tell_key)
        self._show()
        self._look_for_key()

    @property
    def key_words(self) -> str:
        """What is known of the key."""
        return self._kept.text()

    def _show(self, _field: object = None) -> None:
        for editor, field in ((self.address, MODEL_URL), (self.model, MODEL_NAME)):
            if not editor.isModified():
                with QSignalBlocker(editor):
                    editor.setText(self._settings.get(field))
        self._settle()

    def _settle(self, _text: str = "") -> None:
        url, name = self._settings.get(MODEL_URL), self._settings.get(MODEL_NAME)
        if url and not self.address.isModified():
            self.remark.say(problem_of(url, name), "info")
        elif not self.address.isModified():
            self.remark.say("")
        self.grew.emit()
        self._keep.setEnabled(bool(url and self.key.text()))
        self._forget.setEnabled(bool(url))

    def _take_address(self) -> None:
        url = self.address.text().strip()
        problem = problem_of(url, _ANY_MODEL) if url else ""
        if problem:
            self.remark.say(f"{problem} It is not kept.", "warning", "warning")
            self.grew.emit()
            return
        self.address.setModified(False)
        changed = url != self._settings.get(MODEL_URL)
        self._settings.set(MODEL_URL, url)
        self._settle()
        if changed:
            self._look_for_key()

    def _take_model(self) -> None:
        self.model.setModified(False)
        self._settings.set(MODEL_NAME, self.model.text().strip())
        self._settle()

    def _look_for_key(self) -> None:
        url = self._settings.get(MODEL_URL)
        self._kept.setText("")
        if url:
            self._keeper.look(url)

    def _keep_key(self, _checked: bool = False) -> None:
        key = self.key.text()
        self.key.clear()
        self._keeper.keep(self._settings.get(MODEL_URL), key)

    def _forget_key(self, _checked: bool = False) -> None:
        self.key.clear()
        self._keeper.keep(self._settings.get(MODEL_URL), "")

    def _tell_key(self, sentence: str) -> None:
        self._kept.setText(sentence)
        self.grew.emit()
