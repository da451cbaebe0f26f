"""Arithmetic on calendar days; every range is inclusive, and nothing here reads a clock or a language."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from hybrid.data import Grain

SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_CLOCK_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600}
_DAY_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14, "weekend": 7}
_MONTH_UNITS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, **dict.fromkeys(SEASONS, 12)}
_GRAINS: Final[dict[str, Grain]] = {
    "second": "time",
    "minute": "time",
    "hour": "time",
    "day": "day",
    "week": "week",
    "fortnight": "span",
    "weekend": "weekend",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
    **dict.fromkeys(SEASONS, "season"),
}


@dataclass(frozen=True, slots=True)
class Range:
    """Hold an inclusive range of days or moments; None where it is open."""

    first: date | None
    last: date | None
    grain: Grain


def day_of(moment: date) -> date:
    """Return the day of a day or a moment."""
    return moment.date() if isinstance(moment, datetime) else moment


def grain_of(unit: str) -> Grain:
    """Return the grain that a unit of time has."""
    return _GRAINS.get(unit, "span")


def is_clock(unit: str) -> bool:
    """Say whether a unit is shorter than a day."""
    return unit in _CLOCK_UNITS


def shift(moment: date, amount: float, unit: str) -> date:
    """Return the day or moment so many units later. Raises OverflowError or ValueError outside the years 1 to 9999."""
    if unit in _CLOCK_UNITS:
        start = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
        return start + timedelta(seconds=amount * _CLOCK_UNITS[unit])
    if unit in _DAY_UNITS:
        return moment + timedelta(days=round(amount * _DAY_UNITS[unit]))
    months = amount * _MONTH_UNITS[unit]
    whole = int(months)
    total = moment.year * 12 + moment.month - 1 + whole
    year, month = divmod(total, 12)
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, _days(year, month + 1)))
    return moved + timedelta(days=round((months - whole) * 30))


def _days(year: int, month: int) -> int:
    if not 1 <= year <= 9999:
        raise OverflowError(f"year {year} is outside the calendar")
    return calendar.monthrange(year, month)[1]


def one_day(day: date) -> Range:
    """Return the range of one day."""
    return Range(day, day, "day")


def month_of(year: int, month: int) -> Range:
    """Return the range of a month."""
    return Range(date(year, month, 1), date(year, month, _days(year, month)), "month")


def months_of(year: int, month: int, count: int, grain: Grain) -> Range:
    """Return the range of several months; the month may lie outside 1 to 12."""
    start = shift(date(year, 1, 1), month - 1, "month")
    return Range(start, shift(start, count, "month") - timedelta(days=1), grain)


def season_of(year: int, season: str) -> Range:
    """Return the season that begins in this year, by months and for the northern half."""
    return months_of(year, SEASONS[season], 3, "season")


def years_of(year: int, count: int) -> Range:
    """Return the range of one or several years."""
    return Range(date(year, 1, 1), date(year + count - 1, 12, 31), "year" if count == 1 else "span")


def unit_around(day: date, unit: str) -> Range:
    """Return the whole week, weekend, month, quarter, season, year … in which the day lies."""
    day = day_of(day)
    monday = day - timedelta(days=day.weekday())
    if unit == "day":
        return one_day(day)
    if unit == "week":
        return Range(monday, monday + timedelta(days=6), "week")
    if unit == "fortnight":
        return Range(monday, monday + timedelta(days=13), "span")
    if unit == "weekend":
        return Range(monday + timedelta(days=5), monday + timedelta(days=6), "weekend")
    if unit == "month":
        return month_of(day.year, day.month)
    if unit == "quarter":
        return months_of(day.year, (day.month - 1) // 3 * 3 + 1, 3, "quarter")
    if unit == "decade":
        return years_of(day.year // 10 * 10, 10)
    if unit == "century":
        return years_of(max(1, day.year // 100 * 100), 100)
    if unit in SEASONS:
        return season_of(day.year, unit)
    return years_of(day.year, 1)


def period(reference: date, unit: str, step: int, weeks: str) -> Range:
    """Return the period before (-1), around (0) or after (1) the reference, or further away.

    A week is seven days next to the reference where `weeks` is `rolling`, Monday to Sunday where it is `calendar`.
    """
    day = day_of(reference)
    if unit == "week" and weeks == "rolling" and step:
        first = day + timedelta(days=7 * step if step < 0 else 7 * (step - 1) + 1)
        return Range(first, first + timedelta(days=6), "week")
    if unit == "weekend":
        return _weekend(day, step)
    if unit == "month" or unit in _MONTH_UNITS:
        return unit_around(shift(day.replace(day=1), step, unit), unit)
    return unit_around(shift(day, step, unit), unit)


def _weekend(day: date, step: int) -> Range:
    """Return a weekend: the latest that is over for -1, the one that comes or runs for 0, the one after that for 1."""
    saturday = day + timedelta(days=(5 - day.weekday()) % 7 if day.weekday() != 6 else -1)
    saturday += timedelta(days=7 * step)
    return Range(saturday, saturday + timedelta(days=1), "weekend")


def weekday_near(reference: date, weekday: int, direction: int) -> date:
    """Return the nearest such weekday before (-1) or after (1) the reference, which itself doesn't count."""
    day = day_of(reference)
    if direction < 0:
        return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth such weekday of a month, counted from the end where negative. Raises ValueError if there is none."""
    days = [d for d in range(1, _days(year, month) + 1) if date(year, month, d).weekday() == weekday]
    if not -len(days) <= (nth if nth < 0 else nth - 1) < len(days):
        raise ValueError(f"month {month} has no weekday {nth}")
    return date(year, month, days[nth if nth < 0 else nth - 1])


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (the anonymous algorithm)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e, f = b // 4, b % 4, (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def moving_holiday(year: int, code: str) -> date:
    """Return a holiday that follows a rule: `easter -2`, or `month weekday nth +days`."""
    parts = code.split()
    if parts[0] == "easter":
        return easter(year) + timedelta(days=int(parts[1]) if len(parts) > 1 else 0)
    day = nth_weekday(year, int(parts[0]), int(parts[1]), int(parts[2]))
    return day + timedelta(days=int(parts[3]) if len(parts) > 3 else 0)


def part(day: date, hours: str) -> Range:
    """Return a part of a day, from hours such as `08-12`."""
    start, end = (int(h) for h in hours.split("-"))
    first = datetime.combine(day_of(day), time(start))
    last = datetime.combine(day_of(day), time(23, 59, 59)) if end >= 24 else datetime.combine(day_of(day), time(end))
    return Range(first, last, "time" if start == end else "part")


def edge(whole: Range, which: str) -> Range:
    """Return the start, middle, end or a half of a range; the end of a week begins on its fourth day."""
    if whole.first is None or whole.last is None:
        raise ValueError("an open range has no edge")
    first, last = day_of(whole.first), day_of(whole.last)
    days = (last - first).days + 1
    third, half = max(1, days // 3), days // 2
    if which == "half1":
        return Range(first, first + timedelta(days=max(0, half - 1)), "span")
    if which == "half2":
        return Range(first + timedelta(days=half), last, "span")
    if days > 300:
        return _edge_of_years(first, last, which)
    if which == "start":
        return Range(first, first + timedelta(days=max(third, 3 if days == 7 else 1) - 1), "span")
    if which == "middle":
        return Range(first + timedelta(days=third), last - timedelta(days=third), "span")
    return Range(last - timedelta(days=max(third, 4 if days == 7 else 1) - 1), last, "span")


def _edge_of_years(first: date, last: date, which: str) -> Range:
    months = (last.year - first.year + 1) * 12
    at = {"start": 0, "middle": months // 3, "end": months - months // 3}[which]
    return months_of(first.year, 1 + at, months // 3, "span")
