"""An example or two for the help of every command. Each can be parsed; a test does."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "report": ("report TASK", "report TASK --request 18", "report STORAGE-ROOT", "report --demo"),
    "sent": ("sent TASK --request 18 > request.json",),
    "why": ("why TASK --request 18", "why TASK --window 200k"),
    "diff": ("diff TASK --against 17 --request 18",),
    "track": ('track TASK "do not touch"', "track TASK --path src/app.py", "track TASK --message 8 --block 0"),
    "losses": ("losses TASK --request 18",),
    "plan truncate": ("plan truncate TASK --keep quarter",),
    "plan optimize": ("plan optimize TASK",),
    "plan decide": ("plan decide TASK --window 200k --total 165000",),
    "plan repair": ("plan repair TASK --code cut-without-notice",),
    "plan rollback": ("plan rollback TASK --checkpoint 4", "plan rollback TASK --message 9"),
    "apply truncate": ("apply truncate TASK --keep half",),
    "apply optimize": ("apply optimize TASK --yes",),
    "apply decide": ("apply decide TASK",),
    "apply repair": ("apply repair TASK --code cut-without-notice",),
    "apply rollback": ("apply rollback TASK --checkpoint 4",),
    "undo": ("undo TASK",),
    "redo": ("redo TASK",),
    "history": ("history TASK",),
    "strategies": ("strategies",),
    "simulate": ("simulate TASK --strategy half --request 18",),
    "compare": ("compare TASK --request 18 --sort kept", "compare TASK --strategy half --strategy optimise --csv"),
    "replay": ("replay TASK --strategy decide --window 128k",),
    "tokens": ("tokens TASK --request 18",),
    "reconcile": ("reconcile TASK --prices our-prices.toml",),
    "export": (
        "export TASK --format html -o task.html",
        "export TASK --format markdown --request 18 -o -",
        "export TASK --format bundle --event 2 -o report.zip",
    ),
    "doctor": ("doctor", "doctor STORAGE-ROOT --json"),
    "assert": ("assert TASK --rule 'usage-below 80%' --rule 'no-finding error'", "assert TASK --rules rules.toml"),
}
"""Words behind `ctxviewer`. TASK is a task's folder."""


def examples_of(command: str) -> str:
    """What stands at the end of a command's help; '' without examples."""
    lines = [f"  ctxviewer {line}" for line in EXAMPLES.get(command, ())]
    return "\n".join(["examples:", *lines]) if lines else ""
