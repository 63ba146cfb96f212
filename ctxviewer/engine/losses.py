"""What a request no longer knows: files, words of the user, decisions, tool results; sorted by how much it matters.

The order is a sum of documented points, not a judgement:

============================================  ======  =========================================================
what is lost                                  points  reason
============================================  ======  =========================================================
words of the user                                 90  an instruction that is gone cannot be followed
  … a short answer, under 20 characters           50  "yes", "2"
the task itself                                  100
a tool result that a repair took away             60  the call is still sent, its answer is not
content of a file                                 40
  … edited since it was last seen                +30  what the model remembers of it is wrong
  … read again after an earlier loss             +15  it was needed before (at most twice)
a decision, settled                               35  a heuristic, see `decisions`
a decision, announced                             15
lost with this very request                      +10
lost within the last five requests                +5
============================================  ======  =========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ctxviewer.domain.json import as_text, is_object
from ctxviewer.domain.message import BlockKind
from ctxviewer.domain.projection import BlockChange, Projection, RepairKind, SentBlock, Standing
from ctxviewer.engine.contents import Contents, FileKind, FilePlace, Words
from ctxviewer.engine.decisions import Decision
from ctxviewer.engine.events import Event
from ctxviewer.engine.facts import held_in
from ctxviewer.engine.movements import Move
from ctxviewer.engine.past import Past
from ctxviewer.engine.presence import Presence
from ctxviewer.engine.spans import Span, clipped, merged
from ctxviewer.engine.words import plural, request_name

EVERY: Final = 64
"""A check is made each time so many things were looked at."""
LONGEST: Final = 300
"""Characters of the words that a row shows."""
RECENT: Final = 5

TASK, INSTRUCTION, ANSWER, RESULT, FILE, SETTLED, ANNOUNCED = 100, 90, 50, 60, 40, 35, 15
SHORT = 20
EDITED, AGAIN, MOST_AGAIN = 30, 15, 2
JUST_NOW, LATELY = 10, 5


class LossKind(StrEnum):
    """What was lost."""

    FILE = "file"
    INSTRUCTION = "user instruction"
    DECISION = "stated decision"
    """Found by a heuristic, and always to be shown as such."""
    RESULT = "tool result"


@dataclass(frozen=True, slots=True)
class Seen:
    """A place in the conversation, and the first request that sent it."""

    message: int
    request: int | None
    """None = none has sent it yet."""


@dataclass(frozen=True, slots=True)
class FileLoss:
    """More about a lost file."""

    last_read: Seen | None
    """The newest read or mention of it."""
    last_edit: Seen | None
    """The newest edit, or attempt at one, by the assistant."""
    edited_since: str
    """Who edited it since its content was last seen: 'the assistant', 'the user', both; '' if nobody did."""
    reads: int
    """How often its content came in by reading or mentioning."""
    read_again: int
    """How often it was sent again after it had been lost."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that was sent once and is not sent now."""

    kind: LossKind
    title: str
    """Path of a file; words of the user or of a decision; name of a tool."""
    message: int
    """Where it stands: the newest place of a file."""
    block: int | None
    request: int | None
    """The last request that sent it; None for a tool result that no request ever sent."""
    since: int | None
    """The first request without it, None = from now on."""
    event: Event | None
    """What took it away, where that is recorded."""
    why: str
    score: int
    """Sum of the points above."""
    reasons: tuple[str, ...]
    """What made up the score, in words."""
    file: FileLoss | None = None

    @property
    def heuristic(self) -> bool:
        """True where only a guess says that there is something to lose."""
        return self.kind is LossKind.DECISION


@dataclass(frozen=True, slots=True)
class LossReport:
    """Everything that is lost at one request."""

    request: int | None
    """None = the present state."""
    losses: tuple[Loss, ...]
    """Highest score first; of equals, the newest message first."""

    def of(self, kind: LossKind) -> tuple[Loss, ...]:
        """The losses of one kind."""
        return tuple(loss for loss in self.losses if loss.kind is kind)


def _never() -> None:
    return None


def find_losses(past: Past, request: int | None, check: Callable[[], None] = _never) -> LossReport:
    """What is lost at a request, None = at the present state. IndexError for a request that does not exist.

    `check` is called often and may raise to cancel. The first call for a task reads the whole history.
    """
    past.timeline.find_repairs(check)
    search = _Search(past, request, check)
    found = [*search.files(), *search.words(), *search.decisions(), *search.results()]
    return LossReport(request, tuple(sorted(found, key=lambda loss: (-loss.score, -loss.message))))


class _Search:
    """One report in the making."""

    def __init__(self, past: Past, request: int | None, check: Callable[[], None]) -> None:
        self._past = past
        self._presence: Presence = past.presence(check)
        self._contents: Contents = past.contents(check)
        self._column = self._presence.column(request)
        self._projection: Projection = past.timeline.projection(request)
        self._check = check
        self._touched = {message for message, _ in self._projection.updates}
        self._touched.update(repair.message for repair in self._projection.repairs)
        self._touched.add(self._projection.resume)

    # -- files

    def files(self) -> Iterator[Loss]:
        """Files whose content was sent before and is not now."""
        for count, (path, places) in enumerate(self._contents.files.items()):
            if count % EVERY == 0:
                self._check()
            known = [place for place in places if place.message < self._projection.until]
            if not known or any(self._past.holds(self._projection, place) for place in known):
                continue
            spans = {place: self._until_now(held_in(self._presence, place)) for place in known}
            sent = merged(span for some in spans.values() for span in some)
            if sent:
                newest = max((place for place in known if spans[place]), key=lambda place: place.message)
                last = max(
                    (place for place in known if spans[place]), key=lambda place: (spans[place][-1][1], place.message)
                )
                yield self._file(path, known, newest, last, sent)

    def _file(
        self, path: str, places: list[FilePlace], newest: FilePlace, last: FilePlace, sent: tuple[Span, ...]
    ) -> Loss:
        column = sent[-1][1] + 1
        move = self._move(last.message, last.block, column)
        reads = [place for place in places if place.kind in {FileKind.READ, FileKind.MENTION}]
        edits = [edit for edit in self._contents.edits.get(path, ()) if edit.message < self._projection.until]
        editors = tuple(self._editors(path, newest, [edit.message for edit in edits]))
        details = FileLoss(
            last_read=self._seen(reads[-1].message) if reads else None,
            last_edit=self._seen(edits[-1].message) if edits else None,
            edited_since=" and ".join(editors),
            reads=len(reads),
            read_again=len(sent) - 1,
        )
        score, reasons = FILE, [f"its content was sent until {request_name(column - 1)}"]
        if editors:
            score += EDITED
            reasons.append(f"edited since it was last seen, by {details.edited_since}")
        if details.read_again:
            score += AGAIN * min(details.read_again, MOST_AGAIN)
            reasons.append(f"sent again {plural(details.read_again, 'time')} after it had been lost")
        return self._loss(LossKind.FILE, path, newest.message, newest.block, column, move, score, reasons, details)

    def _editors(self, path: str, newest: FilePlace, edits: list[int]) -> Iterator[str]:
        """Who changed a file after its content came in for the last time.

        By the conversation (a later edit), else by the dates that the agent noted (formats 1.8).
        """
        first = self._presence.spans(newest.message)
        requests = self._past.timeline.requests
        seen_ms = requests[first[0][0]].ts if first and first[0][0] < len(requests) else 0
        until_ms = requests[self._column].ts if self._column < len(requests) else float("inf")
        noted = self._noted(path)
        assistant = any(message > newest.message for message in edits)
        if assistant or any(seen_ms < date <= until_ms for date in noted.get("cline_edit_date", ()) if seen_ms):
            yield "the assistant"
        if any(seen_ms < date <= until_ms for date in noted.get("user_edit_date", ()) if seen_ms):
            yield "the user"

    def _noted(self, path: str) -> dict[str, list[float]]:
        metadata = self._past.timeline.snapshot.metadata
        rows = metadata.get("files_in_context") if is_object(metadata) else None
        found: dict[str, list[float]] = {}
        for row in rows if isinstance(rows, list) else ():
            if is_object(row) and as_text(row.get("path")) == path:
                for key in ("cline_edit_date", "user_edit_date"):
                    date = row.get(key)
                    if isinstance(date, (int, float)) and not isinstance(date, bool):
                        found.setdefault(key, []).append(date)
        return found

    # -- words and decisions

    def words(self) -> Iterator[Loss]:
        """Words of the user that are not sent, and that stand nowhere else in what is sent."""
        kept: set[str] = set()
        lost: list[tuple[Words, str]] = []
        for number in range(self._projection.until):
            if number % EVERY == 0:
                self._check()
            for words in self._contents.messages[number].words:
                text = self._text(words.message, words.block)[words.start : words.end].strip()
                if self._is_sent(number, words.block, text):
                    kept.add(text)
                else:
                    lost.append((words, text))
        for words, text in lost:
            if text in kept:
                continue
            column = self._last_column(words.message, words.block, text) + 1
            if column > 0:
                kept.add(text)
                score, reason = (ANSWER, "a short answer") if len(text) < SHORT else (INSTRUCTION, "words of the user")
                if words.is_task:
                    score, reason = TASK, "the task itself"
                move = self._move(words.message, words.block, column)
                yield self._loss(
                    LossKind.INSTRUCTION, _short(text), words.message, words.block, column, move, score, [reason]
                )

    def decisions(self) -> Iterator[Loss]:
        """Stated decisions whose message is not sent, and that were not stated again."""
        kept: set[str] = set()
        lost: list[Decision] = []
        for number in range(self._projection.until):
            for decision in self._contents.messages[number].decisions:
                if self._is_sent(number, decision.block, decision.text):
                    kept.add(decision.text)
                else:
                    lost.append(decision)
        for count, decision in enumerate(lost):
            if count % EVERY == 0:
                self._check()
            if decision.text in kept:
                continue
            column = self._last_column(decision.message, decision.block, decision.text) + 1
            if column > 0:
                kept.add(decision.text)
                score = SETTLED if decision.settled else ANNOUNCED
                reason = "a choice" if decision.settled else "an announcement"
                move = self._move(decision.message, decision.block, column)
                yield self._loss(
                    LossKind.DECISION, decision.text, decision.message, decision.block, column, move, score, [reason]
                )

    # -- tool results

    def results(self) -> Iterator[Loss]:
        """Results that a repair took out of a message that is sent."""
        gone = {RepairKind.STRIPPED, RepairKind.DROPPED, RepairKind.WORDS_LOST}
        messages = dict.fromkeys(repair.message for repair in self._projection.repairs if repair.kind in gone)
        for message in messages:
            for block in self._blocks(message):
                if block.change is not BlockChange.REMOVED or block.stored is None:
                    continue
                column = self._last_column(message, block.stored.index, block.stored.text) + 1
                move = self._move(message, block.stored.index, column or self._column)
                stored = block.stored
                name = self._tool(message, stored.tool_id) if stored.kind is BlockKind.TOOL_RESULT else "words"
                title = f"{name or 'tool result'}: {_short(stored.text)}"
                reasons = ["the message is sent without it", block.label]
                yield self._loss(LossKind.RESULT, title, message, stored.index, column, move, RESULT, reasons)

    def _tool(self, message: int, tool_id: str) -> str:
        calls = self._contents.messages[message - 1].calls if message else {}
        call = calls.get(tool_id)
        return "" if call is None else call.name

    # -- what all need

    def _loss(
        self,
        kind: LossKind,
        title: str,
        message: int,
        block: int | None,
        column: int,
        move: Move,
        score: int,
        reasons: list[str],
        file: FileLoss | None = None,
    ) -> Loss:
        """`column` is the first one without it, 0 if none ever had it."""
        age = self._column - column
        if column and age == 0:
            score += JUST_NOW
            reasons = [*reasons, "lost with this very request"]
        elif column and age < RECENT:
            score += LATELY
            reasons = [*reasons, f"lost {plural(age, 'request')} ago"]
        last = column - 1 if column else None
        if not column:  # no request ever had it
            column = next((first for first, _ in self._presence.spans(message)), self._column)
        since = column if column < self._presence.now else None
        return Loss(kind, title, message, block, last, since, move.event, move.sentence, score, tuple(reasons), file)

    def _until_now(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        return clipped(spans, 0, self._column)

    def _seen(self, message: int) -> Seen:
        spans = self._presence.spans(message)
        first = spans[0][0] if spans else self._presence.now
        return Seen(message, first if first < self._presence.now else None)

    def _text(self, message: int, block: int) -> str:
        return self._past.timeline.message(message).blocks[block].text

    def _blocks(self, message: int) -> tuple[SentBlock, ...]:
        return self._past.timeline.blocks(self._projection, message)

    def _is_sent(self, message: int, block: int, text: str) -> bool:
        """Whether the projection sends a block with this text in it."""
        if self._projection.standing(message) is not Standing.SENT:
            return False
        return message not in self._touched or _in_block(self._blocks(message), block, text)

    def _last_column(self, message: int, block: int, text: str) -> int:
        """The last column up to now that sent the block with this text; -1 if none did."""
        last = -1
        for form in self._presence.forms(message):
            spans = self._until_now(form.spans)
            if spans and (self._presence.untouched(form) or _in_block(self._presence.blocks(form), block, text)):
                last = max(last, spans[-1][1])
        return last

    def _move(self, message: int, block: int, column: int) -> Move:
        """Why something is not sent from a column on."""
        movements = self._past.movements()
        column = min(column, self._presence.now)
        form = self._presence.form_at(message, column)
        if form is None:
            return movements.message_left(message, column)
        return movements.block_changed(form, block, self._presence.blocks(form), column)


def _in_block(blocks: tuple[SentBlock, ...], block: int, text: str) -> bool:
    here = next((one for one in blocks if one.stored is not None and one.stored.index == block), None)
    if here is None or here.sent is None:
        return False
    return here.change is not BlockChange.REWRITTEN or text in here.sent.text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
