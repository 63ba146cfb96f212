"""The single steps of a write: where a test can stop or fail it, and where an error of the system gets its name."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxviewer.domain.errors import RefusedError

StepHook = Callable[[str], None]
"""Called with 'before <step>' and 'after <step>'; may end the process or raise OSError, to prove that both are safe."""


class StepError(Exception):
    """One step failed. `path` is the file that it was about, `place` where it was writing."""

    def __init__(self, doing: str, path: Path, place: Path, error: OSError) -> None:
        super().__init__(f"{doing} {path}: {error}")
        self.doing = doing
        self.path = path
        self.place = place
        self.error = error

    @property
    def what(self) -> str:
        """What failed, in words."""
        where = "" if self.place == self.path else f" (in {self.place.parent})"
        return f"{self.doing} {self.path.name}{where}"


class Steps:
    """Runs steps by name."""

    def __init__(self, hook: StepHook | None = None) -> None:
        self._hook = hook

    @contextmanager
    def step(self, doing: str, path: Path, place: Path | None = None) -> Iterator[None]:
        """Run the body as the step `doing` on `path`, writing at `place`. An OSError in it becomes a StepError."""
        try:
            if self._hook is not None:
                self._hook(f"before {doing} {path.name}")
            yield
            if self._hook is not None:
                self._hook(f"after {doing} {path.name}")
        except OSError as error:
            raise StepError(doing, path, place or path, error) from error

    def inside(self, doing: str, path: Path) -> None:
        """A place in the middle of a step, such as between two pieces of a file."""
        if self._hook is not None:
            self._hook(f"inside {doing} {path.name}")


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "there is no permission",
    errno.EPERM: "there is no permission",
    errno.EIO: "the disk reports an error",
    errno.EFBIG: "the file would be too large",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "it is gone",
}
_HINTS = {
    errno.ENOSPC: "Free some space there and try again.",
    errno.EDQUOT: "Free some space there and try again.",
    errno.EROFS: "Make the disk writable and try again.",
    errno.EACCES: "Make the file and its folder writable and try again.",
    errno.EPERM: "Make the file and its folder writable and try again.",
}


def reason(error: OSError) -> str:
    """The cause in plain words."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error) or "unknown error")


def hint(error: OSError) -> str:
    """What to do about it."""
    return _HINTS.get(error.errno or 0, "See to the cause and try again.")


def refused(title: str, failed: StepError) -> RefusedError:
    """What the user reads when a write failed and everything is as before."""
    return RefusedError(
        f"“{title}” was not carried out: {failed.what} failed, {reason(failed.error)}. Every file is as it was.",
        hint=hint(failed.error),
        place=str(failed.place),
    )
