"""Where the tokens of a request go, as one JSON object and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.composition import Branch, Composition, Repeat
from ctxviewer.engine.words import grouped, percent, plural
from ctxviewer.exports.report import one_line
from ctxviewer.exports.values import request_number

ROWS = 12
"""Rows of each list on a terminal; JSON has all."""


def composition_json(made: Composition) -> JsonObject:
    """The whole composition. `tokens` are counted, `scaled` are in the provider's."""
    system: JsonObject = {"tokens": made.system, "source": made.system_sentence}
    return {
        "request": request_number(made.request),
        "reported": made.reported,
        "counted": made.counted,
        "images": made.pictures,
        "uncounted": list(made.unknown),
        "scale": {
            "slope": made.scale.slope,
            "per_image": made.scale.per_picture,
            "system": made.scale.system,
            "source": made.scale.sentence,
        },
        "system": system,
        "total": made.total,
        "categories": _branches(made, made.categories),
        "files": _branches(made, made.by_file()),
        "tools": _branches(made, made.by_tool()),
        "by_message": [
            {"message": int(row.name), "tokens": row.tokens, "scaled": _scaled(made, row), "images": row.pictures}
            for row in made.by_message()
        ],
        "repeats": [_repeat_json(repeat) for repeat in made.repeats],
        "spare": made.spare,
    }


def _branches(made: Composition, branches: Iterable[Branch]) -> Json:
    return [
        {
            "name": branch.name,
            "tokens": branch.tokens,
            "scaled": _scaled(made, branch),
            "images": branch.pictures,
            "messages": list(branch.messages),
            "children": _branches(made, branch.children),
        }
        for branch in branches
    ]


def _scaled(made: Composition, branch: Branch) -> float:
    return round(made.scaled(branch.tokens, branch.pictures), 1)


def _repeat_json(repeat: Repeat) -> JsonObject:
    return {
        "title": repeat.title,
        "is_file": repeat.is_file,
        "places": [{"message": message, "block": block} for message, block in repeat.places],
        "tokens": repeat.tokens,
        "spare": repeat.spare,
    }


def composition_lines(made: Composition) -> Iterator[str]:
    """For people on a terminal."""
    total = made.total
    reported = "nothing reported" if made.reported is None else f"{grouped(made.reported)} tokens of input reported"
    images = f", {plural(made.pictures, 'image')}" if made.pictures else ""
    yield f"  {reported}; {grouped(made.counted)} counted in its messages{images}"
    if made.unknown:
        yield f"  {plural(len(made.unknown), 'message')} not counted"
    yield ""
    yield f"  {'':36} {'counted':>10} {'calibrated':>11}"
    if made.system is not None:
        yield _line("system prompt and tools", None, made.system, total) + f"  ({made.system_sentence})"
    for branch in made.categories:
        yield _line(branch.name, branch.tokens, made.scaled(branch.tokens, branch.pictures), total)
        for child in branch.children[:ROWS]:
            yield _line(f"  {child.name}", child.tokens, made.scaled(child.tokens, child.pictures), total)
        if len(branch.children) > ROWS:
            yield f"    … {len(branch.children) - ROWS} more"
    if made.repeats:
        yield ""
        yield f"  Repeated: {grouped(made.spare)} counted tokens are copies of something that is sent again later"
        for repeat in made.repeats[:ROWS]:
            places = ", ".join(dict.fromkeys(str(message) for message, _ in repeat.places))
            what = "file" if repeat.is_file else "text"
            copies = f"{len(repeat.places)}× in messages {places}"
            yield f"    {grouped(repeat.spare):>8}  {what} {one_line(repeat.title, 60)}, {copies}"
        if len(made.repeats) > ROWS:
            yield f"    … {len(made.repeats) - ROWS} more"


def _line(name: str, counted: float | None, scaled: float, total: float) -> str:
    share = percent(scaled / total) if total else ""
    number = "" if counted is None else grouped(counted)
    indent = "  " if name.startswith(" ") else ""
    words = indent + one_line(name, 36 - len(indent))
    return f"  {words:36} {number:>10} {grouped(round(scaled)):>11} {share:>7}"
