"""Cline's cut that keeps the newer half of the rest."""

from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.strategies.cline_rules import truncation

HALF = truncation("half", Keep.HALF, "Truncate: half", "Keeps the first pair and the newer half of the rest.")
