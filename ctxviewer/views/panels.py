"""The panels around the conversation, made and named in one place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from ctxviewer.views.answers.difference import DifferencePanel
from ctxviewer.views.answers.facts import FactsPanel
from ctxviewer.views.answers.losses import LossesPanel
from ctxviewer.views.answers.tokens import TokensPanel
from ctxviewer.views.details import CheckpointsPanel, DetailsView, EventsPanel, FindingsPanel
from ctxviewer.views.history_panel import HistoryPanel
from ctxviewer.views.lab.panel import LabPanel
from ctxviewer.views.task_list import TaskList
from ctxviewer.views.usage import UsageGraph


@dataclass(frozen=True, slots=True)
class Panels:
    """One widget a dock; the names are those of the actions `view.panel-…`."""

    tasks: TaskList
    details: DetailsView
    difference: DifferencePanel
    facts: FactsPanel
    losses: LossesPanel
    tokens: TokensPanel
    events: EventsPanel
    checkpoints: CheckpointsPanel
    findings: FindingsPanel
    history: HistoryPanel
    usage: UsageGraph
    lab: LabPanel

    def widget(self, name: str) -> QWidget:
        """The panel with this name. AttributeError on a typo."""
        widget: QWidget = getattr(self, name)
        return widget
