"""The one place that knows which glyph of the icon set stands for which of our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GLYPHS: Final[Mapping[str, str]] = {
    # what happened to the context
    "truncate": "mdi6.triangle-down",
    "optimize": "mdi6.content-cut",
    "condense": "mdi6.arrow-collapse-vertical",
    "rollback": "mdi6.history",
    "checkpoint": "mdi6.flag",
    "decide": "mdi6.scale-balance",
    "rewritten": "mdi6.pencil-outline",
    "repaired": "mdi6.link-variant",
    "hidden": "mdi6.eye-off-outline",
    "sent": "mdi6.eye-outline",
    "later": "mdi6.clock-outline",
    # who speaks
    "user": "mdi6.account-outline",
    "assistant": "mdi6.robot-outline",
    "tool": "mdi6.wrench-outline",
    "image": "mdi6.image-outline",
    "document": "mdi6.file-document-outline",
    "thinking": "mdi6.thought-bubble-outline",
    # moving about
    "first": "mdi6.skip-previous",
    "previous": "mdi6.chevron-left",
    "next": "mdi6.chevron-right",
    "last": "mdi6.skip-next",
    "up": "mdi6.chevron-up",
    "down": "mdi6.chevron-down",
    "expand": "mdi6.chevron-down",
    "collapse": "mdi6.chevron-right",
    "live": "mdi6.circle",
    "pinned": "mdi6.pin-outline",
    "jump": "mdi6.arrow-right",
    # things
    "app": "mdi6.format-align-left",
    "task": "mdi6.message-text-outline",
    "root": "mdi6.folder-outline",
    "open": "mdi6.folder-open-outline",
    "file": "mdi6.file-outline",
    "json": "mdi6.code-json",
    "usage": "mdi6.chart-bar",
    "details": "mdi6.information-outline",
    "window": "mdi6.gauge",
    "backup": "mdi6.archive-outline",
    "star": "mdi6.star",
    # commands
    "undo": "mdi6.undo",
    "redo": "mdi6.redo",
    "reload": "mdi6.refresh",
    "find": "mdi6.magnify",
    "filter": "mdi6.filter-variant",
    "copy": "mdi6.content-copy",
    "save": "mdi6.content-save-outline",
    "export": "mdi6.export-variant",
    "apply": "mdi6.check",
    "close": "mdi6.close",
    "settings": "mdi6.cog-outline",
    "help": "mdi6.help-circle-outline",
    "theme": "mdi6.theme-light-dark",
    "zoom-in": "mdi6.magnify-plus-outline",
    "zoom-out": "mdi6.magnify-minus-outline",
    "fit": "mdi6.arrow-expand-horizontal",
    "difference": "mdi6.file-compare",
    # how bad
    "info": "mdi6.information-outline",
    "warning": "mdi6.alert-outline",
    "error": "mdi6.alert-circle-outline",
}
"""Our word → name in QtAwesome (Material Design Icons 6, one grid, one weight)."""
