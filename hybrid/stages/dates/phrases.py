"""Say a resolved date in words, absolute and readable; in ISO form for a language without words here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final

from hybrid.data import ResolvedDate
from hybrid.stages.dates.calendar import SEASONS, day_of, month_of

_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_PARTS: Final = ((5, "early morning"), (8, "morning"), (12, "afternoon"), (16, "evening"), (20, "night"))
_SEASON_STARTS: Final = {month: season for season, month in SEASONS.items()}


def readable(found: ResolvedDate, language: str = "en") -> str:
    """Return the range in words ("the week of 2–8 June 2023"), the phrase itself where it has no range."""
    if found.first is None and found.last is None:
        return found.text
    if language != "en":
        return found.interval or found.text
    if found.first is None:
        return f"until {_english(found, found.last, found.last)}"
    if found.last is None:
        # "Since" tells of what goes on already; what is still to start, starts from its day.
        opening = "from" if found.text.casefold().startswith(("start", "begin", "from", "effective")) else "since"
        return f"{opening} {_english(found, found.first, found.first)}"
    return _english(found, found.first, found.last)


def with_preposition(found: ResolvedDate, language: str = "en") -> str:
    """Return the range in words with the preposition that puts it into a sentence: "on 7 May 2023", "in May 2023"."""
    words = readable(found, language)
    if language != "en" or found.first is None or found.last is None:
        return words
    if _is_day(found.first, found.last):
        return f"at {words}" if words[0].isdigit() and ":" in words.split(" ")[0] else f"on {words}"
    if found.grain == "part":
        return f"in {words}" if not words.startswith("the night") else f"on {words}"
    if found.grain == "weekend":
        return f"over {words}"
    if words.startswith("from "):
        return words
    return f"in {words}"


def _is_day(first: date, last: date) -> bool:
    return first == last


def _english(found: ResolvedDate, first: date | None, last: date | None) -> str:
    if first is None or last is None:
        return found.text
    if found.first is None or found.last is None:
        return _open_end(found, first)
    if found.grain in ("time", "part"):
        return _moment(found, first, last)
    first, last = day_of(first), day_of(last)
    if first == last:
        return _day(first)
    whole = _whole(first, last)
    if whole is not None:
        return whole
    if found.grain == "week" and (last - first).days == 6:
        return f"the week of {_stretch(first, last)}"
    if found.grain == "weekend":
        return f"the weekend of {_stretch(first, last)}"
    return f"from {_day(first)} to {_day(last)}"


def _open_end(found: ResolvedDate, end: date) -> str:
    if isinstance(end, datetime):
        return f"{end:%H:%M} on {_day(end)}"
    start, stop = day_of(end), day_of(end)
    if found.grain == "year":
        return str(start.year)
    if found.grain == "month":
        return f"{_MONTHS[start.month - 1]} {stop.year}"
    return _day(start)


def _moment(found: ResolvedDate, first: date, last: date) -> str:
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return _day(first) if first == last else f"from {_day(first)} to {_day(last)}"
    if found.grain == "part":
        name = next((name for hour, name in reversed(_PARTS) if first.hour >= hour), "night")
        return f"the {name} of {_day(first)}"
    if first == last:
        return f"{first:%H:%M} on {_day(first)}"
    if first.date() == last.date():
        return f"{first:%H:%M}–{last:%H:%M} on {_day(first)}"
    return f"from {first:%H:%M} on {_day(first)} to {last:%H:%M} on {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _stretch(first: date, last: date) -> str:
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{_day(last)}"
    if first.year == last.year:
        return f"{first.day} {_MONTHS[first.month - 1]} – {_day(last)}"
    return f"{_day(first)} – {_day(last)}"


def _whole(first: date, last: date) -> str | None:
    """Return the name of a whole month, season, quarter, year or decade; None where the range is no such."""
    if first.day != 1 or (last + timedelta(days=1)).day != 1:
        return None
    months = (last.year - first.year) * 12 + last.month - first.month + 1
    namers: Mapping[int, Callable[[], str | None]] = {
        1: lambda: f"{_MONTHS[first.month - 1]} {first.year}",
        3: lambda: _three_months(first),
        12: lambda: str(first.year) if first.month == 1 else None,
        120: lambda: f"the {first.year}s" if first.month == 1 and first.year % 10 == 0 else None,
    }
    name = namers.get(months, lambda: None)()
    return name if name is not None or month_of(first.year, first.month).first != first else None


def _three_months(first: date) -> str | None:
    if first.month in _SEASON_STARTS:
        year = f"{first.year}/{(first.year + 1) % 100:02d}" if first.month == 12 else str(first.year)
        return f"{_SEASON_STARTS[first.month]} {year}"
    return f"the {('first', 'second', 'third', 'fourth')[(first.month - 1) // 3]} quarter of {first.year}"
