"""A tiny language for conversations, and models printed back, so that tests read like pictures.

    talk("u a! [u a] t | a")

u, a: a message of the user or the assistant. c: the assistant calls a tool; t: its result, in a user message.
[…]: not sent, one truncation a pair of brackets. |: what follows is later than the request.
! behind a message: its text is replaced by an update. + behind it: a repair adds a result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from ctxviewer.domain.log import PlainLog
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.projection import BlockChange, Cut, Projection, Repair, RepairKind, SentBlock
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import Agent, Snapshot, TaskRef
from ctxviewer.domain.updates import Update

ROLES = {"u": "user", "t": "user", "a": "assistant", "c": "assistant"}


def task(task_id="t1"):
    """A task that lies nowhere."""
    place = PurePosixPath("/nowhere")
    return TaskRef(Agent.CLINE, task_id, place / "tasks" / task_id, place, "", "talk", 0, 0, 0, in_index=True)


@dataclass(frozen=True)
class Talk:
    """A snapshot with the projection that the brackets draw. Stands in for an engine.timeline.Timeline."""

    snapshot: Snapshot
    shown: Projection
    asked: list = field(default_factory=list)
    """Messages whose blocks were asked for, in order."""

    def projection(self, _number=None):
        return self.shown

    def blocks(self, projection, message):
        self.asked.append(message)
        parsed = parse_message(message, self.snapshot.messages[message])
        blocks = []
        for block in parsed.blocks:
            update = projection.updates.get((message, block.index))
            if update is None:
                blocks.append(SentBlock(BlockChange.SAME, block, block))
            else:
                sent = replace(block, text=update.text, raw={**block.raw, "text": update.text})
                blocks.append(SentBlock(BlockChange.REWRITTEN, sent, block, update, "truncation notice"))
        for repair in projection.repairs:
            if repair.message == message:
                raw = {"type": "tool_result", "tool_use_id": "x", "content": "result missing"}
                added = parse_message(message, {"role": "user", "content": [raw]}).blocks[0]
                blocks.insert(0, SentBlock(BlockChange.ADDED, added, None, None, "missing result added"))
        return tuple(blocks)

    def grown(self, *texts):
        """The same task with further messages, user and assistant in turn."""
        old = list(self.snapshot.messages)
        new = [message("ua"[(len(old) + i) % 2], len(old) + i, text) for i, text in enumerate(texts)]
        snapshot = replace(self.snapshot, messages=PlainLog([*old, *new]), generation=self.snapshot.generation + 1)
        count = len(snapshot.messages)
        return Talk(snapshot, replace(self.shown, stored=count, until=count))


def message(kind, number, text=None):
    """One stored message."""
    words = f"words of message {number}" if text is None else text
    if kind == "c":
        block = {"type": "tool_use", "id": f"call{number}", "name": "read_file", "input": {"path": f"src/{number}.py"}}
        return {"role": "assistant", "content": [{"type": "text", "text": words}, block]}
    if kind == "t":
        block = {
            "type": "tool_result",
            "tool_use_id": f"call{number - 1}",
            "content": [{"type": "text", "text": words}],
        }
        return {"role": "user", "content": [block]}
    return {"role": ROLES[kind], "content": [{"type": "text", "text": words}]}


def talk(picture, *, texts=None, request=None, since=None, task_id="t1", repeat=1):
    """The conversation of a picture. `texts` gives other words by message number; `repeat` repeats the messages."""
    texts = texts or {}
    messages, cuts, updates, repairs = [], [], {}, []
    until = None
    opened = 0
    for sign in re.findall(r"[uact][!+]*|[\[\]|]", " ".join([picture] * repeat)):
        number = len(messages)
        if sign == "[":
            opened = number
        elif sign == "]":
            cuts.append(Cut(opened, number - 1, since))
        elif sign == "|":
            until = number
        else:
            messages.append(message(sign[0], number, texts.get(number)))
            if "!" in sign:
                updates[number, 0] = Update(number, 0, 1, f"new words of message {number}", 0, None, 0)
            if "+" in sign:
                repairs.append(Repair(RepairKind.ADDED, number, ("x",)))
    count = len(messages)
    projection = Projection(
        stored=count,
        until=count if until is None else until,
        deleted_range=Range(cuts[0].first, cuts[-1].last) if cuts else None,
        resume=cuts[-1].last + 1 if cuts else 2,
        updates=updates,
        repairs=tuple(repairs),
        cuts=tuple(cuts),
        request=request,
    )
    return Talk(Snapshot(task(task_id), 1, PlainLog(messages)), projection)


SIGNS = {"sent": " ", "not sent": "x", "later": "."}


def lines(model):
    """The rows of a conversation model: x not sent, . later; ~ rewritten, + repaired; then the role."""
    printed = []
    for row in range(model.rowCount()):
        facts = model.facts(row)
        sign = "~" if facts.label else "+" if facts.repaired else " "
        printed.append(f"{SIGNS[facts.standing]}{sign}{facts.role}")
    return printed
