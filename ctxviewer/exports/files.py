"""Writes an export where the user wants it: never into a task, never over something without being told to."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePath

from ctxviewer.domain.errors import RefusedError
from ctxviewer.exports.bundle import Bundle

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time that all files in an archive get: equal bundles are equal bytes."""


def write_export(path: Path, parts: Iterable[str], *, outside: PurePath, replace: bool = False) -> int:
    """Write a text as UTF-8, halves of surrogate pairs as escapes; returns the bytes. All of it, or nothing.

    `outside` is the folder of the task. RefusedError when the path lies in it, exists already (without `replace`), or
    cannot be written.
    """
    return write_bytes(
        path, (part.encode("utf-8", "backslashreplace") for part in parts), outside=outside, replace=replace
    )


def write_bytes(path: Path, parts: Iterable[bytes], *, outside: PurePath, replace: bool = False) -> int:
    """Write bytes; returns how many. All of them, or nothing. RefusedError as `write_export`.

    A link stays a link: what it leads to is written. A file that is written over keeps its permissions.
    """
    try:
        _check(path, outside, replace=replace)
        target = Path(os.path.realpath(path))
        temporary = _beside(target)
        handle = os.open(temporary, _NEW, 0o666)
        try:
            with os.fdopen(handle, "wb") as stream:
                size = sum(stream.write(part) for part in parts)
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as err:
        raise _failed(path, err) from err
    return size


def write_bundle(path: Path, bundle: Bundle, *, outside: PurePath, replace: bool = False) -> None:
    """Write a bundle as a folder, or as one archive if the name ends in '.zip'. All of it, or nothing. RefusedError as
    `write_export`.

    A folder must not exist, or be empty.
    """
    if path.suffix.lower() == ".zip":
        write_bytes(path, [_archive(bundle)], outside=outside, replace=replace)
        return
    try:
        _check_place(path, outside)
        if os.path.lexists(path) and (not path.is_dir() or any(path.iterdir())):
            raise RefusedError(
                f"{path} exists already and is no empty folder.",
                hint="Name another folder, or a file that ends in .zip.",
            )
        target = Path(os.path.realpath(path))
        temporary = _beside(target)
        try:
            for file in bundle.files:
                place = temporary.joinpath(*file.name.split("/"))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.content)
            if target.exists():
                target.rmdir()
            temporary.replace(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as err:
        raise _failed(path, err) from err


def _archive(bundle: Bundle) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in bundle.files:
            entry = zipfile.ZipInfo(file.name, _EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            archive.writestr(entry, file.content)
    return packed.getvalue()


def _beside(target: Path) -> Path:
    """A new name in the same folder, on the same disk."""
    return target.with_name(f".ctxviewer-{secrets.token_hex(8)}")


def _check(path: Path, outside: PurePath, *, replace: bool) -> None:
    _check_place(path, outside)
    if path.is_dir():
        raise RefusedError(f"{path} is a folder.", hint="Name a file in it.")
    if path.exists() and not path.is_file():
        raise RefusedError(
            f"{path} is no file, but a pipe or a device.", hint="Name a file; `-o -` writes to standard output."
        )
    if os.path.lexists(path) and not replace:
        raise RefusedError(f"{path} exists already.", hint="Name another file, or repeat with --force.")


def _check_place(path: Path, outside: PurePath) -> None:
    target = Path(os.path.realpath(path))
    if target.is_relative_to(os.path.realpath(outside)):
        raise RefusedError("The export would lie inside the task's own folder.", hint="Name a place elsewhere.")
    if not target.parent.is_dir():
        raise RefusedError(f"There is no folder {path.parent}.", hint="Make it first.")


def _failed(path: Path, error: OSError) -> RefusedError:
    return RefusedError(f"{path} cannot be written: {error.strerror or error}.", hint="Name another place.")
