"""All tasks on this machine: of every known root, and of folders that the user gave."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.snapshot import TaskRef
from ctxviewer.sources import registry
from ctxviewer.sources.places import Places, Root


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of one look around."""

    tasks: tuple[TaskRef, ...]
    """Newest first, each folder once."""
    roots: tuple[Root, ...]
    """Roots that exist, whether they hold tasks or not: what a watcher watches."""
    findings: tuple[Finding, ...]
    """Roots that could not be listed, and folders that were not searched to the end."""


def known_roots(places: Places | None = None) -> tuple[Root, ...]:
    """Every root of every agent that exists on this machine."""
    where = places or Places.here()
    return tuple(root for adapter in registry.AGENTS for root in adapter.roots(where))


def find_tasks(extra_roots: Iterable[Path | str] = (), *, places: Places | None = None) -> tuple[TaskRef, ...]:
    """All tasks, newest first. Roots that cannot be read are left out; `look_around` says why."""
    return look_around(extra_roots, places=places).tasks


def look_around(extra_roots: Iterable[Path | str] = (), *, places: Places | None = None) -> Found:
    """All tasks of the known roots and of the given folders, without reading any of them. Never raises for content.

    Given folders may be anything that `registry.open_path` takes; those that are gone are told as findings.
    """
    where = places or Places.here()
    refs: list[TaskRef] = []
    roots: list[Root] = []
    findings: list[Finding] = []
    seen: set[str] = set()
    for adapter in registry.AGENTS:
        for root in adapter.roots(where):
            real = os.path.realpath(root.path)
            if real in seen:
                continue
            seen.add(real)
            roots.append(root)
            try:
                refs.extend(adapter.list_root(root.path, root.host))
            except CtxError as error:
                findings.append(_finding(error, root.path))
    for extra in extra_roots:
        path = Path(extra)
        if os.path.realpath(path) in seen:
            continue
        try:
            tasks = registry.open_path(path, findings.append)
        except CtxError as error:
            findings.append(_finding(error, path))
            continue
        refs.extend(tasks)
        roots.extend(Root(known, "") for known in dict.fromkeys(Path(task.root) for task in tasks))
    unique_roots = {os.path.realpath(root.path): root for root in reversed(roots)}
    return Found(registry.unique(refs), tuple(reversed(unique_roots.values())), tuple(findings))


def _finding(error: CtxError, path: Path) -> Finding:
    return Finding("root-unreadable", Severity.WARNING, error.sentence, str(path), error.place, error.hint)
