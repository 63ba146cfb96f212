"""Cline's cut that keeps the last two messages."""

from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.strategies.cline_rules import truncation

LAST_TWO = truncation("lastTwo", Keep.LAST_TWO, "Truncate: last two", "Keeps the first pair and the last two messages.")
