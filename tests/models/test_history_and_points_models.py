"""The list of changes, and the points to roll back to."""

from pathlib import Path

from PySide6.QtCore import Qt

from ctxviewer.domain.request import Checkpoint, CheckpointKind
from ctxviewer.models.history import HistoryModel, HistoryRole
from ctxviewer.models.points import PointRole, PointsModel
from ctxviewer.sources.store.values import Entry, EntryState
from helpers.snapshots import Heard

NOW = 1_764_500_000_000


def entry(number, state=EntryState.DONE, **more):
    return Entry(f"e{number}", f"change {number}", Path("/t"), NOW, state, (), (Path("/t/a.json"),), **more)


def titles(model):
    return [model.index(row).data() for row in range(model.rowCount())]


def test_history_is_newest_first_and_says_what_undo_takes(qtmodeltester):
    model = HistoryModel(lambda: NOW)
    qtmodeltester.check(model)
    model.set_entries([entry(1, can_undo=True), entry(2, can_undo=True), entry(3, EntryState.UNDONE, can_redo=True)])
    assert titles(model) == ["change 3", "change 2", "change 1"]
    flags = [
        (model.index(row).data(HistoryRole.NEXT_UNDO), model.index(row).data(HistoryRole.NEXT_REDO)) for row in range(3)
    ]
    assert flags == [(False, True), (True, False), (False, False)]


def test_a_new_entry_is_inserted_and_old_ones_stay(qtmodeltester):
    model = HistoryModel(lambda: NOW)
    qtmodeltester.check(model)
    model.set_entries([entry(1)])
    inserted, reset = Heard(model.rowsInserted), Heard(model.modelReset)
    model.set_entries([entry(1), entry(2)])
    assert titles(model) == ["change 2", "change 1"]
    assert (len(inserted.said), len(reset.said)) == (1, 0)


def test_an_entry_that_changes_its_state_is_told(qtmodeltester):
    model = HistoryModel(lambda: NOW)
    qtmodeltester.check(model)
    model.set_entries([entry(1)])
    changed = Heard(model.dataChanged)
    model.set_entries([entry(1, EntryState.UNDONE)])
    assert model.index(0).data(HistoryRole.STATE) == "undone"
    assert len(changed.said) == 1


def test_another_task_resets(qtmodeltester):
    model = HistoryModel(lambda: NOW)
    qtmodeltester.check(model)
    model.set_entries([entry(1), entry(2)])
    model.set_entries([entry(7)])
    assert titles(model) == ["change 7"]
    model.set_entries([])
    assert titles(model) == []


def test_details_tell_time_state_and_backup():
    model = HistoryModel(lambda: NOW)
    model.set_entries(
        [entry(1, undo_reason="The files have changed.", backup_dir=Path("/own/backup"), backup_bytes=12_000)]
    )
    index = model.index(0)
    assert index.data(HistoryRole.DETAIL).endswith("done · backup 12 kB")
    tip = index.data(Qt.ItemDataRole.ToolTipRole)
    for words in ("Written: a.json", "Backup: /own/backup", "Undo: The files have changed."):
        assert words in tip


def point(number, kind=CheckpointKind.CHECKPOINT, title=""):
    return Checkpoint(number, NOW, kind, "h", number, None, number, title)


def test_points_are_newest_first_and_filtered(qtmodeltester):
    model = PointsModel(lambda: NOW)
    qtmodeltester.check(model)
    model.set_points(
        [point(1), point(2, CheckpointKind.MESSAGE, "words"), point(3, CheckpointKind.COMPLETION, "done it")]
    )
    assert titles(model) == ["done it", "Checkpoint"]
    model.set_filter("", only_checkpoints=False)
    assert titles(model) == ["done it", "words", "Checkpoint"]
    model.set_filter("words", only_checkpoints=False)
    assert titles(model) == ["words"]
    assert model.index(0).data(PointRole.CHECKPOINT).ui_index == 2


def test_a_point_says_what_is_kept():
    model = PointsModel(lambda: NOW)
    model.set_points([point(4)])
    assert "after request 5 · keeps 6 messages · checkpoint" in model.index(0).data(PointRole.DETAIL)
