"""The bundled sample tasks, as a copy that may be changed: a write must never reach the program's own files."""

from __future__ import annotations

from pathlib import Path

from ctxviewer import resources
from ctxviewer.domain.errors import CtxError
from ctxviewer.sources.samples import fresh_samples, samples_folder


def has_samples() -> bool:
    """True when the samples are installed."""
    try:
        return resources.path("samples").is_dir()
    except FileNotFoundError:
        return False


def copy_samples(data_folder: Path, *, fresh: bool = False) -> Path:
    """The folder of the copy; made when it is missing, or with `fresh` anew. CtxError when it cannot be made."""
    target = samples_folder(data_folder)
    try:
        if fresh or not target.exists():
            fresh_samples(data_folder)
    except OSError as error:
        raise CtxError(
            f"The samples cannot be copied: {error.strerror or error}.",
            hint="Make room in the data folder, or give its owner the right to write.",
            place=str(target),
        ) from error
    return target
