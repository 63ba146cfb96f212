"""Writes an export where the user wants it: never into a task, never over something without being told to."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePath

from ctxviewer.domain.errors import RefusedError
from ctxviewer.exports.bundle import Bundle

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
    """Write bytes; returns how many. All of them, or nothing. RefusedError as `write_export`."""
    _check(path, outside, replace=replace)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                size = sum(stream.write(part) for part in parts)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as err:
        raise _failed(path, err) from err
    return size


def write_bundle(path: Path, bundle: Bundle, *, outside: PurePath, replace: bool = False) -> None:
    """Write a bundle as a folder, or as one archive if the name ends in '.zip'. RefusedError as `write_export`.

    A folder must not exist, or be empty.
    """
    if path.suffix.lower() == ".zip":
        _check(path, outside, replace=replace)
        try:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
                for file in bundle.files:
                    entry = zipfile.ZipInfo(file.name, _EPOCH)
                    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
                    archive.writestr(entry, file.content)
        except OSError as err:
            raise _failed(path, err) from err
        return
    _check_place(path, outside)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RefusedError(
                f"{path} exists already and is no empty folder.",
                hint="Name another folder, or a file that ends in .zip.",
            )
        for file in bundle.files:
            target = path.joinpath(*file.name.split("/"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content)
    except OSError as err:
        raise _failed(path, err) from err


def _check(path: Path, outside: PurePath, *, replace: bool) -> None:
    _check_place(path, outside)
    if path.is_dir():
        raise RefusedError(f"{path} is a folder.", hint="Name a file in it.")
    if path.exists() and not replace:
        raise RefusedError(f"{path} exists already.", hint="Name another file, or repeat with --force.")


def _check_place(path: Path, outside: PurePath) -> None:
    task = Path(outside).resolve()
    if path.resolve().is_relative_to(task):
        raise RefusedError("The export would lie inside the task's own folder.", hint="Name a place elsewhere.")
    if not path.parent.is_dir():
        raise RefusedError(f"There is no folder {path.parent}.", hint="Make it first.")


def _failed(path: Path, error: OSError) -> RefusedError:
    return RefusedError(f"{path} cannot be written: {error.strerror or error}.", hint="Name another place.")
