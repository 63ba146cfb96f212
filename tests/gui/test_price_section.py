"""Prices of the user's own in the preferences."""

import pytest

from ctxviewer.services.settings import PRICES, Settings
from ctxviewer.views.dialogs.price_section import PriceSection

TABLE = (
    '[[family]]\nname = "mine"\nas_of = "2026-01"\nsource = "me"\nprices = [{match = "m*", input = 1, output = 2}]\n'
)


@pytest.fixture
def settings(qapp, tmp_path):
    return Settings(tmp_path / "s.ini")


@pytest.fixture
def section(qtbot, settings):
    made = PriceSection(settings)
    qtbot.addWidget(made)
    made.show()
    return made


def test_without_a_file_the_built_in_table_is_named_with_its_date(section):
    assert section.path.text() == ""
    assert section.path.placeholderText().startswith("only the built-in table, as of 20")
    assert not section._clear.isEnabled()


def test_a_table_is_taken_and_given_back(section, settings, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(TABLE)
    section.use(str(file))
    assert settings.get(PRICES) == section.path.text() == str(file)
    section._clear.click()
    assert settings.get(PRICES) == ""
    assert file.exists()


def test_what_is_no_table_is_refused_with_its_reason(section, settings, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("prices = 3")
    section.use(str(file))
    assert settings.get(PRICES) == ""
    assert "no [[family]]" in section.told.text()


def test_a_file_that_went_away_is_told(qtbot, settings, tmp_path):
    settings.set(PRICES, str(tmp_path / "gone.toml"))
    section = PriceSection(settings)
    qtbot.addWidget(section)
    section.show()
    assert "cannot be read" in section.told.text()
    assert section._clear.isEnabled()
