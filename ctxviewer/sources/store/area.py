"""Our own folder for one task: its journal and the copies that its entries keep.

<data folder>/changes/<task>/journal                    records, one a line
<data folder>/changes/<task>/entries/<id>/intent        the entry's intent once more, for when its line is damaged
<data folder>/changes/<task>/entries/<id>/<n>-<role>.old, .new
<data folder>/locks/<task>, index-<digest>
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ctxviewer.sources.fingerprint import file_digest
from ctxviewer.sources.store import journal
from ctxviewer.sources.store.files import file_pieces, make_private, remove_quietly, resolved, sync_directory, write_new
from ctxviewer.sources.store.records import Intent, Record, Side
from ctxviewer.sources.store.steps import StepError, Steps

_INTENT = "intent"
_JOURNAL = "journal"
_ENTRY_NAME = re.compile(r"[0-9]{13}-[0-9a-f]{6}")


class Area:
    """The folder of one task in the data folder. Makes nothing until something is kept."""

    def __init__(self, data_dir: Path, name: str, steps: Steps) -> None:
        self.directory = data_dir / "changes" / name
        self.journal = self.directory / _JOURNAL
        self.lock = data_dir / "locks" / name
        self._entries = self.directory / "entries"
        self._steps = steps

    @classmethod
    def of_task(cls, data_dir: Path, task_dir: Path, steps: Steps) -> Area:
        """The area of the task in this directory; the same one through any symbolic link."""
        where = resolved(task_dir)
        readable = re.sub(r"[^A-Za-z0-9._-]", "_", where.name)[:40]
        mark = hashlib.blake2b(os.fsencode(where), digest_size=8).hexdigest()
        return cls(data_dir, f"{readable}-{mark}", steps)

    @classmethod
    def every(cls, data_dir: Path, steps: Steps) -> tuple[Area, ...]:
        """The areas that exist, by name. Raises OSError other than that there is none."""
        try:
            names = sorted(found.name for found in (data_dir / "changes").iterdir() if found.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(cls(data_dir, name, steps) for name in names)

    def read(self, *, alone: bool) -> journal.JournalContent:
        """The journal, see `journal.read`."""
        return journal.read(self.journal, alone=alone)

    def append(self, record: Record, doing: str) -> None:
        """Add a record to the journal. Raises StepError."""
        journal.append(self.journal, record, self._steps, doing)

    def entry_dir(self, entry: str) -> Path:
        """Where the copies of an entry lie."""
        return self._entries / entry

    def entry_ids(self) -> tuple[str, ...]:
        """Entries that have a folder, oldest first."""
        try:
            return tuple(sorted(found.name for found in self._entries.iterdir() if _ENTRY_NAME.fullmatch(found.name)))
        except (FileNotFoundError, NotADirectoryError):
            return ()

    def new_entry(self, entry: str) -> None:
        """Make the folder of an entry. Raises StepError."""
        where = self.entry_dir(entry)
        with self._steps.step("making the backup folder", where):
            make_private(where)

    def keep(self, entry: str, blob: str, pieces: Iterable[bytes], origin: Path) -> tuple[str, int]:
        """Keep a content of the file `origin` under the name `blob`. Returns digest and size. Raises StepError."""
        where = self.entry_dir(entry) / blob
        with self._steps.step("backing up", origin, where):
            return write_new(where, pieces, self._steps, "backing up")

    def keep_intent(self, intent: Intent) -> None:
        """Write the intent beside the copies and bring the folder to the disk. Raises StepError."""
        where = self.entry_dir(intent.entry) / _INTENT
        with self._steps.step("writing the", where):
            write_new(where, [journal.encoded(intent)], self._steps, "writing the")
            sync_directory(where.parent)

    def kept_intent(self, entry: str) -> Intent | None:
        """The intent beside the copies; None when it is not there or damaged (then nothing was written to the task)."""
        try:
            found = journal.decoded((self.entry_dir(entry) / _INTENT).read_bytes().rstrip(b"\n"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, Intent) else None

    def blob(self, entry: str, side: Side) -> Path:
        """Where the copy of this state lies."""
        return self.entry_dir(entry) / side.blob

    def blob_pieces(self, entry: str, side: Side) -> Iterable[bytes]:
        """The copy of this state, in pieces. Its digest must be compared by whoever reads it."""
        return file_pieces(self.blob(entry, side))

    def whole_blob(self, entry: str, side: Side) -> bytes | None:
        """The copy of this state in one piece; None when it is not what it was. Raises OSError."""
        where = self.blob(entry, side)
        if file_digest(where) != side.digest:
            return None
        return where.read_bytes()

    def backup_bytes(self, entry: str) -> int:
        """Size of an entry's folder in bytes, without what goes while it is looked at; 0 when it is gone."""
        total = 0
        with suppress(OSError), os.scandir(self.entry_dir(entry)) as files:
            for found in files:
                with suppress(OSError):
                    total += found.stat(follow_symlinks=False).st_size
        return total

    def drop(self, entry: str) -> bool:
        """Remove the copies of an entry; False when some could not be removed."""
        where = self.entry_dir(entry)
        try:
            with self._steps.step("removing the backup", where):
                remove_quietly(where / _INTENT)
                shutil.rmtree(where, ignore_errors=True)
        except StepError:
            return False
        return not where.exists()
