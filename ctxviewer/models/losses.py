"""What a request no longer knows, as a list: heaviest first, each row with why and since when."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject

from ctxviewer.engine.losses import FileLoss, Loss, LossKind, LossReport
from ctxviewer.models.listing import Listing, RowWords, joined
from ctxviewer.models.numbers import counted
from ctxviewer.models.visible import one_line

TITLE: Final = 300
_ICONS: Final = {
    LossKind.FILE: "file",
    LossKind.INSTRUCTION: "user",
    LossKind.DECISION: "decide",
    LossKind.RESULT: "tool",
}
PLURALS: Final = {
    LossKind.FILE: "files",
    LossKind.INSTRUCTION: "instructions",
    LossKind.DECISION: "decisions",
    LossKind.RESULT: "results",
}
"""What a button that shows one kind says."""
HEAVY, MIDDLE = 70, 40
"""From these scores on a row stands out."""


class LossesModel(Listing[Loss]):
    """The losses of one kind, or all."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._report: LossReport | None = None
        self._kind: LossKind | None = None

    @property
    def kind(self) -> LossKind | None:
        """The kind that is shown, None = all."""
        return self._kind

    def show(self, report: LossReport | None) -> None:
        """Show a report; None = there is none yet."""
        self._report = report
        self._refresh()

    def set_kind(self, kind: LossKind | None) -> None:
        """Show one kind only, None = all."""
        self._kind = kind
        self._refresh()

    def count(self, kind: LossKind | None) -> int:
        """How many losses of a kind there are, None = of all."""
        if self._report is None:
            return 0
        return len(self._report.losses if kind is None else self._report.of(kind))

    def _refresh(self) -> None:
        report = self._report
        if report is None:
            self.set_items(())
        else:
            self.set_items(report.losses if self._kind is None else report.of(self._kind))

    def words(self, item: Loss) -> RowWords:
        """What it was; until when, and why it matters."""
        tone = "event" if item.score >= HEAVY else "warning" if item.score >= MIDDLE else "muted"
        until = f"until request {item.request + 1:,}" if item.request is not None else "never sent"
        reasons = [reason for reason in item.reasons if not reason.startswith("its content was sent until")]
        detail = joined(f"message {item.message}", until, *reasons, *_file_words(item.file))
        tip = "\n".join(part for part in (item.title, item.why, *item.reasons, str(item.kind)) if part)
        return RowWords(one_line(item.title, TITLE), detail, _ICONS[item.kind], tone, tip)


def _file_words(file: FileLoss | None) -> tuple[str, ...]:
    if file is None:
        return ()
    words = []
    if file.reads:
        words.append(f"read {counted(file.reads, 'time')}")
    if file.last_edit is not None:
        words.append(f"last edit in message {file.last_edit.message}")
    return tuple(words)


def loss_text(loss: Loss) -> str:
    """A loss with everything that is known of it, for the clipboard."""
    lines = [f"{loss.kind}: {loss.title}", loss.why, *loss.reasons]
    file = loss.file
    if file is not None:
        for name, seen in (("last read", file.last_read), ("last edit", file.last_edit)):
            if seen is not None:
                since = f", sent since request {seen.request + 1:,}" if seen.request is not None else ""
                lines.append(f"{name}: message {seen.message}{since}")
    return "\n".join(line for line in lines if line)
