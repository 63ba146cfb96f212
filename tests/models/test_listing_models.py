"""Lists about the open task: gentle changes, words, roles, and Qt's own model tester."""

import pytest
from PySide6.QtCore import QModelIndex, Qt

from ctxviewer.domain.finding import Finding, Severity
from ctxviewer.domain.ranges import Range
from ctxviewer.domain.request import CheckpointKind
from ctxviewer.domain.updates import Update
from ctxviewer.engine.events import Event, EventKind
from ctxviewer.models.happenings import (
    CheckpointsModel,
    EventsModel,
    FindingsModel,
    Force,
    UpdateRow,
    UpdatesModel,
    finding_text,
    force_of,
)
from ctxviewer.models.listing import Listing, ListingRole, RowWords, joined, plain_tip, stamp
from helpers.usage import checkpoint, event


class Letters(Listing):
    def words(self, item):
        return RowWords(item, f"detail {item}", "info", "accent", f"<b>{item}</b>")


def titles(model):
    return [model.index(row).data() for row in range(model.rowCount())]


def watch(qtbot, model):
    """Signals of a model by name, in order."""
    seen = []
    model.rowsInserted.connect(lambda _p, a, b: seen.append(f"+{a}-{b}"))
    model.rowsRemoved.connect(lambda _p, a, b: seen.append(f"-{a}-{b}"))
    model.modelReset.connect(lambda: seen.append("reset"))
    return seen


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_listing_changes_gently(qtbot, qtmodeltester, newest_first):
    model = Letters(newest_first=newest_first)
    qtmodeltester.check(model)
    seen = watch(qtbot, model)
    model.set_items("abc")
    model.set_items("abcde")
    model.set_items("abcde")
    model.set_items("ab")
    model.set_items("xb")
    expected = ["+0-2", "+0-1", "-0-2", "reset"] if newest_first else ["+0-2", "+3-4", "-2-4", "reset"]
    assert seen == expected
    assert titles(model) == (["b", "x"] if newest_first else ["x", "b"])
    assert model.row_of("x") == (1 if newest_first else 0)
    assert model.row_of("q") is None


def test_an_index_keeps_its_value_while_newer_ones_come(qtbot):
    from PySide6.QtCore import QPersistentModelIndex

    model = Letters(newest_first=True)
    model.set_items("abc")
    held = QPersistentModelIndex(model.index(1))
    model.set_items("abcdef")
    assert held.data() == "b"


def test_roles_and_bounds(qtbot):
    model = Letters()
    model.set_items("a")
    index = model.index(0)
    assert index.data(ListingRole.ITEM) == "a"
    assert index.data(ListingRole.DETAIL) == "detail a"
    assert index.data(ListingRole.ICON) == "info"
    assert index.data(ListingRole.TONE) == "accent"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "a, detail a"
    assert index.data(Qt.ItemDataRole.CheckStateRole) is None
    assert model.data(QModelIndex()) is None
    assert model.rowCount(index) == 0
    with pytest.raises(IndexError):
        model.item(-1)
    with pytest.raises(IndexError):
        model.item(1)


def test_tooltips_are_never_read_as_markup(qtbot):
    model = Letters()
    model.set_items("a")
    assert model.index(0).data(Qt.ItemDataRole.ToolTipRole) == "<qt>&lt;b&gt;a&lt;/b&gt;</qt>"
    tip = plain_tip("one\ntwo \x1b[0m \ud83d")
    assert tip.startswith("<qt>one<br>two ")
    assert tip.isprintable()
    assert plain_tip("") == ""


def test_stamps():
    assert len(stamp(1_764_500_000_000)) == len("2025-11-30 10:53:20")
    assert stamp(0) == stamp(None) == stamp(float("nan")) == stamp(1e300) == ""
    assert joined("a", "", "b") == "a · b"


def test_events_in_words(qtbot, qtmodeltester):
    model = EventsModel()
    qtmodeltester.check(model)
    cut = Event(
        EventKind.TRUNCATE, 30, 1e12, "Truncated (half)", None, Range(2, 25), (Update(1, 0, 1, "n", 0, None, 0),)
    )
    model.set_items((event("optimize", 3, "Optimised\nbadly"), cut, event("rollback", None)))
    assert titles(model) == ["Optimised badly", "Truncated (half)", "it happened"]
    assert model.index(1).data(ListingRole.DETAIL).startswith("since request 31 · 1 update · 2001-09-0")
    assert model.index(2).data(ListingRole.DETAIL) == "no request since"
    assert [model.index(row).data(ListingRole.ICON) for row in range(3)] == ["optimize", "truncate", "rollback"]


def test_every_kind_of_event_has_a_known_icon_and_colour(qtbot):
    from ctxviewer.views.icons import GLYPHS
    from ctxviewer.views.theme import Mode, load_colors

    model = EventsModel()
    for kind in EventKind:
        words = model.words(event(kind, 0))
        assert words.icon in GLYPHS
        assert words.tone in load_colors(Mode.LIGHT)


def test_checkpoints_newest_first_and_others_only_if_asked(qtbot, qtmodeltester):
    model = CheckpointsModel()
    qtmodeltester.check(model)
    model.set_points(
        (
            checkpoint(None, "first"),
            checkpoint(1, "typed", CheckpointKind.MESSAGE),
            checkpoint(2, "", CheckpointKind.COMPLETION),
        )
    )
    assert titles(model) == ["Completion", "first"]
    assert model.left_out == 1
    assert model.index(1).data(ListingRole.DETAIL) == "before the first request · checkpoint"
    model.set_with_messages(True)
    assert titles(model) == ["Completion", "typed", "first"]
    assert model.left_out == 0


def test_growing_checkpoints_insert_at_the_top(qtbot):
    model = CheckpointsModel()
    points = tuple(checkpoint(number, f"p{number}") for number in range(4))
    model.set_points(points[:3])
    seen = watch(qtbot, model)
    model.set_points(points)
    assert seen == ["+0-0"]


def test_findings_worst_first_and_in_full(qtbot, qtmodeltester):
    model = FindingsModel()
    qtmodeltester.check(model)
    odd = Finding("odd", Severity.INFO, "odd but harmless")
    bad = Finding("cut", Severity.ERROR, "the file ends early", "ui_messages.json", "byte 17", "Read it again.")
    model.set_findings((odd, bad))
    assert titles(model) == ["the file ends early", "odd but harmless"]
    assert model.index(0).data(ListingRole.DETAIL) == "error · cut · ui_messages.json · byte 17"
    assert finding_text(bad) == "error: the file ends early\nui_messages.json · byte 17\nRead it again.\ncode: cut"


def test_updates_say_whether_they_are_in_force(qtbot, qtmodeltester):
    from helpers.talk import talk

    shown = talk("u a! u").shown
    first = shown.updates[1, 0]
    newer = Update(1, 0, 5, "newer", 0, None, 1)
    assert force_of(first, shown) is Force.IN_FORCE
    assert force_of(newer, shown) is Force.LATER
    assert force_of(Update(0, 0, 1, "x", 0, None, 0), shown) is Force.LATER
    from dataclasses import replace

    assert force_of(first, replace(shown, updates={(1, 0): newer})) is Force.REPLACED
    model = UpdatesModel()
    qtmodeltester.check(model)
    model.set_items((UpdateRow(first, "truncation notice", Force.IN_FORCE),))
    assert model.index(0).data(ListingRole.DETAIL) == f"in force · block 0 · 22 characters · {stamp(first.timestamp)}"
