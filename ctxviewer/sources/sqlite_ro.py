"""Questions to databases of other programs, without leaving a trace in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

Row = tuple[object, ...]


def query(path: Path, sql: str, parameters: tuple[str, ...] = ()) -> list[Row]:
    """All rows. Raises FileNotFoundError, OSError or sqlite3.Error.

    A database that nobody writes is opened as immutable: no lock, no journal, no shared memory file. One with a live
    write-ahead log is opened read-only, so that the log's rows count; its owner has made the shared file already.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    log = path.with_name(path.name + "-wal")
    live = log.is_file() and log.stat().st_size > 0 and path.with_name(path.name + "-shm").is_file()
    uri = f"{path.resolve().as_uri()}?mode=ro" + ("" if live else "&immutable=1")
    with closing(sqlite3.connect(uri, uri=True, timeout=0.2)) as connection:
        return [tuple(row) for row in connection.execute(sql, parameters)]
