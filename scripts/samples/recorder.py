"""Plays an invented conversation through the rules of Cline's context management and records the task it leaves.

Ranges, updates and notices are decided by `ctxviewer.engine.cline`, usage is counted on what is really sent, so that the
files of a sample agree with each other as those of a real task do. The same story always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from samples.workspace import Tool, Workspace

from ctxviewer.domain.json import Json, JsonObject, as_text
from ctxviewer.domain.message import parse_message
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline import prepare as rules
from ctxviewer.engine.cline.notices import with_both_notices
from ctxviewer.engine.cline.totals import task_totals
from ctxviewer.engine.cline.truncation import Keep, next_range
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory
from ctxviewer.engine.cline.window import Api
from ctxviewer.tokens import TokenCounter, count_message

HELD = 64
"""Prompt caches keep whole pieces of so many tokens."""


@dataclass(frozen=True)
class Model:
    """The model of a sample, its window and what a million tokens cost in dollars."""

    model_id: str
    provider_id: str
    window: int
    base: int
    """Tokens of the system prompt and the tool descriptions, which no file holds."""
    prices: tuple[float, float, float, float] = (0, 0, 0, 0)
    """Input, output, cache write, cache read."""
    caches: bool = True
    native: bool = False
    """Calls tools by tool_use blocks instead of tags in the text."""


@dataclass(frozen=True)
class Style:
    """What differs between versions of the extension."""

    version: str
    host_version: str
    model_info: bool
    """`modelInfo` and `metrics` are written."""
    split_results: bool
    """The header of a result is a block of its own."""


@dataclass
class Recorder:
    """One task in the making. Call `begin`, then `turn` for each answer of the model."""

    task_id: int
    model: Model
    style: Style
    space: Workspace
    counter: TokenCounter
    messages: list[Json] = field(default_factory=list)
    ui: list[JsonObject] = field(default_factory=list)
    history: ContextHistory = EMPTY
    deleted: Range | None = None
    decisions: list[rules.Decision] = field(default_factory=list)
    _now: int = 0
    _request: int = -1
    _waiting: list[JsonObject] = field(default_factory=list)
    _sent: list[str] = field(default_factory=list)
    _files: dict[str, JsonObject] = field(default_factory=dict)
    _calls: int = 0
    _hashes: int = 0

    def __post_init__(self) -> None:
        self._now = self.task_id

    # --- the story ---------------------------------------------------------------------------------------------------

    def begin(self, task: str) -> None:
        """The user's task."""
        self.title = task
        self._say("task", task, images=[], files=[])
        self._checkpoint()
        self._waiting = [_text(f"<task>\n{task}\n</task>")]

    def turn(self, said: str, tool: Tool, *, thought: str = "", feedback: str = "", took: int = 9_000) -> None:
        """One request: the model says something and calls a tool; the user may comment on what it did."""
        self._send()
        call_id = self._answer(said, tool, thought, took)
        self._show(tool)
        if feedback:
            self._say("user_feedback", feedback, images=[], files=[])
        self._checkpoint()
        self._waiting = [*self._result(tool, call_id), *_feedback_block(feedback)]

    def finish(self, said: str, result: str, *, feedback: str = "", took: int = 6_000) -> None:
        """The model is done, or thinks so; the user may disagree."""
        tool = Tool("attempt_completion", "", {"result": result}, "The user has feedback on the result.")
        self._send()
        call_id = self._answer(said, tool, "", took)
        entry = self._say("completion_result", result)
        entry["lastCheckpointHash"] = self._hash()
        self._ask("completion_result", "")
        if feedback:
            self._say("user_feedback", feedback, images=[], files=[])
            self._waiting = [*self._result(tool, call_id), *_feedback_block(feedback)]

    def condense(self, wish: str, said: str, summary: str, *, took: int = 21_000) -> None:
        """The user asks for a shorter conversation; the model writes a summary, and the user takes it."""
        words = f'<explicit_instructions type="condense">\n{CONDENSE}\n</explicit_instructions>\n{wish}'
        self._say("user_feedback", f"/compact {wish}", images=[], files=[])
        self._waiting.append(_text(words))
        self._send()
        tool = Tool("condense", "", {"context": summary}, "The conversation goes on from the summary.")
        call_id = self._answer(said, tool, "", took)
        self._ask("condense", summary)
        self._tick(4_000)
        self.deleted = next_range(self.messages, self.deleted, Keep.LAST_TWO)
        self.history = with_both_notices(self.history, self.messages, self._now)
        self._waiting = self._result(tool, call_id)

    # --- one request -------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        self._tick(1_200)
        content = [*self._waiting, _text(self._environment())]
        previous = self._request
        self._request = len(self.ui)
        self._say("api_req_started", "", index=len(self.messages) - 1)
        self.messages.append({"role": "user", "content": list(content)})
        api = Api(model_id=self.model.model_id, context_window=self.model.window)
        decision = rules.prepare(self.messages, self.ui, api, self.deleted, self.history, previous)
        self.decisions.append(decision)
        self.deleted, self.history = decision.range_after, decision.history_after
        shown = "\n\n".join(as_text(block.get("text")) or _result_words(block) for block in content)
        self.ui[self._request]["text"] = _compact({"request": shown})

    def _answer(self, said: str, tool: Tool, thought: str, took: int) -> str:
        if thought:
            self._tick(took // 2)
            self._say("reasoning", thought)
        self._tick(took)
        self._say("text", said)
        self._calls += 1
        call_id = f"toolu_{hashlib.sha256(f'{self.task_id}-{self._calls}'.encode()).hexdigest()[:24]}"
        blocks: list[JsonObject] = []
        if self.model.native:
            if thought:
                blocks.append({"type": "thinking", "thinking": thought, "signature": call_id[::-1]})
            blocks += [_text(said), {"type": "tool_use", "id": call_id, "name": tool.name, "input": dict(tool.input)}]
        else:
            blocks.append(_text(f"{said}\n\n{tool.xml}"))
        answer: JsonObject = {"role": "assistant", "content": list(blocks)}
        usage = self._usage(answer, thought)
        if self.style.model_info:
            answer["modelInfo"] = self._model_info()
            cached = int(usage["cacheWrites"]) + int(usage["cacheReads"])
            answer["metrics"] = {
                "tokens": {"prompt": usage["tokensIn"], "completion": usage["tokensOut"], "cached": cached},
                "cost": usage["cost"],
            }
        self.messages.append(answer)
        entry = json.loads(as_text(self.ui[self._request]["text"]))
        self.ui[self._request]["text"] = _compact({**entry, **usage})
        return call_id

    def _usage(self, answer: JsonObject, thought: str) -> dict[str, Any]:
        """The provider's numbers: what was sent, split by what its cache had already."""
        sent = self.decisions[-1].sent
        texts = [_compact(message) for message in sent.messages] if sent else []
        same = 0
        while same < min(len(texts), len(self._sent)) and texts[same] == self._sent[same]:
            same += 1
        counts = [self._count(message) for message in sent.messages] if sent else []
        first = not self._sent
        self._sent = texts
        total, held = self.model.base + sum(counts), self.model.base + sum(counts[:same])
        reads = 0 if first or not self.model.caches else held // HELD * HELD
        fresh = total - reads
        out = self._count(answer) + (0 if self.model.native else self.counter.count(thought))
        tokens_in, writes = (total, 0) if not self.model.caches else (min(10, fresh), fresh - min(10, fresh))
        per = self.model.prices
        cost = (tokens_in * per[0] + out * per[1] + writes * per[2] + reads * per[3]) / 1_000_000
        return {
            "tokensIn": tokens_in,
            "tokensOut": out,
            "cacheWrites": writes,
            "cacheReads": reads,
            "cost": round(cost, 6),
        }

    def _count(self, message: Json) -> int:
        return 4 + sum(block.tokens for block in count_message(self.counter, parse_message(0, message)))

    def _result(self, tool: Tool, call_id: str) -> list[JsonObject]:
        whole = f"{tool.header}\n{tool.result}"
        if self.model.native:
            return [{"type": "tool_result", "tool_use_id": call_id, "content": [_text(whole)]}]
        if self.style.split_results:
            return [_text(tool.header), _text(tool.result)]
        return [_text(whole)]

    # --- what is written ---------------------------------------------------------------------------------------------

    def _show(self, tool: Tool) -> None:
        self._tick(400)
        if tool.shown is not None:
            self._say("tool", _compact(dict(tool.shown)))
        elif tool.name == "execute_command":
            self._ask("command", tool.input["command"])
            self._tick(3_000)
            self._say("command_output", tool.result.partition("Output:\n")[2])
        if tool.touches:
            self._touch(tool)

    def _touch(self, tool: Tool) -> None:
        known = self._files.get(tool.path, {})
        read, edited = known.get("cline_read_date"), known.get("cline_edit_date")
        self._files[tool.path] = {
            "path": tool.path,
            "record_state": "active",
            "record_source": "read_tool" if tool.touches == "read" else "cline_edited",
            "cline_read_date": self._now if tool.touches == "read" or read is None else read,
            "cline_edit_date": self._now if tool.touches == "edited" else edited,
            "user_edit_date": None,
        }

    def _say(self, kind: str, text: str, **more: Any) -> JsonObject:
        return self._entry({"type": "say", "say": kind, "text": text}, more)

    def _ask(self, kind: str, text: str) -> JsonObject:
        return self._entry({"type": "ask", "ask": kind, "text": text}, {})

    def _checkpoint(self) -> None:
        self._tick(160)
        self._entry({"type": "say", "say": "checkpoint_created"}, {"lastCheckpointHash": self._hash()})
        self.ui[-1]["isCheckpointCheckedOut"] = False

    def _entry(self, head: JsonObject, more: dict[str, Any]) -> JsonObject:
        self._tick(35)
        index = more.pop("index", len(self.messages) - 1)
        entry: JsonObject = {"ts": self._now, **head, **more}
        if self.style.model_info and head["type"] == "say":
            entry["modelInfo"] = self._model_info()
        entry["conversationHistoryIndex"] = index
        if self.deleted is not None:
            entry["conversationHistoryDeletedRange"] = list(self.deleted)
        self.ui.append(entry)
        return entry

    def _model_info(self) -> JsonObject:
        return {"modelId": self.model.model_id, "providerId": self.model.provider_id, "mode": "act"}

    def _environment(self) -> str:
        lines = ["<environment_details>", "# Visual Studio Code Visible Files", *(list(self._files)[-1:] or ["(none)"])]
        lines += ["", "# Current Time", datetime.fromtimestamp(self._now / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")]
        if not self.messages:
            lines += ["", f"# Current Working Directory ({self.space.root}) Files", *sorted(self.space.files)]
        used, window = self._total(), self.model.window
        lines += ["", "# Context Window Usage"]
        thousands = f"{window / 1000:,.3f}".rstrip("0").rstrip(".")
        lines += [f"{used:,} / {thousands}K tokens used ({round(100 * used / window)}%)"]
        return "\n".join([*lines, "", "# Current Mode", "ACT MODE", "</environment_details>"])

    def _total(self) -> int:
        if self._request < 0:
            return 0
        values = json.loads(as_text(self.ui[self._request]["text"]))
        return sum(int(values[name]) for name in ("tokensIn", "tokensOut", "cacheWrites", "cacheReads"))

    def _hash(self) -> str:
        self._hashes += 1
        return hashlib.sha1(f"{self.task_id} {self._hashes}".encode(), usedforsecurity=False).hexdigest()

    def _tick(self, ms: int) -> None:
        """Time passes, a little unevenly, always in the same way."""
        uneven = hashlib.sha256(f"{self.task_id} {self._now} {ms}".encode()).digest()
        self._now += ms + int.from_bytes(uneven[:2], "big") % (ms // 4 + 1)

    # --- the files ---------------------------------------------------------------------------------------------------

    def files(self) -> Iterator[tuple[str, str]]:
        """Name and text of each file of the task's directory."""
        yield "api_conversation_history.json", _compact(self.messages)
        yield "ui_messages.json", _compact(list(self.ui))
        if self.history:
            yield "context_history.json", self.history.dump()
        metadata: JsonObject = {
            "files_in_context": list(self._files.values()),
            "model_usage": [
                {
                    "ts": self.task_id + 40,
                    "model_id": self.model.model_id,
                    "model_provider_id": self.model.provider_id,
                    "mode": "act",
                }
            ],
            "environment_history": [
                {
                    "ts": self.task_id + 38,
                    "os_name": "darwin",
                    "os_version": "24.5.0",
                    "os_arch": "arm64",
                    "host_name": "Visual Studio Code",
                    "host_version": self.style.host_version,
                    "cline_version": self.style.version,
                }
            ],
        }
        yield "task_metadata.json", json.dumps(metadata, ensure_ascii=False, indent=2)

    def index_item(self) -> JsonObject:
        """The task's entry in `state/taskHistory.json`, without its size."""
        totals = task_totals(self.ui)
        item: JsonObject = {
            "id": str(self.task_id),
            "ts": int(self.ui[-1]["ts"]),  # type: ignore[arg-type]
            "task": self.title,
            "tokensIn": totals.tokens_in,
            "tokensOut": totals.tokens_out,
            "cacheWrites": totals.cache_writes or 0,
            "cacheReads": totals.cache_reads or 0,
            "totalCost": round(totals.cost, 6),
            "size": 0,
            "shadowGitConfigWorkTree": self.space.root,
            "cwdOnTaskInitialization": self.space.root,
        }
        if self.deleted is not None:
            item["conversationHistoryDeletedRange"] = list(self.deleted)
        item["isFavorited"] = False
        if self.style.model_info:
            item["modelId"] = self.model.model_id
        return item


CONDENSE = (
    "The user asked to make this conversation shorter. Write a summary of all that is needed to go on: the task, the "
    "decisions, the files and what was changed in them, what is left. Hand it over with the condense tool."
)


def _text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def _feedback_block(feedback: str) -> list[JsonObject]:
    return [_text(f"The user has this to say:\n<feedback>\n{feedback}\n</feedback>")] if feedback else []


def _result_words(block: JsonObject) -> str:
    content = block.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return as_text(first.get("text")) if isinstance(first, dict) else ""


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
