"""The loss report, as stable JSON and as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ctxviewer.domain.json import Json, JsonObject
from ctxviewer.engine.losses import FileLoss, Loss, LossReport, Seen
from ctxviewer.engine.words import plural, request_name
from ctxviewer.exports.report import one_line
from ctxviewer.exports.values import SCHEMA, event_json, request_number


def losses_json(report: LossReport) -> JsonObject:
    """Every loss, highest score first."""
    return {
        "schema": SCHEMA,
        "request": request_number(report.request),
        "losses": [_loss_json(loss) for loss in report.losses],
    }


def _loss_json(loss: Loss) -> JsonObject:
    return {
        "kind": str(loss.kind),
        "heuristic": loss.heuristic,
        "title": loss.title,
        "message": loss.message,
        "block": loss.block,
        "last_request": request_number(loss.request),
        "since_request": request_number(loss.since),
        "event": None if loss.event is None else event_json(loss.event),
        "sentence": loss.why,
        "score": loss.score,
        "reasons": list(loss.reasons),
        "file": None if loss.file is None else _file_json(loss.file),
    }


def _file_json(file: FileLoss) -> JsonObject:
    return {
        "last_read": _seen_json(file.last_read),
        "last_edit": _seen_json(file.last_edit),
        "edited_since": file.edited_since,
        "reads": file.reads,
        "read_again": file.read_again,
    }


def _seen_json(seen: Seen | None) -> Json:
    return None if seen is None else {"message": seen.message, "request": request_number(seen.request)}


def losses_text(report: LossReport) -> str:
    """The same for people."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: LossReport) -> Iterator[str]:
    where = "now" if report.request is None else f"at {request_name(report.request)}"
    if not report.losses:
        yield f"Nothing is lost {where}: what was sent before is still sent."
        return
    yield f"Lost {where}: {plural(len(report.losses), 'thing')}, what matters most first"
    for loss in report.losses:
        yield ""
        kind = f"{loss.kind} (heuristic)" if loss.heuristic else str(loss.kind)
        yield f"{loss.score:>5}  {kind}: {one_line(loss.title, 90)}"
        last = f"last sent with {request_name(loss.request)}" if loss.request is not None else "never sent"
        yield f"       message {loss.message}, {last}. {loss.why}"
        if loss.file is not None:
            yield f"       {_file_words(loss.file)}"
        yield f"       {'; '.join(loss.reasons)}"


def _file_words(file: FileLoss) -> str:
    parts = [
        f"last read in {_place(file.last_read)}" if file.last_read else "never read",
        f"last edited in {_place(file.last_edit)}" if file.last_edit else "not edited by the assistant",
        f"read {plural(file.reads, 'time')}",
    ]
    if file.read_again:
        parts.append(f"sent again {plural(file.read_again, 'time')} after a loss")
    return ", ".join(parts)


def _place(seen: Seen) -> str:
    request = "" if seen.request is None else f" ({request_name(seen.request)})"
    return f"message {seen.message}{request}"
