"""Cline's cut that keeps the newest quarter of the rest."""

from ctxviewer.engine.cline.truncation import Keep
from ctxviewer.engine.strategies.cline_rules import truncation

QUARTER = truncation(
    "quarter", Keep.QUARTER, "Truncate: quarter", "Keeps the first pair and the newest quarter of the rest."
)
