"""What the strategies by Sage's rules share: the conversation as Sage's list, the settings, the way to the picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import Final

from ctxviewer.domain.errors import BrokenInputError
from ctxviewer.domain.plan import Plan, Step
from ctxviewer.domain.projection import BlockChange, Cut, Inserted, Projection
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.snapshot import ModelFact
from ctxviewer.engine.cline.project import Sent, project
from ctxviewer.engine.sage.boundary import is_boundary, utc_text
from ctxviewer.engine.sage.config import ContextConfig
from ctxviewer.engine.sage.convert import BlockNumbers, Converted, convert
from ctxviewer.engine.sage.estimator import TokenEstimator
from ctxviewer.engine.sage.message import SageMessage, TextMaker
from ctxviewer.engine.sage.picture import Half, Picture, SplitPair
from ctxviewer.engine.state import State
from ctxviewer.engine.strategies.base import Job, Setting, SettingKind
from ctxviewer.engine.strategies.carried import runs
from ctxviewer.engine.words import grouped, plural

AGENT: Final = "Sage"
SOURCE: Final = "Sage's rules as specified for this program (thresholds and estimates in binary32), with recorded cases"

_LARGEST_COUNT: Final = 100_000
_PROVIDERS: Final = ("anthropic", "openai", "google")
_LISTED_RUNS: Final = 4
_SPLIT_STEPS: Final = 8
"""So many separated calls get a step each; more get one step together."""

PROVIDER = Setting(
    "provider",
    SettingKind.CHOICE,
    "task",
    "Whose built-in figures are used: estimate of tokens, threshold, recent messages. 'task' goes by the task's model.",
    choices=("task", *_PROVIDERS, "other"),
)
ALWAYS = Setting(
    "always",
    SettingKind.SWITCH,
    False,
    "Act even below the threshold; a replay looks at the threshold all the same.",
)


def threshold_setting(meaning: str) -> Setting:
    """A share of the window."""
    return Setting("threshold", SettingKind.SHARE, None, meaning, low=0, high=10)


def recent_setting(meaning: str) -> Setting:
    """How many messages always stay."""
    return Setting("recent", SettingKind.WHOLE, None, meaning, low=0, high=_LARGEST_COUNT)


def provider_of(job: Job) -> str:
    """The provider's name as Sage spells it; '' for any other."""
    chosen = job.text("provider")
    return (
        (chosen if chosen in _PROVIDERS else "")
        if chosen != "task"
        else _provider_of(job.state.timeline.snapshot.model)
    )


def _provider_of(model: ModelFact) -> str:
    if model.provider_id.lower() in _PROVIDERS:
        return model.provider_id.lower()
    names = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}
    return next((provider for part, provider in names.items() if part in model.model_id.lower()), "")


def estimator_of(job: Job) -> TokenEstimator:
    """The provider's estimator."""
    return TokenEstimator.for_provider(provider_of(job))


def context_config(job: Job) -> ContextConfig:
    """Sage's settings for the job's window: the built-in ones of the provider and model, and what was set."""
    column = ContextConfig.for_provider(provider_of(job), job.state.timeline.snapshot.model.model_id)
    threshold, recent = job.number("threshold"), job.number("recent")
    return replace(
        column,
        max_context_tokens=int(job.window.window),
        threshold_ratio=column.threshold_ratio if threshold is None else threshold,
        preserve_recent_count=column.preserve_recent_count if recent is None else int(recent),
        preserve_system_messages=job.switch("keep_system"),
    )


KEEP_SYSTEM = Setting(
    "keep_system", SettingKind.SWITCH, True, "System messages are never removed. Cline stores none, as a rule."
)


def makers(timestamp: int | None) -> tuple[TextMaker, TextMaker]:
    """Time and id for the boundary of one request, the same at each run: the rules read no clock."""
    stamp = timestamp or 0
    return (lambda: utc_text(stamp)), (lambda: f"00000000-0000-4000-8000-{stamp % 2**48:012x}")


def listed(numbers: Sequence[int]) -> str:
    """Ascending message numbers in a sentence: '2–105, 108 …'."""
    found = runs(list(numbers))
    words = ", ".join(str(run) if run.length > 1 else str(run.start) for run in found[:_LISTED_RUNS])
    return (words + (" …" if len(found) > _LISTED_RUNS else "")) or "none as a whole"


def sage_list(job: Job) -> Converted:
    """The conversation as sent before Sage's rules, as Sage's list. BrokenInputError where it cannot be worked out."""
    return job.facts.remembered("sage list", job.state, lambda: _converted(job.state))


def _converted(state: State) -> Converted:
    projection, messages = state.projection, state.messages
    if projection.first_pair == 1:
        numbers = [*range(min(1, state.until)), *range(projection.resume, state.until)]
        return convert([messages[number] for number in numbers], numbers=numbers)
    sent = project(messages, state.deleted_range, state.history)
    return convert(
        sent.messages,
        numbers=sent.stored,
        blocks=[_block_numbers(state, projection, sent, place) for place in range(len(sent.messages))],
    )


def _block_numbers(state: State, projection: Projection, sent: Sent, place: int) -> BlockNumbers | None:
    """Stored block numbers of a message as sent; None where each stands where it is stored."""
    message = sent.messages[place]
    content = message.get("content") if isinstance(message, dict) else None
    if place not in sent.repairs or not isinstance(content, list) or not content:
        return None
    blocks = state.timeline.blocks(projection, sent.stored[place])
    numbers = [
        block.stored.index if block.stored is not None else None
        for block in blocks
        if block.change is not BlockChange.REMOVED
    ]
    return numbers if len(numbers) == len(content) else [None] * len(content)


def without(
    base: Projection,
    messages: Iterable[int],
    blocks: Iterable[tuple[int, int]] = (),
    inserted: tuple[Inserted, ...] = (),
    stretches: Sequence[Range] | None = None,
) -> Projection:
    """The projection without further messages and blocks, with messages that are made up. Each run is one cut.

    `stretches`: the runs of all that is then gone, where they are known.
    """
    gone = base.gone.union(messages)
    if stretches is None:
        stretches = runs(sorted(gone.difference(base.hidden)))
    cuts = [Cut(run.start, run.end, None) for run in stretches]
    kept = [cut for cut in base.cuts if cut.first in base.hidden]
    return replace(
        base,
        gone=gone,
        gone_blocks=base.gone_blocks.union(blocks),
        inserted=(*base.inserted, *inserted),
        repairs=tuple(repair for repair in base.repairs if repair.message not in gone),
        cuts=tuple(sorted((*kept, *cuts), key=lambda cut: cut.first)),
    )


@dataclass(frozen=True, slots=True)
class Gone:
    """A stored message that goes, whole or in part."""

    message: int
    blocks: tuple[int, ...] | None
    """None = the whole message."""
    roles: str
    tokens: int


def gone_messages(converted: Converted, picture: Picture, removed: Sequence[int], costs: Sequence[int]) -> list[Gone]:
    """The stored messages behind the Sage messages that were removed, in order; `costs` of each removed one."""
    tokens: dict[int, int] = {}
    roles: dict[int, list[str]] = {}
    for number, cost in zip(removed, costs, strict=True):
        origin = converted.origins[number]
        if origin is not None and origin.message is not None:
            tokens[origin.message] = tokens.get(origin.message, 0) + cost
            roles.setdefault(origin.message, []).append(str(converted.messages[number].role))
    return [
        Gone(
            message,
            None if message in picture.hidden_messages else picture.hidden_blocks.get(message, ()),
            " and ".join(dict.fromkeys(roles[message])),
            spent,
        )
        for message, spent in tokens.items()
    ]


def removal_steps(base: Projection, going: Sequence[Gone], total: int) -> list[Step]:
    """One step for each stored message that goes, the oldest first; `total` is the estimate before."""

    whole = [item.message for item in going if item.blocks is None]
    partly = [(number, item) for number, item in enumerate(going) if item.blocks is not None]
    counts = list(accumulate((item.blocks is None for item in going), initial=0))
    known = (
        runs(whole) if not base.gone and whole == sorted(whole) and not set(base.hidden).intersection(whole) else None
    )

    def after(steps: int) -> Projection:
        lost = whole[: counts[steps]]
        blocks = [(item.message, block) for number, item in partly if number < steps for block in item.blocks or ()]
        if known is None or not lost:
            return without(base, lost, blocks)
        stretches = [Range(run.start, min(run.end, lost[-1])) for run in known if run.start <= lost[-1]]
        return without(base, lost, blocks, stretches=stretches)

    made = lru_cache(maxsize=4)(after)
    steps: list[Step] = []
    for number, item in enumerate(going, 1):
        rest = total - item.tokens
        part = "" if item.blocks is None else f", block {', '.join(map(str, item.blocks))} of it" if item.blocks else ""
        steps.append(
            Step(
                f"Message {item.message} ({item.roles}, {grouped(item.tokens)} tokens{part}) removed: "
                f"{grouped(total)} → {grouped(rest)}.",
                partial(made, number),
                {"message": item.message, "tokens": item.tokens, "before": total, "after": rest},
                ((item.message, None),)
                if item.blocks is None
                else tuple((item.message, block) for block in item.blocks),
            )
        )
        total = rest
    return steps


def hidden_by(base: Projection, picture: Picture, inserted: tuple[Inserted, ...] = ()) -> Projection:
    """The projection that a picture draws over another."""
    blocks = ((message, block) for message, hidden in picture.hidden_blocks.items() for block in hidden)
    return without(base, picture.hidden_messages, blocks, inserted)


def inserted_rows(picture: Picture, messages: Sequence[SageMessage], until: int) -> tuple[Inserted, ...]:
    """The messages that Sage made up, where they are drawn; `messages` is the new list."""
    return tuple(
        inserted_row(messages[row.number], until if row.before is None else row.before) for row in picture.rows
    )


def inserted_row(message: SageMessage, before: int) -> Inserted:
    """One message that Sage made up."""
    title = "Boundary with a summary" if is_boundary(message) else "Summary"
    return Inserted(before, str(message.role), title, message.content)


def pair_steps(picture: Picture, after: Projection) -> list[Step]:
    """What became of calls and results that were separated."""
    split = [pair for pair in picture.split if _where(pair) is not None]
    if len(split) > _SPLIT_STEPS:
        touched = tuple(dict.fromkeys(place for place in map(_where, split) if place is not None))
        words = f"{plural(len(split), 'call')} and result pairs are separated; nothing mends that in Sage's list."
        return [Step(words, after, {"separated": len(split)}, touched)]
    return [Step(_split_words(pair), after, {}, (place,)) for pair in split if (place := _where(pair)) is not None]


def _where(pair: SplitPair) -> tuple[int, int | None] | None:
    """The half that is still shown."""
    shown_call = pair.hidden is Half.RESULT
    message = pair.call_message if shown_call else pair.result_message
    block = pair.call_block if shown_call else pair.result_block
    return None if message is None else (message, block)


def _split_words(pair: SplitPair) -> str:
    if pair.hidden is Half.CALL:
        return f"The result in message {pair.result_message} has lost its call in message {pair.call_message}."
    return f"The call in message {pair.call_message} has lost its result in message {pair.result_message}."


def task_warning(picture: Picture) -> str:
    """A sentence when the first pair goes, which Sage does not protect; else ''."""
    lost = [number for number in (0, 1) if number in picture.hidden_messages]
    if not lost:
        return ""
    return (
        f"{'Messages 0 and 1 go' if len(lost) > 1 else f'Message {lost[0]} goes'}: Sage protects only system messages, "
        "and Cline stores none, so the task itself is lost."
    )


def failed_plan(plan: Plan, err: BrokenInputError) -> Plan:
    """A plan that does nothing, since what is sent cannot be worked out."""
    words = f"What is sent cannot be worked out on this history: {err.sentence}"
    return replace(plan, steps=(Step(words, plan.before),), refusal=words)
