"""The bundled price table, and a user's own before it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ctxviewer import resources
from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.prices import PriceTable, parse_prices

BUNDLED = "prices.toml"


@cache
def bundled_prices() -> PriceTable:
    """resources/prices.toml."""
    return parse_prices(resources.read_text(BUNDLED), BUNDLED)


def load_prices(own: Path | None = None) -> PriceTable:
    """The bundled table; with `own`, a TOML file of the same form, its rows count first.

    CtxError when the file cannot be read or is no such table; it names the place.
    """
    if own is None:
        return bundled_prices()
    try:
        text = own.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        reason = err.strerror if isinstance(err, OSError) and err.strerror else "it is no UTF-8 text"
        raise CtxError(f"The price table cannot be read: {reason}.", place=str(own)) from err
    return parse_prices(text, own.name, own=True).before(bundled_prices())
