"""The export dialog by itself: what can be chosen, what it orders, and what it says when it is over."""

from pathlib import Path

import pytest

from ctxviewer.domain.errors import RefusedError
from ctxviewer.services.exporting import Exported, Format
from ctxviewer.views.dialogs.export import ExportDialog
from helpers.snapshots import Heard
from helpers.usage import event


@pytest.fixture
def make(qtbot, tmp_path):
    def build(*, request=None, events=(), readable=True):
        dialog = ExportDialog("17", tmp_path, request=request, events=events, readable=readable)
        qtbot.addWidget(dialog)
        dialog.show()
        return dialog

    return build


def choose(dialog, key):
    dialog.format.setCurrentIndex(dialog.format.findData(key))


def test_the_shown_request_is_what_is_exported(make, tmp_path):
    dialog = make(request=30)
    assert dialog.one.isChecked()
    assert dialog.target == tmp_path / "17-request-31.html"
    ordered = Heard(dialog.ordered)
    dialog.export_button.click()
    order = ordered.said[0]
    assert (order.format, order.request, order.mask, order.replace) == (Format.HTML, 30, True, False)


def test_live_only_the_whole_task_can_be_exported(make, tmp_path):
    dialog = make()
    assert dialog.whole.isChecked()
    assert not dialog.one.isEnabled()
    assert "Choose a request first" in dialog.one.toolTip()
    assert dialog.target == tmp_path / "17.html"


def test_formats_ask_only_what_they_need(make):
    dialog = make(request=3, events=(event("truncate", 2), event("optimize", 3)))
    choose(dialog, "csv")
    assert not dialog.whole.isVisible()
    assert not dialog.event_box.isVisible()
    assert dialog.mask_secrets.isVisible()
    choose(dialog, "window")
    assert not dialog.mask_secrets.isVisible()
    choose(dialog, "bundle")
    assert dialog.event_box.isVisible()
    assert dialog.event_box.currentIndex() == 1
    assert dialog.target.name == "17-event-2.zip"


def test_a_name_of_the_users_own_keeps_its_place_and_gets_the_right_ending(make, tmp_path):
    dialog = make()
    dialog.choose_file(str(tmp_path / "page.html"))
    choose(dialog, "markdown")
    assert dialog.target == tmp_path / "page.md"


def test_why_nothing_can_be_exported_yet(make, tmp_path):
    dialog = make()
    choose(dialog, "bundle")
    assert dialog.status == "The task has no event, so there is nothing for a bug report to show."
    choose(dialog, "json")
    dialog.path.setText("")
    dialog.path.textEdited.emit("")
    assert dialog.status == "Name a file."
    dialog.path.setText(str(tmp_path / "none" / "x.json"))
    dialog.path.textEdited.emit("")
    assert dialog.status.startswith("There is no folder ")
    assert not dialog.export_button.isEnabled()


def test_a_file_is_written_over_only_after_the_user_agreed(make, tmp_path):
    dialog = make()
    ordered = Heard(dialog.ordered)
    dialog.export_button.click()
    dialog.show_failed(RefusedError("x exists already.", hint="Name another file, or repeat with --force."))
    assert dialog.told == "x exists already."
    dialog.choose_file(str(dialog.target))
    dialog.export_button.click()
    assert [order.replace for order in ordered.said] == [False, True]
    dialog.show_done(Exported(dialog.target, 5, ""))
    dialog.export_button.click()
    assert ordered.said[-1].replace is False


def test_the_end_says_what_was_masked_and_shows_the_folder(make, tmp_path):
    dialog = make()
    folders, kept = Heard(dialog.folder_wanted), Heard(dialog.folder_chosen)
    dialog.export_button.click()
    dialog.show_step((3, 10))
    assert (dialog._bar.value(), dialog._bar.maximum(), dialog._bar.isVisible()) == (3, 10, True)
    dialog.show_done(Exported(tmp_path / "17.html", 12_345, "2 places masked: GitHub token 2×."))
    assert dialog.told == "Wrote 12,345 bytes to 17.html. 2 places masked: GitHub token 2×."
    assert not dialog._bar.isVisible()
    dialog._show_folder.click()
    assert folders.said == kept.said == [tmp_path]


def test_closing_stops_what_is_under_way(make):
    dialog = make()
    cancelled = Heard(dialog.cancelled)
    dialog.export_button.click()
    assert dialog._close.text() == "Cancel"
    dialog._close.click()
    assert len(cancelled.said) == 1
    assert not dialog.isVisible()


def test_without_messages_only_what_needs_none(make):
    dialog = make(readable=False)
    assert [dialog.format.itemData(row) for row in range(dialog.format.count())] == ["csv", "graph", "window"]


def test_a_home_folder_is_understood(make):
    dialog = make()
    dialog.path.setText("~/x.html")
    assert dialog.target == Path.home() / "x.html"
