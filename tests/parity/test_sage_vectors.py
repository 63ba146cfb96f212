"""Recorded cases of Sage's rules, one test a case. `--vectors DIR` takes them from DIR instead of the bundled ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from ctxviewer.engine.sage.auto_compact import AutoCompact, Compacted
from ctxviewer.engine.sage.boundary import active_part, is_boundary, last_boundary, make_boundary
from ctxviewer.engine.sage.config import AutoCompactConfig, ContextConfig, OverflowStrategy
from ctxviewer.engine.sage.estimator import DEFAULT_ESTIMATOR, TokenEstimator, utf8_length
from ctxviewer.engine.sage.manager import ContextManager, ContextOverflowError
from ctxviewer.engine.sage.message import SageMessage, ToolSchema, read_message, read_tool
from ctxviewer.engine.sage.pruner import MessagePruner
from ctxviewer.engine.sage.session import SageSession
from ctxviewer.engine.sage.streaming import StreamingTokenCounter
from ctxviewer.engine.sage.summarizer import extract_summary, simple_summary
from helpers.vector_files import SAGE, NoVectorsError, cases_under

Case = dict[str, Any]


def cases(option: str | None = None) -> Iterator[Any]:
    """The cases of all files in `--vectors DIR`, else the bundled ones."""
    for path, file, case in cases_under(option, SAGE):
        if file.get("format") != 1 or case["kind"] not in RUNNERS:
            raise NoVectorsError(f"--vectors: {path} is of another format or holds the unknown kind {case['kind']!r}")
        yield pytest.param(case, id=f"{path.name.partition('.')[0]}-{case['id']}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sage_case" in metafunc.fixturenames:
        metafunc.parametrize("sage_case", list(cases(metafunc.config.getoption("--vectors"))))


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else value["unit"] * value["times"]


def messages_of(values: Sequence[Case]) -> list[SageMessage]:
    return [
        read_message({**value, "content": text_of(value["content"])})
        for value in values
        for _ in range(value.get("count", 1))
    ]


def tools_of(values: Sequence[Case] | None) -> list[ToolSchema]:
    return [
        read_tool({**value, "name": text_of(value["name"]), "description": text_of(value["description"])})
        for value in values or ()
    ]


def fields_of(fields: Case | None) -> Case:
    """Fields of a configuration: ratios are floats, also when they were recorded as 1 or as "inf"."""
    return {name: float(value) if name.endswith("_ratio") else value for name, value in (fields or {}).items()}


def context_config(base: ContextConfig, fields: Case | None) -> ContextConfig:
    changes = fields_of(fields)
    if "overflow_strategy" in changes:
        changes["overflow_strategy"] = OverflowStrategy(changes["overflow_strategy"])
    return replace(base, **changes)


def manager_of(value: Case) -> ContextManager:
    if value.get("via", "new") == "for_provider":
        made = ContextManager.for_provider(value.get("provider"), value.get("model"))
    else:
        made = ContextManager(ContextConfig(), TokenEstimator.for_provider(value.get("estimator")))
    return replace(made, config=context_config(made.config, value.get("config")))


def same(found: Any, expected: Any) -> bool:
    """Floats to a relative 1e-6, "inf" and "nan" as their values, everything else exactly and of the same type."""
    if isinstance(expected, dict):
        return set(found) == set(expected) and all(same(found[key], expected[key]) for key in expected)
    if isinstance(found, float):
        wanted = float(expected)
        return math.isnan(found) if math.isnan(wanted) else math.isclose(found, wanted, rel_tol=1e-6)
    return type(found) is type(expected) and found == expected


class ModelError(Exception):
    """What the failing model raises."""


class Model:
    """A model that always answers the same, always fails, or is not there; it counts the calls."""

    def __init__(self, case: Case) -> None:
        self.calls = 0
        self._reply = case.get("reply")
        self._error = case.get("reply_error")
        self.call: Callable[[str], str] | None = self._answer if "reply" in case or "reply_error" in case else None

    def _answer(self, prompt: str) -> str:
        assert prompt
        self.calls += 1
        if self._error is not None:
            raise ModelError(self._error)
        return text_of(self._reply)


class Names:
    """Messages by name: the number of an input message, or the name of one that was made."""

    def __init__(self) -> None:
        self._names: dict[int, int | str] = {}
        self._made: dict[str, SageMessage] = {}
        self._alive: list[SageMessage] = []

    def add(self, messages: Sequence[SageMessage]) -> None:
        for message in messages:
            self._names[id(message)] = len(self._alive)
            self._alive.append(message)

    def make(self, name: str, message: SageMessage) -> None:
        self._names[id(message)] = name
        self._made[name] = message

    def of(self, messages: Sequence[SageMessage]) -> list[int | str]:
        return [self._names[id(message)] for message in messages]

    def tokens(self, value: Any, estimator: TokenEstimator) -> int:
        if isinstance(value, int):
            return value
        return value["base"] + sum(estimator.message(self._made[name]) for name in value["made"])


def check_summary(expected: Case, summary: str) -> None:
    assert ("summary_text" in expected) != ("summary_counts" in expected)
    if "summary_text" in expected:
        assert summary == text_of(expected["summary_text"])
    else:
        counts = expected["summary_counts"]
        assert numbers_in(summary) == [counts["user"], counts["assistant"]]


def numbers_in(text: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", text)]


def run_ctx_config(given: Case, expected: Case) -> None:
    config = context_config(ContextConfig.for_provider(given.get("provider"), given.get("model")), given.get("config"))
    assert same({**asdict(config), "overflow_strategy": config.overflow_strategy.value}, expected["config"])
    assert config.threshold_tokens == expected["threshold_tokens"]
    assert config.target_tokens == expected["auto_target_tokens"]


def run_ac_config(given: Case, expected: Case) -> None:
    base = AutoCompactConfig.for_provider(given.get("provider"), given.get("model"))
    config = replace(base, **fields_of(given.get("config"))).with_override(given.get("env"))
    assert same(asdict(config), expected["config"])
    assert config.threshold_tokens == expected["threshold_tokens"]
    assert config.target_tokens == expected["target_tokens"]


def run_estimate(given: Case, expected: Any) -> None:
    estimator = TokenEstimator.for_provider(given.get("provider"))
    match given["what"]:
        case "string":
            assert estimator.text(text_of(given["text"])) == expected
        case "messages":
            messages = messages_of(given["messages"])
            assert list(estimator.each(messages)) == expected["each"]
            assert estimator.conversation(messages) == expected["conversation"]
        case "tools":
            assert estimator.tools(tools_of(given["tools"])) == expected
        case "request":
            tools = tools_of(given.get("tools"))
            assert estimator.request(messages_of(given["messages"]), tools) == expected
        case other:
            pytest.fail(f"unknown estimate: {other}")


def run_prune(given: Case, expected: Case) -> None:
    estimator = TokenEstimator.for_provider(given.get("estimator"))
    messages = messages_of(given["messages"])
    names = Names()
    names.add(messages)
    pruner = MessagePruner(context_config(ContextConfig(), given.get("config")), estimator)
    result = pruner.prune(messages, given["target"])
    assert names.of(result.messages) == expected["kept"] == list(result.numbers)
    assert names.of(result.removed) == expected["removed"] == list(result.removed_numbers)
    assert result.removed_count == expected["removed_count"]
    assert result.tokens_saved == expected["tokens_saved"]
    assert result.tokens_after == expected["kept_tokens"] == estimator.conversation(result.messages)


def run_usage(given: Case, expected: Case) -> None:
    usage = manager_of(given["manager"]).usage(messages_of(given["messages"]))
    assert same({key: getattr(usage, key) for key in expected}, expected)


def run_prepare(given: Case, expected: Case) -> None:
    manager, model, names = manager_of(given["manager"]), Model(given), Names()
    messages, tools = messages_of(given["messages"]), tools_of(given.get("tools"))
    names.add(messages)
    before = list(messages)

    def prepare() -> Any:
        return manager.prepare(
            messages, tools, now=lambda: "2026-01-02T03:04:05Z", new_id=lambda: "an id", model=model.call
        )

    if expected.get("error") == "llm":
        with pytest.raises(ModelError):
            prepare()
        assert messages == before
        return
    if expected.get("error") == "overflow":
        with pytest.raises(ContextOverflowError) as caught:
            prepare()
        assert caught.value.current_tokens == expected["current_tokens"]
        assert caught.value.threshold_tokens == expected["threshold_tokens"]
        assert caught.value.max_tokens == manager.config.max_context_tokens
        return
    result = prepare()
    if result.made is not None:
        names.make("boundary:1" if result.compaction else "summary", result.made)
    assert (result.was_pruned, result.was_summarized) == (expected["was_pruned"], expected["was_summarized"])
    assert result.removed_count == expected["removed_count"]
    assert names.of(result.messages) == expected["messages"]
    assert [place for place in result.numbers if place is not None] == [
        name for name in expected["messages"] if isinstance(name, int)
    ]
    assert result.original_tokens == names.tokens(expected["original_tokens"], manager.estimator)
    assert result.final_tokens == names.tokens(expected["final_tokens"], manager.estimator)
    assert result.final_tokens == manager.estimator.request(result.messages, tools)
    if "summarised" in expected:
        assert list(result.removed) == expected["summarised"]
        check_summary(expected, result.compaction.summary if result.compaction else result.made.content)
    if "llm_calls" in expected:
        assert model.calls == expected["llm_calls"]


def run_boundary(given: Case, expected: Case) -> None:
    messages = messages_of(given["messages"])
    names = Names()
    names.add(messages)
    assert [is_boundary(message) for message in messages] == expected["is"]
    assert last_boundary(messages) == expected["last"]
    assert names.of(active_part(messages)) == expected["slice"]


def run_make_boundary(given: Case, expected: Case) -> None:
    summary = text_of(given["summary"])
    message = make_boundary(summary, time="2026-01-02T03:04:05Z", compact_id="an id")
    lines = message.content.split("\n")
    assert message.role == expected["role"]
    assert utf8_length(message.content) == expected["content_bytes"]
    assert len(message.content) == expected["content_chars"]
    assert (lines[0], lines[-1]) == (expected["first_line"], expected["last_line"])
    assert sorted(message.metadata) == expected["metadata_keys"]
    assert message.metadata["compact_summary"] == summary
    for provider, tokens in expected["tokens"].items():
        assert TokenEstimator.for_provider(provider).message(message) == tokens


def run_session(given: Case, expected: Case) -> None:
    model, names = Model(given), Names()
    config = replace(AutoCompactConfig(), **fields_of(given.get("config"))).with_override(given.get("env"))
    auto = AutoCompact(config, now=lambda: "2026-01-02T03:04:05Z", new_id=lambda: "an id", model=model.call)
    session = SageSession()
    assert len(given["steps"]) == len(expected["steps"])
    for step, wanted in zip(given["steps"], expected["steps"], strict=True):
        added = messages_of(step.get("add", ()))
        names.add(added)
        session.extend(added)
        assert auto.needs_compaction(session.messages) is wanted["needs"]
        assert auto.active_tokens(session.messages) == wanted["active_tokens"]
        assert config.threshold_tokens == wanted["threshold_tokens"]
        run_step(step["do"], session, auto, names, wanted["result"])
        assert names.of(session.messages) == wanted["messages"]
        stats = wanted["stats"]
        assert auto.stats.compact_count == stats["compact_count"]
        assert auto.stats.skipped_count == stats["skipped_count"]
        if "tokens_saved" in stats:
            assert auto.stats.tokens_saved == stats["tokens_saved"]
    if "llm_calls" in expected:
        assert model.calls == expected["llm_calls"]


def run_step(do: str, session: SageSession, auto: AutoCompact, names: Names, wanted: Case | None) -> None:
    if do == "none":
        assert wanted is None
        return
    assert wanted is not None
    act = {"check": session.check, "force": session.force}[do]
    if wanted.get("error"):
        with pytest.raises(ModelError):
            act(auto)
        return
    old = list(session.messages)
    result = act(auto)
    if wanted["status"] == "skipped":
        assert not isinstance(result, Compacted)
        return
    assert isinstance(result, Compacted)
    names.make(f"boundary:{auto.stats.compact_count}", result.boundary)
    assert result.messages_compacted == wanted["messages_compacted"]
    assert names.of([old[number] for number in result.compacted]) == wanted["compacted"]
    assert result.tokens_before == names.tokens(wanted["tokens_before"], DEFAULT_ESTIMATOR)
    assert result.tokens_after == names.tokens(wanted["tokens_after"], DEFAULT_ESTIMATOR)
    assert result.tokens_after == DEFAULT_ESTIMATOR.conversation(result.messages)
    if "tokens_saved" in wanted:
        assert result.tokens_saved == wanted["tokens_saved"]
    check_summary(wanted, result.summary)


def run_extract(given: Case, expected: Any) -> None:
    assert extract_summary(text_of(given["text"])) == text_of(expected)


def run_simple(given: Case, expected: Case) -> None:
    assert numbers_in(simple_summary(messages_of(given["messages"]))) == [expected["user"], expected["assistant"]]


def run_stream(given: Case, expected: list[Case]) -> None:
    counter = StreamingTokenCounter(TokenEstimator.for_provider(given.get("provider")))
    assert len(given["steps"]) == len(expected)
    for step, wanted in zip(given["steps"], expected, strict=True):
        {"input": counter.record_input, "output": counter.record_output}[step["do"]](text_of(step["text"]))
        assert counter.input_tokens == wanted["input_tokens"]
        assert counter.output_tokens == wanted["output_tokens"]


RUNNERS: dict[str, Callable[[Any, Any], None]] = {
    "ctx_config": run_ctx_config,
    "ac_config": run_ac_config,
    "estimate": run_estimate,
    "prune": run_prune,
    "usage": run_usage,
    "prepare": run_prepare,
    "boundary": run_boundary,
    "make_boundary": run_make_boundary,
    "session": run_session,
    "extract": run_extract,
    "simple": run_simple,
    "stream": run_stream,
}


def test_vector(sage_case: Case) -> None:
    RUNNERS[sage_case["kind"]](sage_case["in"], sage_case["out"])


def test_bundled_vectors_are_complete() -> None:
    kinds: dict[str, int] = {}
    for param in cases():
        kind = param.values[0]["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
    assert set(kinds) == set(RUNNERS)
    assert sum(kinds.values()) == 164
