"""Shorten text and read ISO intervals, the same way for every schema."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TypedDict


class Range(TypedDict):
    """Hold the inclusive days of an interval."""

    first: date | None
    last: date | None


_BREAKS = re.compile(
    r"(?<=[.!?])\s+|\s*;\s+|,\s+(?:and|but|so|because|which|who|where|while)\s+|,\s+|\s+(?:and|but|so|because|while)\s+"
)


def shortened(text: str, limit: int) -> str:
    """Return the text cut at the last clause border within the limit; a name, number or negation is never cut in two."""
    if len(text) <= limit:
        return text
    borders = [m.start() for m in _BREAKS.finditer(text) if 20 <= m.start() <= limit - 1]
    cut = borders[-1] if borders else text.rfind(" ", 0, limit - 1)
    return text[: cut if cut > 0 else limit - 1].rstrip(" ,;:.") + "."


def when_text(when: str | None) -> Range:
    """Return the first and last day of an ISO date or interval, None where open or unknown."""
    if when is None:
        return {"first": None, "last": None}
    left, _, right = when.partition("/")
    return {"first": _day(left), "last": _day(right or left)}


def _day(text: str) -> date | None:
    return None if text in ("..", "") else datetime.fromisoformat(text).date()
