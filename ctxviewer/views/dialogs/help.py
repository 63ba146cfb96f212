"""Help pages: every action with its keys (made from the catalogue), what the signs mean, and about."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ctxviewer import __version__
from ctxviewer.actions.action_set import key_text
from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.actions.spec import ActionSpec, Menu
from ctxviewer.views import theme
from ctxviewer.views.conversation.keyboard import KEYS

LEGEND = (
    ("Hatched and dimmed", "not sent: the message lies in the deleted range of the chosen request"),
    ("Line with ✂", "a truncation: which messages, since which request, how much"),
    ("Stripe and label in ochre", "rewritten: an update replaces the stored text; the label names the rule"),
    (
        "Stripe and label in green",
        "repaired: a tool result was moved, added or dropped so that calls and results pair up",
    ),
    ("Dimmed without hatch", "later: the message did not exist yet at the chosen request"),
    ("Dashed stripe, *made up*", "rules of the lab would send this message; it is stored nowhere"),
    ("*this step*", "what the step of the lab that is looked at has changed"),
    ("Dashed curves of the graph", "replays: what strategies would have sent with each request, estimated"),
    ("reported", "a token number from the provider"),
    ("estimated", "a token number from our own counter; images are not counted as text"),
)


def shortcuts_html() -> str:
    """The table of all actions by menu, then the keys of the conversation."""
    parts: list[str] = []
    for menu in Menu:
        rows = [spec for spec in CATALOGUE if spec.menu is menu]
        parts.append(f"<h3>{escape(menu.value.replace('&', ''))}</h3><table width='100%' cellpadding='2'>")
        parts += [_row(spec) for spec in rows]
        parts.append("</table>")
    parts.append("<h3>In the conversation</h3><table width='100%' cellpadding='2'>")
    parts += [f"<tr><td width='34%'>{escape(keys)}</td><td>{escape(words)}</td></tr>" for keys, words in KEYS]
    parts.append("</table>")
    return "".join(parts)


def legend_html() -> str:
    """What each sign of the conversation means."""
    rows = "".join(
        f"<tr><td width='34%'><b>{escape(sign)}</b></td><td>{escape(words)}</td></tr>" for sign, words in LEGEND
    )
    return f"<table width='100%' cellpadding='4'>{rows}</table>"


def about_html() -> str:
    """Version, purpose, licence."""
    return (
        f"<h3>ctxviewer {escape(__version__)}</h3>"
        "<p>See exactly what a coding agent's model was sent, what it was not, and why.</p>"
        "<p>Reading never writes. Every change is previewed, backed up and can be undone.</p>"
        "<p>No network, unless you enter a model of your own for the summaries of the lab.</p>"
        "<p>MIT licence.</p>"
    )


def _row(spec: ActionSpec) -> str:
    name = spec.name if not spec.submenu else f"{spec.submenu.replace('&', '')}: {spec.name}"
    keys = key_text(spec.all_keys) or "\N{EN DASH}"
    cells = f"<td width='34%'><b>{escape(name)}</b></td><td width='22%'>{escape(keys)}</td>"
    return f"<tr>{cells}<td>{escape(spec.tooltip)}</td></tr>"


PAGES = {
    "shortcuts": ("Keyboard shortcuts", shortcuts_html),
    "legend": ("What the signs mean", legend_html),
    "about": ("About ctxviewer", about_html),
}


class HelpDialog(QDialog):
    """One page of help; not modal, so that it can stay beside the window."""

    def __init__(self, page: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title, make = PAGES[page]
        look = theme.current()
        self.setWindowTitle(title)
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._text = QTextBrowser(self)
        self._text.setOpenLinks(False)
        self._text.setAccessibleName(title)
        self._text.setHtml(make())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(12), look.px(12), look.px(12), look.px(10))
        layout.addWidget(self._text, 1)
        layout.addWidget(box)
        self.resize(look.px(440 if page == "about" else 780), look.px(240 if page == "about" else 620))

    @property
    def words(self) -> str:
        """What the page says, as plain text."""
        return self._text.toPlainText()
