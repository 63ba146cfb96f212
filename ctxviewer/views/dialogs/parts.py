"""Parts that dialogs share: sections, folded lists, banners. All text is shown as text."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from ctxviewer.models.numbers import grouped
from ctxviewer.models.preview import Section, Tone
from ctxviewer.views import theme

FIRST_LINES = 6


def drawable(text: str) -> str:
    """Text without lone surrogates, which Qt would drop silently."""
    return text.encode("utf-16", "replace").decode("utf-16")


def plain_label(text: str, look: str = "", parent: QWidget | None = None) -> QLabel:
    """A label that wraps to the width it gets, can be selected and copied, and never reads text as markup."""
    label = QLabel(drawable(text), parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    if look:
        label.setProperty("look", look)
    return label


class ElidedLabel(QLabel):
    """One line that shows as much as there is room for; the tooltip has all of it."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setText(text)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """The text, ending in dots where it must."""
        with QPainter(self) as painter:
            room = self.contentsRect()
            words = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
            self.style().drawItemText(
                painter,
                room,
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
                self.palette(),
                self.isEnabled(),
                words,
                self.foregroundRole(),
            )


class StillLabel(ElidedLabel):
    """An elided line whose words change often: new words are painted, and nothing around them is laid out anew."""

    _words = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        QLabel.setText(self, " ")  # as high as a line

    def setText(self, words: str) -> None:
        """Show these words."""
        if words != self._words:
            self._words = words
            self.setAccessibleName(words)
            self.update()

    def text(self) -> str:
        """The words."""
        return self._words


def rule(parent: QWidget | None = None) -> QFrame:
    """A hairline."""
    line = QFrame(parent)
    line.setProperty("look", "rule")
    return line


class SectionBox(QWidget):
    """A heading and lines; more than six are behind *Show all*. Lines are escaped: markup in them is shown as text."""

    def __init__(self, section: Section, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = section.lines
        self._shown: tuple[str, ...] = ()
        look = theme.current()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(look.px(3))
        heading = plain_label(section.title, "warning" if section.tone is Tone.WARNING else "heading", self)
        layout.addWidget(heading)
        self._text = plain_label("", "", self)
        self._text.setTextFormat(Qt.TextFormat.RichText)
        layout.addWidget(self._text)
        self._more = QToolButton(self)
        self._more.setProperty("look", "link")
        self._more.setText(f"Show all {grouped(len(self._lines))}")
        self._more.setAccessibleName(f"Show all {len(self._lines)} lines of {section.title}")
        self._more.setToolTip("Show every line")
        self._more.clicked.connect(self.show_all)
        layout.addWidget(self._more)
        self._show(len(self._lines) <= FIRST_LINES + 1)

    @property
    def shown_lines(self) -> tuple[str, ...]:
        """Lines on the screen."""
        return self._shown

    def show_all(self, _checked: bool = False) -> None:
        """Show the rest."""
        self._show(everything=True)

    def _show(self, everything: bool) -> None:
        self._shown = self._lines if everything else self._lines[:FIRST_LINES]
        items = "".join(f"<li>{escape(drawable(line))}</li>" for line in self._shown)
        self._text.setText(f"<ul style='margin: 0 0 0 14px; -qt-list-indent: 0;'>{items}</ul>")
        self._more.setVisible(not everything)


class Banner(QFrame):
    """A sentence that must be seen, with the sign of how bad it is."""

    def __init__(self, sentence: str, tone: Tone, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        look = theme.current()
        name = {Tone.PLAIN: "info", Tone.WARNING: "warning", Tone.ERROR: "error"}[tone]
        color = "accent" if tone is Tone.PLAIN else name
        self.setProperty("look", "notice")
        self.setAccessibleName(sentence)
        icon = QLabel(self)
        side = look.px(16)
        icon.setPixmap(look.icon(name, color).pixmap(QSize(side, side)))
        words = QVBoxLayout()
        words.setSpacing(look.px(2))
        words.addWidget(plain_label(sentence, "", self))
        if hint:
            words.addWidget(plain_label(hint, "muted", self))
        self.body = words
        row = QHBoxLayout(self)
        row.setContentsMargins(look.px(10), look.px(8), look.px(10), look.px(8))
        row.setSpacing(look.px(8))
        row.addWidget(icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
