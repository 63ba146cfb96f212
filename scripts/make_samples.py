"""Writes the sample tasks of `resources/samples` anew: invented stories, played through the engine's own rules.

The result is always the same, byte for byte; a test compares it with what is committed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "scripts"))

from samples import importer, login, nightly, vite  # noqa: E402

from ctxviewer.tokens import load_counter  # noqa: E402 - the stories lie beside this script


def main() -> None:
    """Command line: the folder to write to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=PROJECT / "resources" / "samples")
    write_samples(parser.parse_args().output)


def write_samples(root: Path) -> None:
    """Write all samples as one storage root: `tasks/<id>/…` and `state/taskHistory.json`."""
    counter = load_counter()
    if not counter.exact:
        raise SystemExit(counter.reason)
    if root.exists():
        shutil.rmtree(root)
    index = []
    for story in (login, importer, nightly, vite):
        task = story.play(counter)
        files = dict(vite.files_after_the_crash(task) if story is vite else task.files())
        folder = root / "tasks" / str(task.task_id)
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode("utf-8"))
        item = task.index_item()
        item["size"] = sum(file.stat().st_size for file in folder.iterdir())
        index.append(item)
    index.sort(key=lambda item: int(str(item["id"])))
    (root / "state").mkdir()
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (root / "state" / "taskHistory.json").write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
