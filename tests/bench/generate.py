"""A long invented task, made on the fly: 123 MB, 10,000 messages, 2,000 requests. Kept in build/bench between runs.

Text is mixed (code, English, CJK, emoji, JSON), files are read again and again, and the context was managed by the
engine's own rules about every hundred requests, so that ranges, updates and events are there as in a real task.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.domain.ranges import Range
from ctxviewer.engine.cline.prepare import decide
from ctxviewer.engine.cline.updates import EMPTY, ContextHistory
from ctxviewer.engine.cline.window import Api, window_info

VERSION = 3
"""Raise it when the generator changes: older files are then made anew."""
PROJECT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CTXVIEWER_BENCH_FOLDER", PROJECT / "build" / "bench"))
TASK_ID = 1_760_000_000_000
WINDOW = 200_000

SYLLABLES = [
    "ta",
    "ri",
    "no",
    "sel",
    "va",
    "mun",
    "der",
    "ap",
    "lo",
    "ke",
    "shi",
    "bra",
    "con",
    "ex",
    "ti",
    "ous",
    "re",
    "per",
    "al",
    "in",
    "mo",
    "dal",
    "fi",
    "gra",
    "ne",
    "po",
]
CJK = "请阅读该文件并修复登录表单的错误用户说密码重置邮件没有发送出去需要检查队列配置服务器日志数据测试函数返回値時間設定画面会議次回確認"
EMOJI = "🙂🚀✅❌🔥📦🧪👩‍💻🇵🇹"


@dataclass(frozen=True)
class BenchTask:
    """Where the task lies and what it should be."""

    root: Path
    directory: Path
    messages: int
    requests: int

    @property
    def api(self) -> Path:
        """The API history."""
        return self.directory / "api_conversation_history.json"


class Writer:
    """Makes text of several kinds; the same seed gives the same words."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        chance = self.chance
        words = ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(3_000)]
        self.english = [" ".join(chance.choices(words, k=14)).capitalize() + "." for _ in range(1_500)]
        self.code = [self._code_line(words) for _ in range(3_000)]
        self.cjk = ["".join(chance.choices(CJK, k=24)) + "。" for _ in range(400)]
        self.json = [json.dumps({word: chance.random(), "id": chance.randint(1, 10**9)}) + "," for word in words[:800]]
        self.emoji = ["".join(chance.choices(EMOJI, k=5)) + " " + line for line in self.english[:200]]

    def _code_line(self, words: list[str]) -> str:
        chance = self.chance
        a, b, c = chance.choices(words, k=3)
        shapes = (
            f"def {a}_{b}({c}: int) -> str:",
            f"{a} = {b}.{c}({chance.randint(0, 99)}, '{c}')",
            f"if {a} is not None:",
            f"return [{b}({a}) for {a} in {c}]",
            f"# {a} {b} {c}",
        )
        return " " * (4 * chance.randint(0, 4)) + chance.choice(shapes)

    def lines(self, kind: str, characters: int) -> str:
        """About so many characters of one kind."""
        pool: list[str] = getattr(self, kind)
        average = sum(map(len, pool[:50])) // 50 + 1
        return "\n".join(self.chance.choices(pool, k=max(1, characters // average)))


def bench_task(messages: int = 10_000, requests: int = 2_000, megabytes: float = 123) -> BenchTask:
    """The task of this size, made if it is not there yet (about half a minute)."""
    folder = BUILD / f"v{VERSION}-{messages}-{requests}-{megabytes:g}"
    task = BenchTask(folder, folder / "tasks" / str(TASK_ID), messages, requests)
    if not (folder / "done").exists():
        task.directory.mkdir(parents=True, exist_ok=True)
        (folder / "state").mkdir(exist_ok=True)
        _write(task, int(megabytes * 1_000_000))
        (folder / "done").write_text("")
    return task


def _write(task: BenchTask, size: int) -> None:
    history = _messages(task.messages, size)
    # Two messages a call would be 5,000 requests; a task whose requests were rolled back in part has fewer.
    steps = [
        index for index, _ in zip(_last_messages(task.messages, task.requests), range(task.requests), strict=False)
    ]
    ui, deleted, updates = _timeline(history, steps)
    _dump(task.api, history)
    _dump(task.directory / "ui_messages.json", ui)
    (task.directory / "context_history.json").write_text(updates.dump(), encoding="utf-8")
    item: JsonObject = {
        "id": str(TASK_ID),
        "ts": ui[-1]["ts"],
        "task": "A long benchmark task",
        "tokensIn": 0,
        "tokensOut": 0,
    }
    item |= {"cacheWrites": 0, "cacheReads": 0, "totalCost": 0, "size": size}
    if deleted is not None:
        item["conversationHistoryDeletedRange"] = list(deleted)
    _dump(task.root / "state" / "taskHistory.json", [item])


def _dump(path: Path, value: Json) -> None:
    path.write_bytes(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


def _last_messages(messages: int, requests: int) -> Iterator[int]:
    """`conversationHistoryIndex` of each request: odd numbers from -1, evenly spread up to the last answer."""
    for number in range(requests):
        yield 2 * (number * (messages // 2 - 1) // max(1, requests - 1)) - 1


def _messages(count: int, size: int) -> list[Json]:
    write = Writer(7)
    chance = write.chance
    mean = size // count
    kinds = ["code"] * 9 + ["english"] * 5 + ["json"] * 3 + ["cjk"] * 2 + ["emoji"]
    # Most bytes are in tool results; answers are short.
    files = [(f"src/{i % 40}/module_{i}.py", write.lines("code", int(mean * 1.7))) for i in range(400)]
    made: list[Json] = []
    total = 0
    for number in range(count):
        left = (size - total) / (count - number)
        if number % 2:
            text = write.lines(
                chance.choice(["english", "english", "cjk", "emoji"]), int(mean * chance.uniform(0.05, 0.3))
            )
            message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        else:
            kind, share = chance.choice(kinds), chance.uniform(0.3, 1.7) * 1.82
            text = write.lines(kind, int(left * share / (2.9 if kind == "cjk" else 1.05)))
            head, content = f"[execute_command for 'run {number}'] Result:", text
            if chance.random() < 0.35:
                path, content = chance.choice(files)
                head = f"[read_file for '{path}'] Result:"
            details = f"<environment_details>\n# Current Mode\nACT MODE\n{number}\n</environment_details>"
            blocks = [f"{head}\n{content}", details] if number else ["<task>\nA long benchmark task\n</task>", details]
            message = {"role": "user", "content": [{"type": "text", "text": block} for block in blocks]}
        total += sum(len(block["text"].encode()) for block in message["content"]) + 90
        made.append(message)
    return made


def _timeline(history: list[Json], steps: list[int]) -> tuple[list[JsonObject], Range | None, ContextHistory]:
    chance = random.Random(11)
    window = window_info(Api(context_window=WINDOW))
    ui: list[JsonObject] = []
    deleted: Range | None = None
    updates, previous, now, reads = EMPTY, 0, TASK_ID, 20_000
    for number, index in enumerate(steps):
        now += 20_000
        # The rule of the engine: from the limit on, optimise and, if that saves too little, cut.
        decision = None
        if previous >= window.limit:
            decision = decide(history[: index + 2], window, deleted, updates, total=previous, timestamp=now - 20_000)
        fresh, out = chance.randint(1_000, 1_900), chance.randint(100, 900)
        usage = {"tokensIn": 10, "tokensOut": out, "cacheWrites": fresh, "cacheReads": reads, "cost": 0.01}
        _entry(ui, now, "say", "api_req_started", json.dumps({"request": f"request {number}", **usage}), index, deleted)
        if decision is not None:
            deleted, updates, reads = decision.range_after, decision.history_after, 20_000
        previous, reads = 10 + out + fresh + reads, reads + fresh
        _entry(ui, now + 4_000, "say", "text", f"answer {number}", index + 1, deleted)
        if number % 3 == 0:
            _entry(ui, now + 9_000, "say", "checkpoint_created", "", index + 2, deleted)
            ui[-1]["lastCheckpointHash"] = f"{chance.getrandbits(160):040x}"
    return ui, deleted, updates


def _entry(ui: list[JsonObject], ts: int, kind: str, what: str, text: str, index: int, deleted: Range | None) -> None:
    entry: JsonObject = {"ts": ts, "type": kind, kind: what, "text": text, "conversationHistoryIndex": index}
    if deleted is not None:
        entry["conversationHistoryDeletedRange"] = list(deleted)
    ui.append(entry)
