"""The table of actions: complete, without clashes, told in the docs and on the help page."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QKeySequence, QTextDocument
from PySide6.QtWidgets import QTextBrowser

from ctxviewer.actions.action_set import ActionSet
from ctxviewer.actions.catalogue import BY_ID, CATALOGUE
from ctxviewer.actions.needs import Situation, first_reason, reason
from ctxviewer.actions.spec import Menu, Need
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.models.happenings import EventsModel
from ctxviewer.models.listing import ListingRole
from ctxviewer.views.dialogs.help import LEGEND, HelpDialog, shortcuts_html
from ctxviewer.views.icons import GLYPHS
from helpers.snapshots import Heard

PROJECT = Path(__file__).parents[3]
FULL = Situation(
    has_task=True,
    readable=True,
    requests=9,
    request=4,
    event_requests=(2, 6),
    message=3,
    steps_done=1,
    checkpoints=2,
    has_plan=True,
    plan_writes=True,
)


def test_ids_are_unique_and_named_for_their_menu():
    assert len(BY_ID) == len(CATALOGUE)
    assert {spec.menu for spec in CATALOGUE} == set(Menu)


def test_no_two_actions_share_a_key():
    """Two enabled actions on one key make Qt run neither."""
    keys = Counter(QKeySequence(key).toString() for spec in CATALOGUE for key in spec.all_keys)
    assert "" not in keys
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_key_reads_back_as_itself():
    for spec in CATALOGUE:
        for key in spec.all_keys:
            assert QKeySequence(key).toString() == key, spec.id


def test_no_two_items_of_a_menu_share_a_mnemonic():
    for place in {(spec.menu, spec.submenu) for spec in CATALOGUE}:
        texts = [spec.text for spec in CATALOGUE if (spec.menu, spec.submenu) == place]
        if not place[1]:
            texts += sorted({spec.submenu for spec in CATALOGUE if spec.menu is place[0] and spec.submenu})
        letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
        assert len(letters) == len(texts), f"no mnemonic in {place}: {texts}"
        assert [letter for letter, count in Counter(letters).items() if count > 1] == [], (place, texts)


def test_menus_have_different_mnemonics():
    letters = [menu.value[menu.value.index("&") + 1].lower() for menu in Menu]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize("spec", CATALOGUE, ids=lambda spec: spec.id)
def test_every_row_is_complete(spec):
    assert spec.tooltip.endswith(".")
    assert spec.name
    assert not spec.icon or spec.icon in GLYPHS
    if spec.destructive:
        assert Need.IDLE in spec.needs


@pytest.mark.parametrize("need", list(Need))
def test_every_need_is_met_in_a_full_situation_and_missed_in_an_empty_one(need):
    assert reason(need, FULL) == ""
    empty = Situation(samples=False, writing=True)
    assert reason(need, empty).endswith(".")


@pytest.mark.parametrize(
    ("need", "now", "words"),
    [
        (Need.READABLE, Situation(has_task=True, reading=True), "still being read"),
        (Need.READABLE, Situation(has_task=True, unreadable_reason="x.json is missing."), "x.json is missing."),
        (Need.CHECKABLE, Situation(has_task=True, unreadable_reason="x.json is missing."), "x.json is missing."),
        (Need.CHECKABLE, Situation(has_task=True, reading=True, requests=3), "still being read"),
        (Need.EARLIER, Situation(has_task=True, requests=3, request=0), "the first request"),
        (Need.LATER, Situation(has_task=True, requests=3), "newest state already"),
        (Need.EVENT_AFTER, Situation(has_task=True, requests=3, request=1, event_requests=(1,)), "not changed after"),
        (Need.WRITABLE_PLAN, Situation(has_task=True, has_plan=True, plan_refusal="No index."), "No index."),
        (Need.UNDO, Situation(has_task=True, undo_reason="The backup was removed."), "The backup was removed."),
        (Need.IDLE, Situation(writing=True), "being written"),
    ],
)
def test_reasons_are_those_of_the_situation(need, now, words):
    assert words in reason(need, now)


def test_the_first_reason_wins():
    assert first_reason((Need.TASK, Need.MESSAGE), Situation()) == "Open a task first."


def test_disabled_actions_say_why_and_enabled_ones_say_what_and_with_which_key(qapp):
    actions = ActionSet(lambda _id: None)
    assert not actions["act.rollback"].isEnabled()
    assert actions["act.rollback"].toolTip() == "Roll back is not possible: open a task first."
    actions.update(FULL)
    assert actions["act.rollback"].isEnabled()
    assert actions["act.rollback"].toolTip().endswith("(Ctrl+R)")


def test_triggering_runs_the_action_once(qapp):
    ran = []
    actions = ActionSet(ran.append)
    told = Heard(actions.triggered)
    actions["task.open"].trigger()
    assert ran == ["task.open"]
    assert told.said == ["task.open"]


def test_a_disabled_action_does_not_run(qapp):
    ran = []
    actions = ActionSet(ran.append)
    actions["act.rollback"].trigger()
    assert ran == []


def test_the_help_page_has_every_action_and_its_keys(qapp):
    words = HelpDialog("shortcuts").words
    for spec in CATALOGUE:
        assert spec.name in words, spec.id
        assert spec.tooltip in words, spec.id
    assert "Ctrl+Shift+O" in shortcuts_html()


def test_the_page_of_signs_shows_every_sign_of_an_event_as_it_is_painted(qapp):
    dialog = HelpDialog("legend")
    shown = {(icon, tone) for group in LEGEND.values() for icon, tone, _, _ in group}
    listed = EventsModel()
    listed.set_items(tuple(Event(kind, 0, 0.0, "it happened") for kind in EventKind))
    rows = [listed.index(row) for row in range(listed.rowCount())]
    assert {(row.data(ListingRole.ICON), row.data(ListingRole.TONE)) for row in rows} <= shown
    document = dialog.findChild(QTextBrowser).document()
    for icon, tone in shown - {("", "")}:
        picture = document.resource(QTextDocument.ResourceType.ImageResource, QUrl(f"sign:{icon}/{tone}"))
        assert not picture.isNull(), icon
    assert "made up" in dialog.words


def test_only_views_know_widgets():
    for room in ("services", "models", "actions", "engine", "sources", "domain", "tokens", "exports"):
        for file in (PROJECT / "ctxviewer" / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                assert not [name for name in names if name.startswith("PySide6.QtWidgets")], file
