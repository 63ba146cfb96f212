"""Where the tokens of a request go, and whether the numbers hold."""

from ctxviewer.views.answers.tokens.panel import TokensPanel

__all__ = ["TokensPanel"]
