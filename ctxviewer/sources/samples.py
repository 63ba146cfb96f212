"""A copy of the bundled sample tasks to play with: the originals may lie where nobody should or can write."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from ctxviewer import resources


def samples_folder(folder: Path) -> Path:
    """Where the copy below `folder` is, or would be."""
    return folder / "samples"


def fresh_samples(folder: Path) -> Path:
    """Put the sample tasks below `folder`, as they were invented, and return their storage root.

    What an earlier call left there is replaced. The files carry the times of their stories, so that no task looks as if
    an agent had just written it. Raises OSError when the folder cannot be written.
    """
    root = samples_folder(folder)
    if root.exists():
        shutil.rmtree(root)
    samples = resources.path("samples")
    for source in sorted(samples.rglob("*")):  # copytree would tell all failures at once, in no sentence
        target = root / source.relative_to(samples)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copyfile(source, target)
    times = {
        item["id"]: item["ts"] / 1000
        for item in json.loads(resources.read_text("samples", "state", "taskHistory.json"))
    }
    for directory in (root / "tasks").iterdir():
        for file in directory.iterdir():
            os.utime(file, (times[directory.name],) * 2)
    return root
