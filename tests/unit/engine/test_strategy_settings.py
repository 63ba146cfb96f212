"""Settings, windows and keys: what is taken, and the sentence for what is not."""

from __future__ import annotations

import pytest

from ctxviewer.engine.strategies import STRATEGIES, Setting, SettingKind, SettingsError, strategy
from helpers.cline_talk import a, alternating, u
from helpers.lab import lab_state

WHOLE = Setting("recent", SettingKind.WHOLE, 10, "How many stay.", low=0, high=100)
SHARE = Setting("share", SettingKind.SHARE, None, "A share.", low=0, high=2)
SWITCH = Setting("always", SettingKind.SWITCH, False, "Act anyway.")
CHOICE = Setting("who", SettingKind.CHOICE, "a", "Whose figures.", choices=("a", "b"))
TEXT = Setting("text", SettingKind.TEXT, "", "Any text.")


@pytest.mark.parametrize(
    ("setting", "text", "value"),
    [
        (WHOLE, "12", 12),
        (WHOLE, " 1_0 ", 10),
        (WHOLE, "", 10),
        (WHOLE, "0.1k", 100),
        (SHARE, "75 %", 0.75),
        (SHARE, "0.5", 0.5),
        (SHARE, "", None),
        (SWITCH, "on", True),
        (SWITCH, "NO", False),
        (SWITCH, "", False),
        (CHOICE, "b", "b"),
        (CHOICE, "", "a"),
        (TEXT, " x ", " x "),
    ],
)
def test_texts_that_people_type(setting, text, value):
    assert setting.read(text) == value


@pytest.mark.parametrize(
    ("setting", "text", "says"),
    [
        (WHOLE, "101", "a whole number from 0 up to 100 is needed"),
        (WHOLE, "-1", "a whole number from 0 up to 100 is needed"),
        (WHOLE, "2.5", "a whole number"),
        (WHOLE, "nan", "a whole number"),
        (WHOLE, "many", "recent cannot be 'many'"),
        (SHARE, "inf", "a number from 0 up to 2 is needed"),
        (SHARE, "201%", "a number from 0 up to 2 is needed"),
        (SWITCH, "maybe", "allowed are on and off"),
        (CHOICE, "c", "allowed are a, b"),
    ],
)
def test_texts_that_are_refused(setting, text, says):
    with pytest.raises(SettingsError) as caught:
        setting.read(text)
    assert says in caught.value.sentence
    assert caught.value.hint == setting.meaning


@pytest.mark.parametrize("value", [True, "5", 1.5, None, float("inf")])
def test_a_whole_number_is_nothing_else(value):
    with pytest.raises(SettingsError):
        WHOLE.check(value)
    assert WHOLE.check(5.0) == 5


def test_an_unknown_setting_is_named_with_those_that_exist():
    with pytest.raises(SettingsError, match="Truncate: half has no setting 'recent'; it has none"):
        strategy("half").values({"recent": 1})
    with pytest.raises(SettingsError, match="it has provider, threshold, recent, keep_system, always"):
        strategy("sage-prune").values({"recnt": 1})


def test_a_refused_setting_runs_nothing():
    state = lab_state(alternating(6), [9_000])
    for row in STRATEGIES:
        with pytest.raises(SettingsError):
            row.plan(state, {"no such": 1})


@pytest.mark.parametrize("window", [0, -5, float("nan"), float("inf"), 10**13, True])
def test_a_window_that_is_none(window):
    with pytest.raises(SettingsError, match="cannot be used"):
        strategy("decide").plan(lab_state(alternating(6)), window=window)


def test_keys_are_found_in_any_case_and_others_named():
    assert strategy(" LASTTWO ").key == "lastTwo"
    with pytest.raises(SettingsError) as caught:
        strategy("third")
    assert "sage-compact" in caught.value.hint


def test_the_table_is_whole():
    assert [row.key for row in STRATEGIES if row.agent == "Cline"] == [
        "decide",
        "optimise",
        "half",
        "quarter",
        "lastTwo",
        "none",
        "subagent",
    ]
    assert [row.key for row in STRATEGIES if row.agent == "Sage"] == ["sage-prune", "sage-summarize", "sage-compact"]
    for row in STRATEGIES:
        assert "\n" not in row.meaning
        assert row.source
        assert row.values() == {setting.name: setting.default for setting in row.settings}
        assert row.can_apply == (row.agent == "Cline" and row.key != "subagent")


TALK = [u("x" * 360), a("y" * 360), {"role": "system", "content": "be brief"}, *alternating(20)]
OTHER_VALUES = {
    "total": 1_000_000,
    "auto_condense": True,
    "always": True,
    "provider": "google",
    "threshold": 0.0,
    "recent": 2,
    "keep_system": False,
    "override": "0",
}
"""By setting a value that matters somewhere."""


@pytest.mark.parametrize(
    ("row", "setting"),
    [pytest.param(row, setting, id=f"{row.key}.{setting.name}") for row in STRATEGIES for setting in row.settings],
)
def test_every_setting_does_something(row, setting):
    state, value = lab_state(TALK, [155_000]), OTHER_VALUES[setting.name]

    def told(window, values):
        plan = row.plan(state, values, window=window)
        return [step.sentence for step in plan.steps], plan.after

    bases = ({}, {"recent": 2} if "recent" in row.values() else {})
    assert any(
        told(window, base) != told(window, {**base, setting.name: value}) for window in (200_000, 100) for base in bases
    )
