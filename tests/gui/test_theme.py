"""The theme object: choice, scale, icons, hatch, motion, and that it dresses the application."""

from contextlib import nullcontext

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPalette
from PySide6.QtWidgets import QApplication

from ctxviewer.views import theme as theme_module
from ctxviewer.views.icons import GLYPHS
from ctxviewer.views.stylesheet import style_sheet
from ctxviewer.views.theme import Choice, Mode, Theme


@pytest.fixture
def theme(qapp):
    made = Theme()
    yield made
    made.deleteLater()


def test_choice_overrides_and_tells(theme, qtbot):
    with qtbot.waitSignal(theme.changed):
        theme.set_choice(Choice.DARK)
    assert theme.mode is Mode.DARK
    assert theme.is_dark
    dark = QColor(theme.color("ground"))
    theme.set_choice(Choice.LIGHT)
    assert not theme.is_dark
    assert theme.color("ground") != dark
    theme.set_choice(Choice.HIGH_CONTRAST)
    assert theme.doubles_patterns


def test_same_choice_is_silent(theme, qtbot):
    theme.set_choice(Choice.DARK)
    with qtbot.assertNotEmitted(theme.changed):
        theme.set_choice(Choice.DARK)
        theme.set_scale(1.0)


def test_follows_the_system_only_while_asked(theme, qtbot, monkeypatch):
    told = QGuiApplication.styleHints().colorSchemeChanged
    for scheme, mode in ((Qt.ColorScheme.Dark, Mode.DARK), (Qt.ColorScheme.Light, Mode.LIGHT)):
        monkeypatch.setattr(theme_module, "_system_scheme", lambda scheme=scheme: scheme)
        with qtbot.waitSignal(theme.changed) if theme.mode is not mode else nullcontext():
            told.emit(scheme)
        assert theme.mode is mode
    theme.set_choice(Choice.LIGHT)
    monkeypatch.setattr(theme_module, "_system_scheme", lambda: Qt.ColorScheme.Dark)
    with qtbot.assertNotEmitted(theme.changed):
        told.emit(Qt.ColorScheme.Dark)
    assert theme.mode is Mode.LIGHT


def test_high_contrast_follows_the_system_ground(theme, monkeypatch):
    monkeypatch.setattr(theme_module, "_wants_contrast", lambda: True)
    monkeypatch.setattr(theme_module, "_system_scheme", lambda: Qt.ColorScheme.Light)
    QGuiApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.mode is Mode.HIGH_CONTRAST
    assert theme.color("ground") == QColor("white")
    monkeypatch.setattr(theme_module, "_system_scheme", lambda: Qt.ColorScheme.Dark)
    QGuiApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.color("ground") == QColor("black")


def test_unknown_names_raise(theme):
    with pytest.raises(KeyError):
        theme.color("grund")
    with pytest.raises(KeyError):
        theme.icon("trunkate")


def test_every_icon_exists_and_takes_the_colour(theme):
    theme.set_choice(Choice.LIGHT)
    for name in GLYPHS:
        image = theme.icon(name, "accent").pixmap(QSize(24, 24)).toImage()
        inked = [image.pixelColor(x, y) for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() > 120]
        assert inked, name
        assert any(abs(c.blue() - theme.color("accent").blue()) < 8 and c.blue() > c.red() for c in inked), name


def test_icons_are_recoloured_after_a_change(theme):
    theme.set_choice(Choice.LIGHT)
    light = theme.icon("close").pixmap(16, 16).toImage()
    theme.set_choice(Choice.DARK)
    assert theme.icon("close").pixmap(16, 16).toImage() != light


def test_scale_is_bounded_and_steps(theme):
    normal = theme.ui_font().pixelSize()
    theme.zoom_in()
    assert theme.scale == pytest.approx(1.1)
    theme.set_scale(9)
    assert theme.scale == pytest.approx(1.6)
    theme.zoom_in()
    assert theme.scale == pytest.approx(1.6)
    assert theme.ui_font().pixelSize() > normal
    theme.set_scale(0)
    assert theme.scale == pytest.approx(0.8)
    theme.zoom_out()
    assert theme.scale == pytest.approx(0.8)
    theme.reset_zoom()
    assert theme.scale == pytest.approx(1.0)
    assert theme.ui_font().pixelSize() == normal == 13


def test_text_font_can_be_proportional(theme):
    assert theme.text_font().family() == theme.fixed_font().family()
    theme.set_proportional_text(True)
    assert theme.text_font().family() == theme.ui_font().family()


def _ink(theme, doubled):
    image = QImage(90, 90, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.fillRect(image.rect(), theme.hatch(doubled))
    painter.end()
    return sum(image.pixelColor(x, y) != QColor("white") for x in range(90) for y in range(90))


def test_hatch_is_drawn_and_doubles(theme):
    theme.set_choice(Choice.LIGHT)
    assert 500 < _ink(theme, False) < _ink(theme, True)
    assert _ink(theme, None) == _ink(theme, False)
    theme.set_choice(Choice.HIGH_CONTRAST)
    assert _ink(theme, None) == _ink(theme, True)


def test_motion_follows_the_user_then_the_system(theme, qtbot):
    theme.set_reduced_motion(False)
    assert theme.fade_ms == 120
    with qtbot.waitSignal(theme.changed):
        theme.set_reduced_motion(True)
    assert theme.fade_ms == 0
    theme.set_reduced_motion(None)
    assert theme.reduced_motion == (theme.fade_ms == 0)


def test_apply_dresses_the_application_and_keeps_doing_so(theme, qapp):
    before = (qapp.palette(), qapp.font(), qapp.styleSheet(), qapp.style().objectName())
    try:
        theme.set_choice(Choice.DARK)
        theme.apply(qapp)
        assert qapp.palette().color(QPalette.ColorRole.Window) == theme.color("ground")
        assert theme.color("line").name() in qapp.styleSheet()
        assert "@" not in qapp.styleSheet()
        theme.set_choice(Choice.LIGHT)
        assert qapp.palette().color(QPalette.ColorRole.Window) == theme.color("ground")
        theme.set_scale(1.6)
        assert qapp.font().pixelSize() == 21
    finally:
        theme._app = None
        QGuiApplication.styleHints().unsetColorScheme()
        qapp.setStyleSheet(before[2])
        qapp.setStyle(before[3])
        qapp.setFont(before[1])
        qapp.setPalette(before[0])


def test_current_is_one_for_the_application(qapp):
    assert theme_module.current() is theme_module.current()
    assert theme_module.current().parent() is QApplication.instance()


@pytest.mark.parametrize("choice", [Choice.LIGHT, Choice.DARK, Choice.HIGH_CONTRAST])
def test_signs_of_the_style_sheet_stand_out_from_their_ground(theme, choice):
    theme.set_choice(choice)
    colors = {name: theme.color(name) for name in theme.names}
    sheet = style_sheet(colors, 1.0)
    tone = "light" if theme.is_dark else "dark"
    assert f"down-{tone}.svg" in sheet
    assert ("check-dark.svg" in sheet) == (colors["on_accent"].lightnessF() < 0.5 or not theme.is_dark)
    assert "42px" in style_sheet(colors, 1.5)  # 28 px of a scroll bar's handle


def test_a_typo_in_the_style_sheet_raises(theme, monkeypatch):
    from ctxviewer import resources

    colors = {name: theme.color(name) for name in theme.names}
    monkeypatch.setattr(resources, "read_text", lambda *_: "QLabel { color: @tekst; }")
    with pytest.raises(KeyError):
        style_sheet(colors, 1.0)
    monkeypatch.setattr(resources, "read_text", lambda *_: "QLabel { image: @glyph(chek); }")
    with pytest.raises(FileNotFoundError):
        style_sheet(colors, 1.0)
