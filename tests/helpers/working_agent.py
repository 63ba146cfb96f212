"""An agent that works on a Cline task: writes turns the way the agent does, so that a test can interleave with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxviewer.domain.snapshot import Agent, TaskRef
from ctxviewer.engine.cline.notices import CONTEXT_TRUNCATION
from ctxviewer.sources.cline import layout

T0 = 1_700_000_000_000


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


@dataclass
class WorkingAgent:
    """One task in a storage root of its own. `write` puts memory on disk as the agent would."""

    root: Path
    task_id: str = str(T0)
    messages: list[dict[str, Any]] = field(default_factory=list)
    ui: list[dict[str, Any]] = field(default_factory=list)
    deleted: list[int] | None = None
    updates: str | None = None
    now: int = T0
    window: int = 200_000

    @property
    def directory(self) -> Path:
        return self.root / "tasks" / self.task_id

    @property
    def index(self) -> Path:
        return self.root / "state" / "taskHistory.json"

    @property
    def ref(self) -> TaskRef:
        return TaskRef(
            Agent.CLINE, self.task_id, self.directory, self.root, "", "story", T0, self.now, 0, in_index=True
        )

    def tick(self, ms: int = 1_000) -> int:
        self.now += ms
        return self.now

    def entry(self, kind: str, text: str = "", *, ask: bool = False, **more: Any) -> dict[str, Any]:
        word = "ask" if ask else "say"
        made = {
            "ts": self.tick(),
            "type": word,
            word: kind,
            "text": text,
            "conversationHistoryIndex": len(self.messages) - 1,
        }
        if self.deleted is not None:
            made["conversationHistoryDeletedRange"] = list(self.deleted)
        made.update(more)
        self.ui.append(made)
        return made

    def turn(self, words: str, *, read: str = "", body: str = "", tokens: int = 20_000) -> None:
        """One request with its answer and a checkpoint; with `read`, the user message holds a file."""
        if not self.messages:
            self.entry("task", words)
        elif self.messages[-1]["role"] == "user":
            self.messages.pop()  # a resumed task takes the last words of the user back and sends them anew
        numbers = {
            "request": words,
            "tokensIn": tokens,
            "tokensOut": 500,
            "cacheWrites": 0,
            "cacheReads": 0,
            "cost": 0.01,
        }
        self.entry("api_req_started", json.dumps(numbers, separators=(",", ":")))
        blocks = []
        if read:
            blocks.append({"type": "text", "text": f"[read_file for '{read}'] Result:\n{body}"})
        blocks += [
            {"type": "text", "text": f"<task>\n{words}\n</task>" if not self.messages else words},
            {"type": "text", "text": "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"},
        ]
        self.messages.append({"role": "user", "content": blocks})
        self.entry("text", f"answer to {words}")
        self.messages.append({"role": "assistant", "content": [{"type": "text", "text": f"answer to {words}"}]})
        self.entry("checkpoint_created", lastCheckpointHash=f"{self.now:040x}")

    def item(self) -> dict[str, Any]:
        made = {
            "id": self.task_id,
            "ts": self.now,
            "task": "story \U0001f642",
            "tokensIn": 0,
            "tokensOut": 0,
            "totalCost": 0,
            "unknownField": {"kept": [1, 2]},
        }
        if self.deleted is not None:
            made["conversationHistoryDeletedRange"] = list(self.deleted)
        return made

    def write(self) -> None:
        """All files, by temp and rename, messages first."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.index.parent.mkdir(parents=True, exist_ok=True)
        self.put(self.directory / layout.API, compact(self.messages))
        if self.updates is not None:
            self.put(self.directory / layout.UPDATES, self.updates.encode())
        self.put(self.directory / "ui_messages.json", compact(self.ui))
        other = {"id": "1", "ts": 5, "task": "another", "tokensIn": 1, "tokensOut": 2, "totalCost": 0.5}
        self.put(self.index, compact([other, self.item()]))

    @staticmethod
    def put(path: Path, content: bytes) -> None:
        temp = path.with_name(f"{path.name}.tmp.1.agent.json")
        temp.write_bytes(content)
        temp.replace(path)

    def load(self) -> None:
        """Take over what stands on disk, as a task that is opened again."""
        self.messages = json.loads((self.directory / layout.API).read_bytes())
        self.ui = json.loads((self.directory / "ui_messages.json").read_bytes())
        path = self.directory / layout.UPDATES
        self.updates = path.read_text() if path.exists() else None
        item = next(item for item in json.loads(self.index.read_bytes()) if item["id"] == self.task_id)
        self.deleted = item.get("conversationHistoryDeletedRange")
        self.now = max(self.now, *(entry["ts"] for entry in self.ui))

    def files(self) -> dict[str, bytes | None]:
        """Every file's bytes by name, the index included."""
        names = [layout.API, layout.UPDATES, "ui_messages.json"]
        found = {name: self.directory / name for name in names} | {"index": self.index}
        return {name: self._content(path) for name, path in found.items()}

    @staticmethod
    def _content(path: Path) -> bytes | None:
        """None when it is not there, also when it goes this moment."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


NOTICE = CONTEXT_TRUNCATION
