"""Help pages: every action with its keys (made from the catalogue), what the signs mean, and about."""

from __future__ import annotations

from html import escape
from itertools import chain

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ctxviewer import __version__
from ctxviewer.actions.action_set import key_text
from ctxviewer.actions.catalogue import CATALOGUE
from ctxviewer.actions.spec import ActionSpec, Menu
from ctxviewer.views import theme
from ctxviewer.views.conversation.keyboard import KEYS

LEGEND = {
    "In the conversation": (
        (
            "hidden",
            "event",
            "Hatched and dimmed",
            "not sent: the message lies in the deleted range of the chosen request",
        ),
        (
            "rewritten",
            "rewritten",
            "Amber stripe and label",
            "rewritten: an update replaces the text; the label names the rule",
        ),
        (
            "repaired",
            "repaired",
            "Green stripe and label",
            "repaired: a result was moved, added or dropped, so that calls and results pair up",
        ),
        ("later", "muted", "Dimmed without hatch", "later: the message did not exist yet at the chosen request"),
        (
            "made-up",
            "accent",
            "Dashed frame, “made up”",
            "rules of the lab would send this message; it is stored nowhere",
        ),
        ("step", "accent", "“this step”", "what the step of the lab that is looked at has changed"),
    ),
    "In the usage graph and the lists": (
        ("truncate", "event", "Truncated", "from this request on, a range of messages is no longer sent"),
        ("optimize", "rewritten", "Optimised", "older copies of files were replaced by a notice"),
        ("condense", "event", "Condensed", "a summary stands for what went before"),
        ("rollback", "accent", "Rolled back", "the task was taken back to an earlier point"),
        ("checkpoint", "muted", "Checkpoint", "a point that the task can be rolled back to"),
        ("replay", "muted", "Dashed curves", "replays: what strategies would have sent with each request, estimated"),
    ),
    "Numbers": (
        ("", "", "reported", "a token number from the provider"),
        ("", "", "estimated", "a token number from our own counter; images are not counted as text"),
    ),
}
"""Groups of signs: icon, its tone, the sign in words, what it means."""


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
    """What each sign means. Its pictures are named 'sign:icon/tone', see `HelpDialog`."""
    parts: list[str] = []
    for group, signs in LEGEND.items():
        parts.append(f"<h3>{escape(group)}</h3><table width='100%' cellpadding='4'>")
        for icon, tone, sign, words in signs:
            picture = f"<img src='sign:{icon}/{tone}'>" if icon else ""
            parts.append(
                f"<tr><td width='5%'>{picture}</td><td width='30%'><b>{escape(sign)}</b></td>"
                f"<td>{escape(words)}</td></tr>"
            )
        parts.append("</table>")
    return "".join(parts)


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
        self._add_pictures()
        self._text.setHtml(make())
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        box.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(look.px(12), look.px(12), look.px(12), look.px(10))
        layout.addWidget(self._text, 1)
        layout.addWidget(box)
        self.resize(look.px(460 if page == "about" else 780), look.px(280 if page == "about" else 660))

    def _add_pictures(self) -> None:
        look = theme.current()
        for icon, tone, _, _ in chain.from_iterable(LEGEND.values()):
            if icon:
                picture = look.icon(icon, tone).pixmap(QSize(look.px(16), look.px(16)))
                kind = QTextDocument.ResourceType.ImageResource
                self._text.document().addResource(kind, QUrl(f"sign:{icon}/{tone}"), picture)

    @property
    def words(self) -> str:
        """What the page says, as plain text."""
        return self._text.toPlainText()
