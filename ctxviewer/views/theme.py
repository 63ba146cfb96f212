"""How everything looks, in one place: colours, hatch, icons, fonts, scale and motion, from `resources/themes`.

Widgets ask `current()` for what they paint with and repaint on `changed`. Nobody else names a colour.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QStyle

from ctxviewer import resources
from ctxviewer.views.icons import GLYPHS
from ctxviewer.views.stylesheet import mix, palette, style_sheet

SCALES: Final = (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
BASE_PIXELS: Final = 13
FADE_MS: Final = 120


class Mode(StrEnum):
    """A theme that is drawn."""

    LIGHT = "light"
    DARK = "dark"
    HIGH_CONTRAST = "high-contrast"


class Choice(StrEnum):
    """What the user asked for; SYSTEM follows the desktop."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"
    HIGH_CONTRAST = "high-contrast"


@cache
def load_colors(mode: Mode, *, white_ground: bool = False) -> Mapping[str, QColor]:
    """The colours of a theme by name. `white_ground` chooses the white variant of high contrast, else no effect."""
    parsed = tomllib.loads(resources.read_text("themes", f"{mode}.toml"))
    table = parsed["on_white"] if white_ground and mode is Mode.HIGH_CONTRAST else parsed["colors"]
    colors = {name: QColor(value) for name, value in table.items()}
    colors["scroll"] = mix(colors["muted"], colors["surface"], 0.45)
    return colors


class Theme(QObject):
    """The look in force. One per application, see `current()`."""

    changed = Signal()
    """Colours, fonts, scale or motion are others now: repaint, and ask again for icons and fonts."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._choice = Choice.SYSTEM
        self._scale = 1.0
        self._proportional = False
        self._still: bool | None = None
        self._app: QApplication | None = None
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._icons_held = False
        self._hatches: dict[bool, QBrush] = {}
        self._mode, self._colors = Mode.LIGHT, load_colors(Mode.LIGHT)
        self._system_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)
        accessibility = getattr(hints, "accessibility", None)  # Qt 6.10 and later
        if accessibility is not None:
            accessibility().contrastPreferenceChanged.connect(self._follow_system)
        self._resolve()

    # -- what is drawn with

    def color(self, name: str) -> QColor:
        """A colour by its name in the theme files. Raises KeyError on a typo. The caller must not change it."""
        return self._colors[name]

    @property
    def names(self) -> frozenset[str]:
        """All colour names."""
        return frozenset(self._colors)

    @property
    def mode(self) -> Mode:
        """The theme that is drawn."""
        return self._mode

    @property
    def is_dark(self) -> bool:
        """True when words are lighter than their ground."""
        return self._colors["text"].lightness() > self._colors["ground"].lightness()

    @property
    def doubles_patterns(self) -> bool:
        """True in high contrast: hatches are twice as dense and series carry patterns."""
        return self._mode is Mode.HIGH_CONTRAST

    def hatch(self, doubled: bool | None = None) -> QBrush:
        """The 45° hatch of what is not sent, on a transparent ground: fill with `hidden_fill` first.

        `doubled` draws it twice as dense; None = as the theme wants it.
        """
        dense = self.doubles_patterns if doubled is None else doubled
        if dense not in self._hatches:
            self._hatches[dense] = _hatch(self._colors["hidden_hatch"], self.px(5 if dense else 9))
        return self._hatches[dense]

    def icon(self, name: str, color: str = "muted") -> QIcon:
        """The icon for one of our words (`views/icons.py`), in a colour of the theme. Raises KeyError on a typo.

        Ask again after `changed`: an icon keeps the colour it was made with.
        """
        key = (name, color)
        glyph = GLYPHS[name]
        if self._icons_held:
            return _blank_icon(self.px(16))
        if key not in self._icons:
            import qtawesome  # noqa: PLC0415 - takes a third of the time to the first paint; see `hold_icons`

            self._icons[key] = qtawesome.icon(
                glyph,
                color=self._colors[color],
                color_active=self._colors["text"] if color == "muted" else self._colors[color],
                color_disabled=self._colors["faint"],
            )
        return self._icons[key]

    def hold_icons(self) -> None:
        """Give out empty icons of the right size for now: the icon library takes long to load."""
        self._icons_held = True

    def release_icons(self) -> None:
        """Load the icon library; everybody is told to ask again."""
        if self._icons_held:
            self._icons_held = False
            self.changed.emit()

    # -- type and space

    @property
    def scale(self) -> float:
        """1.0 = 13 px words; from 0.8 to 1.6."""
        return self._scale

    def px(self, length: float) -> int:
        """A length of the design in pixels at the present scale, at least 1."""
        return max(1, round(length * self._scale))

    def ui_font(self, *, bold: bool = False, size: float = BASE_PIXELS) -> QFont:
        """The system's interface font with figures of one width. `size` in pixels at scale 1."""
        font = QFont(self._system_font)
        return self._dress(font, size, bold)

    def fixed_font(self, *, bold: bool = False, size: float = BASE_PIXELS) -> QFont:
        """The system's fixed-width font."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        return self._dress(font, size, bold)

    def text_font(self) -> QFont:
        """The font for the text of messages: fixed, or proportional if the user chose so."""
        return self.ui_font() if self._proportional else self.fixed_font()

    def _dress(self, font: QFont, size: float, bold: bool) -> QFont:
        font.setPixelSize(self.px(size))
        font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        if hasattr(QFont, "Tag"):  # OpenType features need Qt 6.7
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    # -- motion

    @property
    def reduced_motion(self) -> bool:
        """True when nothing may move or fade: the user's choice, else the system's."""
        if self._still is not None:
            return self._still
        animates = QApplication.isEffectEnabled(Qt.UIEffect.UI_General)
        style = QApplication.style()
        lasts = style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) if animates else 0
        return lasts <= 0

    @property
    def fade_ms(self) -> int:
        """How long a change may fade in: 120 ms, or 0 with reduced motion."""
        return 0 if self.reduced_motion else FADE_MS

    # -- choices of the user

    @property
    def choice(self) -> Choice:
        """What the user asked for."""
        return self._choice

    def set_choice(self, choice: Choice) -> None:
        """Follow the system, or draw one theme whatever the system says."""
        if choice is not self._choice:
            self._choice = choice
            self._tell_platform()
            self._refresh()

    def set_scale(self, scale: float) -> None:
        """Set the size of words and spaces, kept within 0.8 … 1.6."""
        wanted = min(max(scale, SCALES[0]), SCALES[-1])
        if wanted != self._scale:
            self._scale = wanted
            self._refresh()

    def zoom_in(self) -> None:
        """One step larger, up to 160 %."""
        self.set_scale(min((s for s in SCALES if s > self._scale + 0.001), default=SCALES[-1]))

    def zoom_out(self) -> None:
        """One step smaller, down to 80 %."""
        self.set_scale(max((s for s in SCALES if s < self._scale - 0.001), default=SCALES[0]))

    def reset_zoom(self) -> None:
        """Back to 100 %."""
        self.set_scale(1.0)

    @property
    def proportional_text(self) -> bool:
        """True when messages are set in the interface font instead of the fixed one."""
        return self._proportional

    def set_proportional_text(self, proportional: bool) -> None:
        """Choose the font for the text of messages."""
        if proportional != self._proportional:
            self._proportional = proportional
            self._refresh()

    def set_reduced_motion(self, still: bool | None) -> None:
        """True or False overrides the system, None follows it."""
        if still != self._still:
            self._still = still
            self.changed.emit()

    # -- putting it on

    def apply(self, app: QApplication) -> None:
        """Dress the application now and after every later change."""
        self._app = app
        app.setStyle("Fusion")
        self._refresh()

    def _refresh(self) -> None:
        self._resolve()
        if self._app is not None:
            self._app.setPalette(palette(self._colors))
            self._app.setFont(self.ui_font())
            self._app.setStyleSheet(style_sheet(self._colors, self._scale))
        self.changed.emit()

    def _follow_system(self) -> None:
        before = (self._mode, self._colors["ground"])
        self._resolve()
        if (self._mode, self._colors["ground"]) != before:
            self._refresh()

    def _resolve(self) -> None:
        scheme = _system_scheme()
        if self._choice is Choice.SYSTEM:
            self._mode = Mode.DARK if scheme is Qt.ColorScheme.Dark else Mode.LIGHT
            if _wants_contrast():
                self._mode = Mode.HIGH_CONTRAST
        else:
            self._mode = Mode(self._choice.value)
        self._colors = load_colors(self._mode, white_ground=scheme is Qt.ColorScheme.Light)
        self._icons.clear()
        self._hatches.clear()

    def _tell_platform(self) -> None:
        """Ask the platform for matching title bars and file dialogs; where it cannot, nothing is lost."""
        if self._app is None:
            return
        hints = QGuiApplication.styleHints()
        wanted = {Choice.LIGHT: Qt.ColorScheme.Light, Choice.DARK: Qt.ColorScheme.Dark}.get(self._choice)
        if hasattr(hints, "setColorScheme"):  # Qt 6.8
            hints.setColorScheme(Qt.ColorScheme.Unknown if wanted is None else wanted)


def _system_scheme() -> Qt.ColorScheme:
    return QGuiApplication.styleHints().colorScheme()


def _wants_contrast() -> bool:
    accessibility = getattr(QGuiApplication.styleHints(), "accessibility", None)
    preference = getattr(Qt, "ContrastPreference", None)
    if accessibility is None or preference is None:
        return False
    return bool(accessibility().contrastPreference() is preference.HighContrast)


def _hatch(color: QColor, pitch: int) -> QBrush:
    """Lines at 45°, rising to the right, `pitch` pixels apart, that continue seamlessly across tiles."""
    tile = QPixmap(pitch, pitch)
    tile.fill(Qt.GlobalColor.transparent)
    with QPainter(tile) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1.2))
        for shift in (-pitch, 0, pitch):
            painter.drawLine(shift - 1, pitch + 1, shift + pitch + 1, -1)
    return QBrush(tile)


def app_icon() -> QIcon:
    """Our own icon, for windows."""
    return QIcon(str(resources.path("icons", "ctxviewer.svg")))


def _blank_icon(side: int) -> QIcon:
    blank = QPixmap(side, side)
    blank.fill(Qt.GlobalColor.transparent)
    return QIcon(blank)


_theme: Theme | None = None


def current() -> Theme:
    """The theme of the running application, made at the first call. Needs a QApplication; GUI thread only."""
    global _theme  # noqa: PLW0603 - one look per process, like QApplication itself
    if _theme is None or not shiboken6.isValid(_theme):
        _theme = Theme(QApplication.instance())
    return _theme
