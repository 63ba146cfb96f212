"""Cline's cut that keeps nothing after the first pair."""

from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.strategies.cline_rules import truncation

NONE = truncation("none", Keep.NONE, "Truncate: none", "Keeps the first pair only.")
