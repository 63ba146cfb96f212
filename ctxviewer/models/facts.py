"""What the header of a message says, as one value. Words are chosen here; the view only paints them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ctxviewer.domain.message import BlockKind
from ctxviewer.domain.projection import BlockChange, SentBlock, Standing
from ctxviewer.domain.view import TextMode
from ctxviewer.models.body import note_of, preview_of
from ctxviewer.models.left_out import is_left_out, left_out_words
from ctxviewer.models.numbers import grouped, short_tokens
from ctxviewer.models.tracked import Mark, letter
from ctxviewer.models.visible import one_line

PREVIEW = 240
"""Most characters of a preview."""
TOUCHED = "changed by this step"


class Speaker(StrEnum):
    """Who a message comes from, for its chip. Results of tools travel in user messages."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RowFacts:
    """The header of one stored message."""

    number: int
    role: str
    """As stored, made visible; '' where it is missing."""
    speaker: Speaker
    standing: Standing
    label: str
    """'rewritten: duplicate read of src/a.py'; '' when no text was replaced."""
    repaired: str
    """'repaired: missing result added'; '' when calls and results pair up as stored."""
    mode: TextMode
    """Which text is shown."""
    switchable: bool
    """True when as sent and as stored differ, so that switching shows something else."""
    tokens: int | None
    """Estimated tokens: as stored if it is not sent or shown so, else as sent; None while it is not counted."""
    size: int
    """Bytes as stored."""
    preview: str
    left_out: str = ""
    """'1 of 3 blocks not sent', 'call without its result': what a strategy leaves out of the message."""
    touched: bool = False
    """True when the step that is looked at changed it."""
    touched_blocks: frozenset[int] = frozenset()
    """Stored blocks that the step changed, where it did not change the whole message."""
    tracked: tuple[Mark, ...] = ()
    """Pinned facts that stand in it."""

    @property
    def tokens_text(self) -> str:
        """For the right edge of the header: '1.2k', '' while it is not counted."""
        return "" if self.tokens is None else short_tokens(self.tokens)

    @property
    def tokens_tip(self) -> str:
        """In full, and where the number comes from."""
        if self.tokens is None:
            return "Not counted yet"
        as_sent = self.standing is Standing.SENT and self.mode is not TextMode.AS_STORED
        how = "as sent" if as_sent else "as stored"
        return f"{grouped(self.tokens)} tokens {how}, estimated"

    @property
    def mode_note(self) -> str:
        """'as stored' or 'difference' where the text shown is not the one that is sent; else ''."""
        return str(self.mode) if self.switchable and self.mode is not TextMode.AS_SENT else ""

    @property
    def tracked_words(self) -> str:
        """'holds fact A, and B which is not sent through it'; '' without facts."""
        words = [
            f"{letter(mark.place)}{'' if mark.carried else ', which is not sent through it'}" for mark in self.tracked
        ]
        return f"holds fact {', and '.join(words)}" if words else ""

    @property
    def accessible(self) -> str:
        """The header for a screen reader: 'message 27, user, rewritten: truncation notice, not sent'."""
        words = [f"message {self.number}", self.role or "no role"]
        if self.speaker is Speaker.TOOL:
            words.append("tool result")
        words += [word for word in (self.label, self.repaired, self.left_out) if word]
        if self.standing is not Standing.SENT:
            words.append(str(self.standing))
        if self.mode_note:
            words.append(f"shown {self.mode_note}" if self.mode is TextMode.AS_STORED else "shown as difference")
        if self.touched:
            words.append(TOUCHED)
        words += [self.tracked_words] if self.tracked else []
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Words:
    """What can be said of a message from its blocks alone; costs decoding, so it is kept with them."""

    role: str
    speaker: Speaker
    label: str
    repaired: str
    preview: str
    left_out: str = ""


def words_of(role: str, blocks: tuple[SentBlock, ...]) -> Words:
    """The words for a message of a role, as stored, with these blocks."""
    notes = list(dict.fromkeys(note_of(block) for block in blocks if block.change is BlockChange.REWRITTEN))
    repairs = list(dict.fromkeys(note_of(block) for block in blocks if _is_repair(block)))
    preview = preview_of(blocks, PREVIEW)
    return Words(
        one_line(role, 40), _speaker(role, blocks), _list(notes), _list(repairs), preview, left_out_words(blocks)
    )


def _is_repair(block: SentBlock) -> bool:
    return block.change not in {BlockChange.SAME, BlockChange.REWRITTEN} and not is_left_out(block)


def _list(notes: Iterable[str]) -> str:
    """'rewritten: truncation notice', with '+2 more' when there are several."""
    first, *rest = (*notes, "")
    more = len(rest) - 1
    return f"{first} +{more} more" if more > 0 else first


def _speaker(role: str, blocks: tuple[SentBlock, ...]) -> Speaker:
    if role == "assistant":
        return Speaker.ASSISTANT
    if role != "user":
        return Speaker.OTHER
    first = next((block.sent or block.stored for block in blocks), None)
    return Speaker.TOOL if first is not None and first.kind is BlockKind.TOOL_RESULT else Speaker.USER
