"""Every pair of words and ground that we draw is readable in every theme (WCAG 2 contrast, at least 4.5 : 1)."""

import pytest
from PySide6.QtGui import QColor

from ctxviewer.views.theme import Mode, load_colors

THEMES = [(Mode.LIGHT, False), (Mode.DARK, False), (Mode.HIGH_CONTRAST, False), (Mode.HIGH_CONTRAST, True)]
PARTS = (
    "system", "task", "user", "assistant", "calls", "results", "files", "surroundings", "notices", "images", "other",
)  # fmt: skip
PAIRS = [
    *(("text", g) for g in ("ground", "surface", "raised", "hover", "accent_ground", "found")),
    *(
        ("text", g)
        for g in ("role_user", "role_assistant", "role_tool", "rewritten_ground", "repaired_ground", "event_ground")
    ),
    *(("text", g) for g in ("hidden_fill", "added_ground", "removed_ground")),
    *(("muted", g) for g in ("ground", "surface", "raised", "hover", "accent_ground", "hidden_fill")),
    *(("faint", g) for g in ("ground", "surface", "raised")),
    *(("accent", g) for g in ("ground", "surface", "raised")),
    ("on_accent", "accent"),
    *(("rewritten", g) for g in ("rewritten_ground", "surface", "ground", "hidden_fill")),
    *(("repaired", g) for g in ("repaired_ground", "surface", "ground", "hidden_fill")),
    *(("event", g) for g in ("event_ground", "surface", "ground", "hidden_fill")),
    *((f"fact_{n}", g) for n in range(1, 7) for g in ("surface", "ground", "raised")),
    *(("text", f"part_{name}") for name in PARTS),
    ("added", "added_ground"),
    ("removed", "removed_ground"),
    ("hidden_text", "hidden_fill"),
    *(("later", g) for g in ("ground", "surface", "raised")),
    *((s, g) for s in ("error", "warning", "info") for g in ("ground", "surface", "raised")),
]
LOOSE = [("hidden_text", "hidden_hatch", 3.0), ("later", "rewritten_ground", 3.0)]


def luminance(color: QColor) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_itself():
    assert contrast(QColor("#000000"), QColor("#FFFFFF")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("#FFFFFF")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("mode", "white"), THEMES)
def test_words_reach_four_and_a_half(mode, white):
    colors = load_colors(mode, white_ground=white)
    poor = {
        f"{a} on {b}": round(contrast(colors[a], colors[b]), 2)
        for a, b in PAIRS
        if contrast(colors[a], colors[b]) < 4.5
    }
    assert poor == {}


@pytest.mark.parametrize(("mode", "white"), THEMES)
def test_words_over_a_pattern_stay_readable(mode, white):
    colors = load_colors(mode, white_ground=white)
    poor = {
        f"{a} on {b}": round(contrast(colors[a], colors[b]), 2)
        for a, b, bar in LOOSE
        if contrast(colors[a], colors[b]) < bar
    }
    assert poor == {}


@pytest.mark.parametrize(("mode", "white"), THEMES)
def test_dimmed_words_step_back(mode, white):
    """Hidden and later words are weaker than sent ones, or the picture says nothing."""
    colors = load_colors(mode, white_ground=white)
    sent = contrast(colors["text"], colors["surface"])
    assert contrast(colors["hidden_text"], colors["hidden_fill"]) < 0.75 * sent
    assert contrast(colors["later"], colors["surface"]) < 0.5 * sent


@pytest.mark.parametrize("white", [False, True])
def test_high_contrast_has_full_strength_grounds_and_lines(white):
    colors = load_colors(Mode.HIGH_CONTRAST, white_ground=white)
    assert contrast(colors["line"], colors["ground"]) == pytest.approx(21)
    assert contrast(colors["text"], colors["surface"]) == pytest.approx(21)
    for name in ("series_input", "series_output", "accent", "event", "rewritten"):
        assert contrast(colors[name], colors["surface"]) >= 5, name


@pytest.mark.parametrize(("mode", "white"), THEMES)
def test_all_themes_have_the_same_names(mode, white):
    assert set(load_colors(mode, white_ground=white)) == set(load_colors(Mode.LIGHT))
    assert all(color.isValid() for color in load_colors(mode, white_ground=white).values())
