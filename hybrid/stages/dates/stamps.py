"""Resolve full time stamps, as mail headers and logs write them, with dateparser."""

from __future__ import annotations

import warnings
from datetime import datetime

from hybrid.stages.dates.calendar import Range
from hybrid.stages.dates.values import Context, Value

# What dateparser has been seen to raise on text that only looks like a stamp.
_RAISED = (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError)


def stamp(context: Context) -> Value:
    """Return the moment that a stamp with date and clock names, its zone kept; unresolved where dateparser has no reading.

    One phrase a call, the language fixed, every part of the date given by the text itself.
    """
    moment = _parsed(context.match.group())
    if moment is None:
        return Value(kind="unresolved")
    return Value(Range(moment, moment, "time"), dated=True)


def _parsed(text: str) -> datetime | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dateparser

        # Nothing may come from the clock: with strict parsing a stamp that lacks a part is no stamp.
        settings = {"STRICT_PARSING": True, "RELATIVE_BASE": datetime(2000, 1, 1)}
        try:
            found: datetime | None = dateparser.parse(text, languages=["en"], settings=settings)
        except _RAISED:
            return None
    return found
