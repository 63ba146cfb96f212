"""Small parts of the details panes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from ctxviewer.views.dialogs.parts import plain_label


def wrapped(words: str, look: str, parent: QWidget) -> QLabel:
    """A plain label that is exactly as high as its words need at the width it gets, and never widens its pane."""
    label = plain_label(words, look, parent)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    return label
