"""An invented project that lives in a dict, and the tools an agent uses on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SEARCH, MIDDLE, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


@dataclass
class Workspace:
    """Files by path, and where the project lies."""

    root: str
    files: dict[str, str] = field(default_factory=dict)

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace the one place of `old`; returns the new content."""
        content = self.files[path]
        if content.count(old) != 1:
            raise ValueError(f"{path}: the text to replace stands there {content.count(old)} times: {old[:60]!r}")
        self.files[path] = content.replace(old, new)
        return self.files[path]


@dataclass(frozen=True)
class Tool:
    """One call: its name and input, what the timeline shows of it, and the words that come back."""

    name: str
    about: str
    """Stands in the header of the result: `[name for 'about'] Result:`."""
    input: Mapping[str, str]
    result: str
    shown: Mapping[str, Any] | None = None
    """JSON of the `say: tool` entry; None for a command or a question."""
    path: str = ""
    touches: str = ""
    """'read' or 'edited', for the metadata of the task."""

    @property
    def header(self) -> str:
        """First line of the result."""
        return f"[{self.name} for '{self.about}'] Result:" if self.about else f"[{self.name}] Result:"

    @property
    def xml(self) -> str:
        """The call as text, in models that call tools by writing tags."""
        inner = "".join(f"<{key}>{_tag_value(key, value)}</{key}>\n" for key, value in self.input.items())
        return f"<{self.name}>\n{inner}</{self.name}>"


def _tag_value(key: str, value: str) -> str:
    return f"\n{value}\n" if key in {"diff", "content", "result"} else value


def read(space: Workspace, path: str) -> Tool:
    """Read a whole file."""
    shown = {"tool": "readFile", "path": path, "content": f"{space.root}/{path}", "operationIsLocatedInWorkspace": True}
    return Tool("read_file", path, {"path": path}, space.files[path], shown, path, "read")


def _saved(path: str, content: str) -> str:
    return (
        f"Saved {path}. The whole file now reads:\n\n"
        f'<final_file_content path="{path}">\n{content}\n</final_file_content>\n\n'
        "Base further edits on this content; an editor may have reformatted it."
    )


def replace(space: Workspace, path: str, *edits: tuple[str, str]) -> Tool:
    """Search-and-replace edits; all must fit."""
    for old, new in edits:
        space.edit(path, old, new)
    diff = "\n\n".join(f"{SEARCH}\n{old}\n{MIDDLE}\n{new}\n{REPLACE}" for old, new in edits)
    shown = {"tool": "editedExistingFile", "path": path, "content": diff, "operationIsLocatedInWorkspace": True}
    result = _saved(path, space.files[path])
    return Tool("replace_in_file", path, {"path": path, "diff": diff}, result, shown, path, "edited")


def misses(space: Workspace, path: str, old: str, new: str) -> Tool:
    """An edit whose search text is not in the file."""
    if old in space.files[path]:
        raise ValueError(f"{path} does hold {old!r}")
    diff = f"{SEARCH}\n{old}\n{MIDDLE}\n{new}\n{REPLACE}"
    shown = {"tool": "editedExistingFile", "path": path, "content": diff, "operationIsLocatedInWorkspace": True}
    result = (
        "The edit was not made: the SEARCH part is not in the file as it stands now. Read the file again and use its "
        "exact lines, with their indentation."
    )
    return Tool("replace_in_file", path, {"path": path, "diff": diff}, result, shown, path)


def write(space: Workspace, path: str, content: str) -> Tool:
    """A new file."""
    space.files[path] = content
    shown = {"tool": "newFileCreated", "path": path, "content": content, "operationIsLocatedInWorkspace": True}
    return Tool("write_to_file", path, {"path": path, "content": content}, _saved(path, content), shown, path, "edited")


def list_files(path: str, lines: str) -> Tool:
    """A listing of files below a folder."""
    shown = {"tool": "listFilesRecursive", "path": path, "content": lines, "operationIsLocatedInWorkspace": True}
    return Tool("list_files", path, {"path": path, "recursive": "true"}, lines, shown)


def search(path: str, regex: str, result: str) -> Tool:
    """A search over files."""
    shown = {
        "tool": "searchFiles",
        "path": path,
        "regex": regex,
        "content": result,
        "operationIsLocatedInWorkspace": True,
    }
    return Tool("search_files", regex, {"path": path, "regex": regex}, result, shown)


def run(command: str, output: str) -> Tool:
    """A command and its output."""
    asked = {"command": command, "requires_approval": "false"}
    return Tool("execute_command", command, asked, f"Command executed.\nOutput:\n{output}")
