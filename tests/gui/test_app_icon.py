"""The application's icon and desktop entry."""

import configparser

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor

from ctxviewer import resources
from ctxviewer.views.theme import app_icon


def test_the_icon_is_drawn_and_legible_when_small(qapp):
    for side in (16, 32, 128):
        image = app_icon().pixmap(QSize(side, side)).toImage()
        assert image.width() == side
        colors = {
            image.pixelColor(x, y).name()
            for x in range(side)
            for y in range(side)
            if image.pixelColor(x, y).alpha() == 255
        }
        assert {QColor("#27304A").name(), QColor("#7BA0FF").name(), QColor("#F1F2F4").name()} <= colors, side


def test_the_icon_loads_nothing_from_elsewhere():
    text = resources.read_text("icons", "ctxviewer.svg")
    assert "href" not in text
    assert "<script" not in text
    assert text.count("http") == 1  # the name of the SVG language


def test_the_desktop_entry_names_the_command_and_no_place():
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read_string(resources.read_text("desktop", "ctxviewer.desktop"))
    facts = entry["Desktop Entry"]
    assert facts["Exec"] == "ctxviewer %F"
    assert facts["Icon"] == "ctxviewer"
    assert facts["Type"] == "Application"
    assert all("/" not in value for key, value in facts.items() if key != "MimeType")
    assert facts["Categories"].endswith(";")
