"""How expressions that stand together become one: what the rules of level 2 name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from hybrid.stages.dates import calendar
from hybrid.stages.dates.calendar import Range
from hybrid.stages.dates.resolve import edge_range
from hybrid.stages.dates.values import Context, Unanchored, Value


class NoFit(Exception):
    """Say that two expressions do not belong together."""


def _range(value: Value) -> Range:
    if value.kind == "unresolved":
        raise Unanchored
    if value.range is None:
        raise NoFit
    return value.range


def _bounds(value: Value) -> tuple[date, date]:
    found = _range(value)
    if found.first is None or found.last is None:
        raise NoFit
    return found.first, found.last


def _days(value: Value) -> tuple[date, date]:
    first, last = _bounds(value)
    return calendar.day_of(first), calendar.day_of(last)


def _nth_day_of(c: Context) -> Value:
    first, last = _days(c.atoms["a"])
    number = c.number("day") or 0
    if c.atoms["a"].range is None or c.atoms["a"].range.grain != "month":
        raise NoFit
    day = last if number < 0 else first + timedelta(days=number - 1)
    if day > last:
        raise NoFit
    return replace(c.atoms["a"], range=calendar.one_day(day))


def _edge(c: Context) -> Value:
    return replace(c.atoms["a"], range=edge_range(c, _range(c.atoms["a"]), _edge_word(c)))


def _edge_word(c: Context) -> str:
    return c.word("edge") or "end"


def _nth_period(c: Context) -> Value:
    first, last = _days(c.atoms["a"])
    nth, count = c.number("nth") or 1, c.number("n") or 1
    inner = c.atoms.get("c")
    if inner is not None:
        return _nth_weekday(c, inner, nth)
    unit = (c.text("unit") or "day").rstrip("s")
    amounts = c.atoms["s"].amounts if "s" in c.atoms else ()
    if amounts:
        count, unit = max(1, int(amounts[0][0])), amounts[0][1]
    if unit == "half":
        return replace(c.atoms["a"], range=calendar.edge(_range(c.atoms["a"]), "half1" if nth == 1 else "half2"))
    start = first
    if unit in ("week", "weekend"):
        start = first + timedelta(days=(5 if unit == "weekend" else 0) - first.weekday())
        start += timedelta(days=7) if (start < first if unit == "weekend" else (first - start).days > 3) else timedelta()
    moves = [start]
    while len(moves) < 400 and (following := calendar.shift(start, len(moves), unit)) <= last:
        moves.append(following)
    index = len(moves) - count if nth < 0 else (nth - 1) * count
    if not 0 <= index < len(moves):
        raise NoFit
    begin = moves[index]
    length = {"day": 1, "week": 7, "weekend": 2}.get(unit)
    end = begin + timedelta(days=length * count - 1) if length else calendar.shift(begin, count, unit) - timedelta(days=1)
    return replace(c.atoms["a"], range=Range(begin, end, calendar.grain_of(unit) if count == 1 else "span"))


def _nth_weekday(c: Context, inner: Value, nth: int) -> Value:
    first, last = _days(c.atoms["a"])
    if inner.weekday is None:
        raise NoFit
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    fitting = [day for day in days if day.weekday() == inner.weekday]
    if not fitting or not -len(fitting) <= (nth if nth < 0 else nth - 1) < len(fitting):
        raise NoFit
    return replace(c.atoms["a"], range=_like(inner, fitting[nth if nth < 0 else nth - 1]), weekday=inner.weekday)


def _like(value: Value, day: date) -> Range:
    """Return the day, with the part of the day or the time that the value has."""
    first, last = _bounds(value)
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return calendar.one_day(day)
    return Range(datetime.combine(day, first.time()), datetime.combine(day, last.time()), _range(value).grain)


def _around(c: Context) -> Value:
    first, _ = _days(c.atoms["a"])
    unit = (c.text("period") or "week").lower()
    if unit == "month" or _range(c.atoms["a"]).grain not in ("day", "time", "part"):
        return c.atoms["a"]
    monday = first - timedelta(days=first.weekday())
    if unit == "week":
        return replace(c.atoms["a"], range=Range(monday, monday + timedelta(days=6), "week"), weekday=None)
    saturday = monday + timedelta(days=5)
    return replace(c.atoms["a"], range=Range(saturday, saturday + timedelta(days=1), "weekend"), weekday=None)


def _inside(c: Context) -> Value:
    """Return the weekday or holiday in the period that stands beside it, whichever comes first in the text."""
    a, b = c.atoms["a"], c.atoms["b"]
    for inner, outer in ((a, b), (b, a)):
        grain = _range(outer).grain
        if inner.weekday is not None and grain in ("week", "weekend", "span") and not outer.weekday:
            week = _calendar_week(c, outer)
            fitting = [day for day in week if day.weekday() == inner.weekday]
            if fitting:
                return replace(inner, range=_like(inner, fitting[0]), dated=True)
        if inner.weekday is not None and grain == "day" and outer.weekday is None:
            return replace(outer, range=_like(inner, _days(outer)[0]), weekday=inner.weekday)
        if (
            not inner.dated
            and grain == "year"
            and _range(inner).grain in ("day", "month", "season", "quarter")
            and inner.weekday is None
        ):
            return replace(inner, range=_in_year(_range(inner), _days(outer)[0].year), dated=True)
    raise NoFit


def _calendar_week(c: Context, outer: Value) -> list[date]:
    first, last = _days(outer)
    if c.moment is not None and _range(outer).grain == "week" and (last - first).days == 6:
        step = 1 if first > c.today else -1 if last < c.today else 0
        whole = calendar.period(c.today, "week", step, "calendar")
        near = calendar.period(c.today, "week", step, c.weeks)
        if near.first == first and whole.first is not None:
            first = calendar.day_of(whole.first)
            last = first + timedelta(days=6)
    return [first + timedelta(days=n) for n in range((last - first).days + 1 if last >= first else 7)][:7]


def _in_year(found: Range, year: int) -> Range:
    if found.first is None or found.last is None:
        raise NoFit
    move = year - found.first.year
    return Range(calendar.shift(found.first, move, "year"), _end_moved(found.first, found.last, move), found.grain)


def _end_moved(first: date, last: date, years: int) -> date:
    if first == last:
        return calendar.shift(last, years, "year")
    return calendar.shift(last + timedelta(days=1), years, "year") - timedelta(days=1)


def _part_of(c: Context) -> Value:
    first, last = _days(c.atoms["a"])
    hours = c.word("part")
    if first != last or hours is None or _range(c.atoms["a"]).grain != "day":
        raise NoFit
    return replace(c.atoms["a"], range=calendar.part(first, hours))


def _at_time(c: Context) -> Value:
    value, clock = c.atoms["a"], c.atoms["t"].clock
    first, last = _days(value)
    grain = _range(value).grain
    if first != last or clock is None or grain not in ("day", "part"):
        raise NoFit
    start, end = clock
    opened = _range(value).first
    if (
        grain == "part"
        and isinstance(opened, datetime)
        and opened.hour >= 12
        and 1 <= start.hour < 12
        and not c.atoms["t"].dated
    ):
        start = start.replace(hour=start.hour + 12)
        end = max(start, end.replace(hour=end.hour % 12 + 12))
    return replace(value, range=Range(datetime.combine(first, start), datetime.combine(first, end), "time"))


def _span(c: Context) -> Value:
    a, b = c.atoms["a"], c.atoms["b"]
    (start, a_last), (b_first, end) = _bounds(a), _bounds(b)
    if calendar.day_of(start) > calendar.day_of(end):
        if not a.dated and a.weekday is None:
            years = calendar.day_of(start).year - calendar.day_of(b_first).year
            start = calendar.shift(start, -max(years, 1) if calendar.day_of(start) > calendar.day_of(end) else 0, "year")
        elif b.weekday is not None:
            end = end + timedelta(days=7)
        elif not b.dated:
            end = _end_moved(b_first, end, 1)
    elif b.dated and not a.dated and a.weekday is None:
        years = calendar.day_of(b_first).year - calendar.day_of(start).year
        moved = calendar.shift(start, years, "year")
        start = moved if calendar.day_of(moved) <= calendar.day_of(end) else calendar.shift(start, years - 1, "year")
    first, last = _same_kind(start, end)
    if (first, a_last) == (last, b_first) or first > last:
        raise NoFit
    return Value(Range(first, last, "span"), dated=a.dated or b.dated)


def _same_kind(start: date, end: date) -> tuple[date, date]:
    """Return both ends as days, or both as moments, so that they can be compared."""
    if isinstance(start, datetime) and isinstance(end, datetime):
        return start, end
    return calendar.day_of(start), calendar.day_of(end)


def _since(c: Context) -> Value:
    found = _range(c.atoms["a"])
    return replace(c.atoms["a"], range=Range(found.first, None, "span" if found.first is None else found.grain))


def _until(c: Context) -> Value:
    found = _range(c.atoms["a"])
    if found.last is None:
        raise NoFit
    return replace(c.atoms["a"], range=Range(None, found.last, found.grain))


def _beyond(c: Context) -> Value:
    first, last = _days(c.atoms["a"])
    opened, closed = _bounds(c.atoms["a"])
    grain = _range(c.atoms["a"]).grain
    if c.text("before"):
        end = opened if isinstance(opened, datetime) else first - timedelta(days=1)
        return replace(c.atoms["a"], range=Range(None, end, grain))
    start = closed if isinstance(closed, datetime) else last + timedelta(days=1)
    return replace(c.atoms["a"], range=Range(start, None, grain))


def _offset(c: Context) -> Value:
    first, last = _days(c.atoms["a"])
    sign = -1 if c.text("before") else 1
    unit = c.text("period")
    if unit is not None:
        return replace(c.atoms["a"], range=_neighbour(first if sign < 0 else last, unit.lower(), sign), weekday=None)
    amounts = c.atoms["s"].amounts
    if not amounts or any(calendar.is_clock(u) for _, u in amounts):
        raise NoFit
    day = first
    for number, step in amounts:
        day = calendar.day_of(calendar.shift(day, sign * number, step))
    return replace(c.atoms["a"], range=calendar.one_day(day), weekday=None)


def _neighbour(day: date, unit: str, sign: int) -> Range:
    """Return the period right before or after a day."""
    if unit == "day":
        return calendar.one_day(day + timedelta(days=sign))
    if unit == "week":
        near = day + timedelta(days=sign)
        far = day + timedelta(days=7 * sign)
        return Range(min(near, far), max(near, far), "week")
    if unit == "weekend":
        return calendar.period(day, unit, -1 if sign < 0 else 0, "calendar")
    return calendar.period(day, unit, sign, "calendar")


COMPOSERS: Final[Mapping[str, Callable[[Context], Value]]] = {
    "nth_day_of": _nth_day_of,
    "edge": _edge,
    "nth_period": _nth_period,
    "around": _around,
    "inside": _inside,
    "part_of": _part_of,
    "at_time": _at_time,
    "span": _span,
    "since": _since,
    "until": _until,
    "beyond": _beyond,
    "offset": _offset,
}
