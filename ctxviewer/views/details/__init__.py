"""The details dock (chosen message, chosen request) and the lists beside it. Plain values in, signals out."""

from ctxviewer.views.details.dock import DetailsView
from ctxviewer.views.details.panels import CheckpointsPanel, EventsPanel, FindingsPanel

__all__ = ["CheckpointsPanel", "DetailsView", "EventsPanel", "FindingsPanel"]
