"""What a bug report needs: versions, paths and counts. Never text of a conversation."""

from __future__ import annotations

import sys

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from ctxviewer import __version__
from ctxviewer.services.session import Session
from ctxviewer.services.settings import Settings

LIBRARIES = ("PySide6-Essentials", "pyqtgraph", "numpy", "msgspec", "watchdog", "tiktoken", "QtAwesome")


def versions() -> tuple[str, ...]:
    """One line a program and library."""
    import platform  # noqa: PLC0415 - slow to load, and seldom asked for
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    lines = [
        f"ctxviewer {__version__}",
        f"Python {sys.version.split()[0]} on {platform.platform()}",
        f"Qt {qVersion()} ({QGuiApplication.platformName()})",
    ]
    for name in LIBRARIES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} not installed")
    return tuple(lines)


def diagnostics(session: Session, settings: Settings, known_tasks: int) -> str:
    """A report to paste, without text of any conversation."""
    lines = [*versions(), f"settings: {settings.file}", f"tasks known: {known_tasks}"]
    snapshot = session.snapshot
    if session.task is not None:
        lines.append(f"task: {session.task.directory}")
    if snapshot is not None:
        model = snapshot.model
        lines += [
            f"messages {len(snapshot.messages)}, entries {len(snapshot.ui)}, requests {len(snapshot.requests)}",
            f"checkpoints {len(snapshot.checkpoints)}, deleted range {snapshot.range_now}",
            f"model {model.model_id or 'unknown'}, window {model.window:,} ({model.window_source})",
            *(f"file: {stamp.path} {stamp.size:,} bytes" for stamp in snapshot.files if stamp.exists),
            *(f"finding: {finding.code} {finding.file} {finding.place}" for finding in snapshot.findings),
        ]
    return "\n".join(lines)
