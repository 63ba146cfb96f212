"""The robust fit of reported over counted: exact lines, wild points, pictures, several models, too little to fit."""

import random
from pathlib import Path

import pytest

from ctxviewer.domain.errors import CtxError
from ctxviewer.domain.request import RequestState
from ctxviewer.engine.composition import NO_SCALE
from ctxviewer.tokens.calibration import APPROXIMATE, Point, calibrate, points
from ctxviewer.tokens.price_file import bundled_prices, load_prices


def line(count, slope=1.2, system=9_000, *, start=1_000, step=500, model="m", first=0, noise=0.0, seed=3):
    chance = random.Random(seed)
    found = []
    for number in range(count):
        counted = start + step * number
        found.append(Point(first + number, counted, 0, slope * counted + system + chance.uniform(-noise, noise), model))
    return found


def test_an_exact_line_is_found_exactly():
    calibration = calibrate(line(20))
    (fit,) = calibration.fits
    assert (fit.slope, fit.system) == (pytest.approx(1.2), pytest.approx(9_000))
    assert (fit.used, fit.sloped, fit.per_picture) == (20, True, 0)
    assert calibration.off == ()
    assert calibration.expected[3] == pytest.approx(1.2 * 2_500 + 9_000)
    assert calibration.scale("m").system == pytest.approx(9_000)
    assert "1.200 × counted + 9,000" in fit.sentence


@pytest.mark.parametrize("wild", [1, 4, 6])
def test_wild_points_do_not_move_the_line_and_are_named(wild):
    found = line(24, noise=40)
    chance = random.Random(wild)
    for place in chance.sample(range(24), wild):
        one = found[place]
        found[place] = Point(one.request, one.counted, 0, one.reported * chance.choice([0.1, 0.4, 2.5]), "m")
    calibration = calibrate(found)
    fit = calibration.fits[0]
    assert fit.slope == pytest.approx(1.2, abs=0.02)
    assert fit.system == pytest.approx(9_000, abs=200)
    assert len(calibration.off) == wild
    assert all(residual.reason for residual in calibration.off)


def test_pictures_get_a_price_of_their_own():
    found = [
        Point(one.request, one.counted, number // 5, one.reported + 1_500 * (number // 5), "m")
        for number, one in enumerate(line(25, noise=20))
    ]
    fit = calibrate(found).fits[0]
    assert fit.per_picture == pytest.approx(1_500, abs=60)
    assert fit.slope == pytest.approx(1.2, abs=0.02)
    assert "for each image" in fit.sentence


def test_a_picture_never_costs_less_than_nothing():
    found = [
        Point(one.request, one.counted, number % 2, one.reported - 900 * (number % 2), "m")
        for number, one in enumerate(line(20))
    ]
    assert calibrate(found).fits[0].per_picture == 0


def test_each_model_has_its_line_and_a_strange_one_borrows_the_largest():
    found = [*line(12, model="a"), *line(8, 0.8, 500, model="b", first=12), Point(20, 5_000, 0, 30_000, "c")]
    calibration = calibrate(found)
    assert [(fit.model_id, fit.sloped) for fit in calibration.fits] == [("a", True), ("b", True), ("c", False)]
    assert calibration.fit_for("b").slope == pytest.approx(0.8)
    assert calibration.fit_for("unheard").model_id == "a"


@pytest.mark.parametrize("found", [line(4), line(9, step=2), line(1)])
def test_too_few_or_too_alike_gives_only_the_offset(found):
    fit = calibrate(found).fits[0]
    assert (fit.slope, fit.sloped) == (1.0, False)
    assert fit.system == pytest.approx(0.2 * found[len(found) // 2].counted + 9_000, rel=0.05)
    assert "too few requests" in fit.sentence


def test_a_slope_that_cannot_be_one_is_not_believed():
    assert calibrate(line(20, slope=9.0)).fits[0].sloped is False
    assert calibrate(line(20, slope=-0.2, system=90_000)).fits[0].sloped is False


def test_the_system_prompt_is_never_below_nothing():
    fit = calibrate(line(20, slope=1.2, system=-800)).fits[0]
    assert fit.system == 0
    assert fit.slope == pytest.approx(1.2, abs=0.15)


def test_nothing_usable_gives_no_fit_but_reasons():
    calibration = calibrate(
        [Point(0, 10, 0, None, "m", "nothing was reported"), Point(1, 10, 0, None, "m", "zero was reported")]
    )
    assert calibration.fits == ()
    assert calibration.scale("m") is NO_SCALE
    assert [residual.reason for residual in calibration.residuals] == ["nothing was reported", "zero was reported"]
    assert calibrate(()).residuals == ()


def test_approximate_requests_are_used_only_where_there_are_no_others():
    approximate = [Point(one.request, one.counted, 0, one.reported, "m", APPROXIMATE) for one in line(10, slope=2.0)]
    assert calibrate(approximate).fits[0].slope == pytest.approx(2.0)
    for usable in (10, 5):
        both = calibrate([*line(usable), *approximate])
        assert both.fits[0].slope == pytest.approx(1.2)


def test_thousands_of_requests_take_a_moment():
    fit = calibrate(line(5_000, noise=100, step=20)).fits[0]
    assert fit.slope == pytest.approx(1.2, abs=0.005)


def test_points_say_why_a_request_is_not_used():
    from helpers.small_task import assistant, counted, small_task, user

    talk = [(user if number % 2 == 0 else assistant)(f"word {number}") for number in range(10)]
    task = small_task(
        talk, reported=[100, None, 0, 200, 300], states={3: RequestState.CANCELLED, 4: RequestState.FAILED}
    )
    found = points(task, counted(task))
    assert [point.doubt for point in found] == [
        "", "nothing was reported", "zero was reported", "the request was cancelled", "it failed",
    ]  # fmt: skip
    assert [point.counted for point in found] == [2, 6, 10, 14, 18]
    assert points(task, counted(task).resized(10, 3))[0].doubt == "not all messages are counted yet"


def test_a_request_off_the_line_says_what_may_have_moved_it():
    """The line of model m; every request named here reports 30 % more or less than it says."""

    def reason(share, *, pictures=0, model="m", before="m"):
        found = [*line(20), Point(20, 5_000, 0, 15_000.0, before), Point(21, 5_000, pictures, 15_000 * share, model)]
        last = calibrate(found).residuals[-1]
        assert last.off
        return last.reason

    assert reason(1.3).startswith("more was reported than the messages account for: a longer system prompt")
    assert reason(0.7).startswith("less was reported than the messages account for: a shorter system prompt")
    assert reason(1.3, pictures=2) == "it sends 2 images, which no text counter knows the price of"
    assert reason(1.3, pictures=2, before="other") == "the model has just changed"
    strange = calibrate([*line(20), Point(20, 5_000, 0, 99_000, "other", "it failed")])
    assert strange.residuals[-1].reason == "it failed"
    borrowed = calibrate([*line(20), Point(20, 5_000, 0, 0.5, "other", APPROXIMATE), Point(21, 5_000, 0, 99_000, "")])
    assert [fit.model_id for fit in borrowed.fits] == ["m", ""]
    assert borrowed.residuals[-2].expected == pytest.approx(15_000)


def test_the_bundled_prices_are_sane():
    table = bundled_prices()
    assert len(table.rows) > 20
    for row in table.rows:
        assert 0 <= row.cache_read <= row.input <= row.output, row.pattern
        assert row.input <= row.cache_write <= 2 * row.input, row.pattern
        assert row.as_of, row.pattern
        assert row.source, row.pattern
    for model in (
        "claude-3-7-sonnet-20250219",
        "claude-opus-4-1-20250805",
        "claude-opus-4-5-20251101",
        "claude-opus-5",
    ):
        assert table.of(model) is not None
    assert table.of("claude-opus-4-5-20251101").input == 5
    assert table.of("claude-opus-4-1-20250805").input == 15
    assert table.of("gpt-4o-mini").input < table.of("gpt-4o").input


def test_a_price_file_of_ones_own(tmp_path: Path):
    path = tmp_path / "p.toml"
    path.write_text("[[family]]\nname='x'\nprices=[{match='claude*', input=1, output=2}]", encoding="utf-8")
    table = load_prices(path)
    assert (table.of("claude-opus-5").input, table.of("gpt-5").input) == (1, 1.25)
    assert table.of("claude-opus-5").sentence.startswith("by your price table: x, as of ")
    assert table.of("gpt-5").sentence.startswith("by the built-in price table: ")
    path.write_bytes(b"\xff")
    with pytest.raises(CtxError, match="no UTF-8"):
        load_prices(path)
    with pytest.raises(CtxError, match="cannot be read"):
        load_prices(tmp_path / "none.toml")
