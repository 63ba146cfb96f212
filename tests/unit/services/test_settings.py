"""Settings: typed, surviving a restart, with damage read as the default."""

import pytest
from PySide6.QtCore import QByteArray, QSettings

from ctxviewer.services import settings as s
from helpers.snapshots import Heard


def again(settings):
    """The same file read by a later run."""
    settings.sync()
    return s.Settings(settings.file)


@pytest.fixture
def settings(qapp, tmp_path):
    return s.Settings(tmp_path / "settings.ini")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (s.THEME, "dark"),
        (s.SCALE, 120),
        (s.PROPORTIONAL, True),
        (s.EXTRA_ROOTS, ("/one",)),
        (s.EXTRA_ROOTS, ("/a, b", "/ö\\c", "@x")),
        (s.LAST_TASK, "/a;b"),
        (s.WINDOWS, {"/a": 200_000}),
    ],
)
def test_values_and_types_survive_a_restart(settings, field, value):
    settings.set(field, value)
    found = again(settings).get(field)
    assert found == value
    assert type(found) is type(value)


def test_everything_has_a_default(settings):
    assert {field.key: settings.get(field) for field in s.FIELDS} == {field.key: field.default for field in s.FIELDS}


@pytest.mark.parametrize("damage", ["", "true", "[1]", '"no such theme"', "{", "null"])
def test_damage_reads_as_the_default(settings, damage):
    settings.set(s.THEME, "dark")
    store = QSettings(str(settings.file), QSettings.Format.IniFormat)
    store.setValue(s.THEME.key, damage)
    store.sync()
    assert again(settings).get(s.THEME) == "system"


def test_keys_are_unique():
    assert len({field.key for field in s.FIELDS}) == len(s.FIELDS)


def test_scale_is_kept_in_bounds(settings):
    settings.set(s.SCALE, 400)
    assert again(settings).get(s.SCALE) == s.SCALE_MAX


def test_changes_are_told_once(settings):
    heard = Heard(settings.changed)
    settings.set(s.THEME, "dark")
    settings.set(s.THEME, "dark")
    settings.reset(s.THEME)
    assert heard.said == [s.THEME, s.THEME]


def test_recent_tasks_are_few_and_newest_first(settings):
    for number in range(20):
        settings.note_recent(f"/t{number}")
    settings.note_recent("/t15")
    recent = settings.get(s.RECENT)
    assert recent[:3] == ("/t15", "/t19", "/t18")
    assert len(recent) == s.RECENT_LIMIT
    assert settings.get(s.LAST_TASK) == "/t15"


def test_a_window_override_can_be_taken_back(settings):
    settings.set_window_override("/a", 64_000)
    assert again(settings).window_override("/a") == 64_000
    settings.set_window_override("/a", None)
    assert settings.window_override("/a") is None


def test_the_layout_is_remembered_and_forgotten(settings):
    settings.remember_window(QByteArray(b"geo"), QByteArray(b"docks"))
    assert again(settings).window() == (QByteArray(b"geo"), QByteArray(b"docks"))
    settings.forget_window()
    assert settings.window() == (QByteArray(), QByteArray())
