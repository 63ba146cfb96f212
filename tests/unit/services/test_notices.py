"""Notices replace each other by key and can be taken back."""

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.finding import Severity
from ctxviewer.services.notices import Notice, Notices, notice_of
from helpers.snapshots import Heard


def test_a_later_notice_with_the_same_key_takes_the_place(qapp):
    notices = Notices()
    notices.post(Notice(Severity.INFO, "first", key="a"))
    notices.post(Notice(Severity.INFO, "other", key="b"))
    notices.post(Notice(Severity.ERROR, "second", key="a"))
    assert [notice.sentence for notice in notices.standing] == ["other", "second"]


def test_an_equal_notice_is_told_once(qapp):
    notices = Notices()
    heard = Heard(notices.changed)
    notices.post(Notice(Severity.INFO, "same"))
    notices.post(Notice(Severity.INFO, "same"))
    assert len(heard.said) == 1


def test_notices_of_a_task_go_with_it(qapp):
    notices = Notices()
    for key in ("task:a", "task:b", "store"):
        notices.post(Notice(Severity.INFO, key, key=key))
    heard = Heard(notices.changed)
    notices.clear_prefix("task:")
    notices.clear_prefix("task:")
    assert [notice.key for notice in notices.standing] == ["store"]
    assert len(heard.said) == 1


def test_an_error_becomes_a_notice_with_hint_and_place():
    notice = notice_of(CtxError("it broke", hint="mend it", place="file, byte 3"), key="k")
    assert (notice.severity, notice.sentence, notice.hint, notice.details) == (
        Severity.ERROR,
        "it broke",
        "mend it",
        "file, byte 3",
    )
