"""Whether something is there, for paths that a person typed or a file names: never an error.

`pathlib` raises for folders that may not be looked into and for names that no file can have.
"""

from __future__ import annotations

import os
from pathlib import PurePath


def exists(path: PurePath | str) -> bool:
    """True when it is there; False also where nobody may look."""
    return os.path.exists(path)  # noqa: PTH110 - see above


def is_dir(path: PurePath | str) -> bool:
    """True for a folder, or a link to one; False also where nobody may look."""
    return os.path.isdir(path)  # noqa: PTH112 - see above
