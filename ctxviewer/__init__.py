"""ctxviewer: see exactly what a coding agent's model was sent, what it was not, and why."""

__version__ = "0.1.0"
