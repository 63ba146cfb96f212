"""What can be exported, in words: formats, what each is good for, and the name of the file. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ctxviewer.engine.events import Event
from ctxviewer.models.visible import one_line


@dataclass(frozen=True, slots=True)
class FormatWords:
    """One format as the dialog offers it."""

    key: str
    name: str
    meaning: str
    """One sentence."""
    suffix: str
    of_a_request: bool = False
    """It can show one request, or the whole task."""
    has_texts: bool = True
    """Texts of the task get into it, so that secrets may."""


FORMATS: Final = (
    FormatWords("html", "Page (HTML)", "One file for any browser: no scripts, no network.", ".html", of_a_request=True),
    FormatWords("markdown", "Text (Markdown)", "For an issue or a note.", ".md", of_a_request=True),
    FormatWords(
        "json", "Data (JSON)", "The messages as they were sent, and why; for programs.", ".json", of_a_request=True
    ),
    FormatWords("csv", "Usage (CSV)", "One row a request: tokens, cost, what was sent; for a spreadsheet.", ".csv"),
    FormatWords("graph", "Picture of the graph (PNG)", "The usage graph as it looks now.", ".png", has_texts=False),
    FormatWords(
        "window",
        "Picture of the window (PNG)",
        "The window as it looks now; nothing is masked in it.",
        ".png",
        has_texts=False,
    ),
    FormatWords(
        "bundle",
        "Bug report (ZIP)",
        "The smallest task folder that still shows one event: every word replaced, lengths and numbers kept.",
        ".zip",
    ),
)


def file_name(task_id: str, words: FormatWords, request: int | None, event: int | None) -> str:
    """'1770537600000-request-31.html'. Nothing of the task's text is in it."""
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in task_id).strip(".") or "task"
    part = ""
    if words.of_a_request and request is not None:
        part = f"-request-{request + 1}"
    elif words.key == "bundle":
        part = f"-event-{(event or 0) + 1}"
    elif words.key != "html" and not words.of_a_request:
        part = {"csv": "-usage", "graph": "-graph", "window": "-window"}[words.key]
    return f"{safe}{part}{words.suffix}"


def event_words(event: Event) -> str:
    """'request 31: Truncated (half): messages 2–25 …'."""
    where = "now" if event.request is None else f"request {event.request + 1:,}"
    return one_line(f"{where}: {event.sentence}", 120)
