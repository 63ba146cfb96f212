"""The usage graph. Importing this package does not import pyqtgraph; showing the graph does."""

from ctxviewer.views.usage.graph import UsageGraph

__all__ = ["UsageGraph"]
