"""How each kind of expression becomes a range of days: what the rules of level 1 name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Final

from hybrid.stages.dates import calendar
from hybrid.stages.dates.calendar import Range
from hybrid.stages.dates.stamps import stamp
from hybrid.stages.dates.values import Context, Value


def _relative_day(c: Context) -> Value:
    day = c.today + timedelta(days=int(c.word("relative_day", "day") or 0))
    return Value(_with_part(c, day), dated=True, weekday=None)


def _with_part(c: Context, day: date) -> Range:
    hours = c.word("part")
    return calendar.part(day, hours) if hours else calendar.one_day(day)


def _part_today(c: Context) -> Value:
    if c.text("tonight"):
        return Value(calendar.part(c.today, "20-24"), dated=True)
    step = {"last": -1, "yesterday": -1, "tomorrow": 1}.get((c.text("which") or "").lower(), 0)
    return Value(_with_part(c, c.today + timedelta(days=step)), dated=True)


def amounts(c: Context) -> tuple[list[tuple[float, str]], tuple[float, float] | None]:
    """Return the amounts of the match as (number, unit), and the bounds of a vague number."""
    units = [str(c.lexicon.value("unit", u)) for u in c.texts("unit")]
    fuzzy = c.text("fuzzy")
    if fuzzy is not None:
        low, high = (float(x) for x in str(c.lexicon.value("fuzzy", fuzzy)).split("-"))
        return [(low, units[0])], (low, high)
    numbers = [float(n) if n[0].isdigit() else float(c.lexicon.value("number", n)) for n in c.texts("n")]
    if c.text("half") and numbers:
        numbers[0] += 0.5
    return list(zip(numbers, units, strict=False)), None


def _ago(c: Context) -> Value:
    found, bounds = amounts(c)
    if c.sign > 0 and c.direction < 0 and c.match.group().lower().startswith("in "):
        return Value(kind="duration", amounts=tuple(found))
    if bounds is not None and bounds[0] != bounds[1]:
        return Value(_vague_span(c, bounds, found[0][1]), dated=True)
    moment: date = c.reference if any(calendar.is_clock(unit) for _, unit in found) else c.today
    for number, unit in found:
        moment = calendar.shift(moment, c.sign * number, unit)
    return Value(
        _around(moment, found, "today" in c.match.group().lower() or (c.sign > 0 and found[-1][1] == "week")), dated=True
    )


def _around(moment: date, found: list[tuple[float, str]], exact: bool) -> Range:
    """Return the range that "N units ago" means: as fine as its finest unit."""
    number, unit = found[-1]
    if len(found) > 1 or exact or number != int(number) or unit in ("day", "fortnight"):
        return Range(moment, moment, "time" if calendar.is_clock(unit) else "day")
    if calendar.is_clock(unit):
        return Range(moment, moment, "time")
    if unit == "week":
        return Range(moment - timedelta(days=3), moment + timedelta(days=3), "week")
    if unit == "weekend":
        return calendar.period(moment, unit, 0, "calendar")
    return calendar.unit_around(moment, "year" if unit == "decade" else unit)


def _vague_span(c: Context, bounds: tuple[float, float], unit: str) -> Range:
    start: date = c.reference if calendar.is_clock(unit) else c.today
    first, last = sorted(calendar.shift(start, c.sign * bound, unit) for bound in bounds)
    if unit in ("month", "quarter", "year"):
        first = calendar.unit_around(first, unit).first or first
        last = calendar.unit_around(last, unit).last or last
    return Range(first, last, calendar.grain_of(unit))


def _rolling(c: Context) -> Value:
    found, bounds = amounts(c)
    clock = any(calendar.is_clock(unit) for _, unit in found)
    start: date = c.reference if clock else c.today
    if c.weeks == "calendar" and found[0][1] in ("quarter", "decade", "century"):
        return Value(_whole_units(c, found[0]), dated=True)
    moment = start
    for number, unit in found if bounds is None else [(bounds[1], found[0][1])]:
        moment = calendar.shift(moment, c.sign * number, unit)
    if clock:
        return Value(Range(min(moment, start), max(moment, start), "time"), dated=True)
    if c.sign < 0:
        return Value(Range(moment, start - timedelta(days=1), "span"), dated=True)
    first = start if c.rule.id.endswith("within") else start + timedelta(days=1)
    return Value(Range(first, max(moment, first), "span"), dated=True)


def _whole_units(c: Context, amount: tuple[float, str]) -> Range:
    number, unit = int(amount[0]), amount[1]
    near = calendar.period(c.today, unit, c.sign, c.weeks)
    far = calendar.period(c.today, unit, c.sign * max(1, number), c.weeks)
    return Range(min(near.first or c.today, far.first or c.today), max(near.last or c.today, far.last or c.today), "span")


def _period(c: Context) -> Value:
    step = int(c.word("which") or 0)
    unit = c.word("period") or "day"
    if unit == "day":
        return Value(calendar.one_day(c.today + timedelta(days=step)), dated=True)
    if (c.text("which") or "").lower() == c.rule.values.get("running") and unit in ("month", "quarter", "year"):
        return Value(Range(calendar.shift(c.today, -1, unit), c.today - timedelta(days=1), "span"), dated=True)
    if unit == "weekend" and step == 0 and c.direction < 0 and c.today.weekday() < 2:
        step = -1
    return Value(calendar.period(c.today, unit, step, c.weeks), dated=True)


def _period_twice(c: Context) -> Value:
    step = 2 if c.text("after") else -2
    if c.text("weekday"):
        weekday = int(c.word("weekday") or 0)
        near = calendar.weekday_near(c.today, weekday, step)
        return Value(calendar.one_day(near + timedelta(days=7 if step > 0 else -7)), dated=True)
    return Value(calendar.period(c.today, c.word("period") or "week", step, c.weeks), dated=True)


def _bare_weekend(c: Context) -> Value:
    step = -1 if c.direction < 0 and c.today.weekday() < 5 else 0
    return Value(calendar.period(c.today, "weekend", step, c.weeks), dated=True)


def _season(c: Context) -> Value:
    season, year = c.word("season") or "summer", c.number("year")
    if year is not None:
        return Value(calendar.season_of(year, season), dated=True)
    which = c.word("which")
    direction = int(which) if which is not None else (c.direction or -1)
    candidates = [calendar.season_of(c.today.year + step, season) for step in (-2, -1, 0, 1, 2)]
    return Value(_nearest(candidates, c.today, direction, running=which in (None, "0")), dated=which is not None)


def _nearest(candidates: list[Range], today: date, direction: int, *, running: bool) -> Range:
    """Return the latest range that is over, the one that runs, or the next one that begins."""
    whole = [(calendar.day_of(r.first), calendar.day_of(r.last), r) for r in candidates if r.first and r.last]
    if running:
        for first, last, r in whole:
            if first <= today <= last:
                return r
    if direction < 0:
        return max((item for item in whole if item[1] < today), key=lambda item: item[0])[2]
    return min((item for item in whole if item[0] > today), key=lambda item: item[0])[2]


def _weekday(c: Context) -> Value:
    weekday = int(c.word("weekday_short", "weekday") or 0)
    which = "-1" if c.text("last") else c.word("which")
    day = weekday_day(c, weekday, which)
    return Value(_with_part(c, day), weekday=weekday, dated=which is not None)


def weekday_day(c: Context, weekday: int, which: str | None) -> date:
    """Return the day that a weekday means: with last, this or next, or by the direction of the sentence."""
    monday = c.today - timedelta(days=c.today.weekday())
    if which == "0" or (which == "1" and c.weeks == "calendar" and "next" in (c.text("which") or "").lower()):
        return monday + timedelta(days=weekday + (7 if which == "1" else 0))
    direction = int(which) if which is not None else (c.direction or 1)
    return calendar.weekday_near(c.today, weekday, direction)


def _week_from(c: Context) -> Value:
    weekday = int(c.word("weekday") or 0)
    return Value(calendar.one_day(calendar.weekday_near(c.today, weekday, 1) + timedelta(days=7)), dated=True)


def full_year(text: str) -> int:
    """Return a year of two or four digits; two digits mean 1970 to 2069."""
    year = int(text)
    return year if len(text) > 2 else 2000 + year if year < 70 else 1900 + year


def _numeric(c: Context) -> Value:
    text = c.text("year")
    year = full_year(text) if text else None
    if c.text("one"):
        one, two = int(c.text("one") or 0), int(c.text("two") or 0)
        month, day = (one, two) if (c.rule.values.get("value") == "month-first" and one <= 12) or two > 12 else (two, one)
    else:
        month, day = int(c.text("month") or 0), int(c.text("day") or 0)
    if year is None:
        return Value(calendar.one_day(yearless(c, month, day)))
    found = date(year, month, day)
    if c.text("hour"):
        moment = datetime.combine(found, _time(c.text("hour"), c.text("minute"), None, c.text("second")))
        return Value(Range(moment, moment, "time"), dated=True)
    return Value(calendar.one_day(found), dated=True)


def yearless(c: Context, month: int, day: int) -> date:
    """Return the nearest such day in the direction of the sentence; today counts. Raises ValueError for no such day."""
    found: list[date] = []
    for year in range(c.today.year - 4, c.today.year + 5):
        if day <= 28 or day <= calendar.day_of(calendar.month_of(year, month).last or c.today).day:
            found.append(date(year, month, day))
    past, future = [d for d in found if d <= c.today], [d for d in found if d >= c.today]
    if not past or not future:
        raise ValueError(f"month {month} has no day {day}")
    if c.direction == 0:
        return min(past[-1], future[0], key=lambda d: (abs((d - c.today).days) > 183, -d.toordinal()))
    return past[-1] if c.direction < 0 else future[0]


def _month_day(c: Context) -> Value:
    month, day, until = int(c.word("month") or 0), c.number("day") or 0, c.number("day2")
    text = c.text("year")
    first = date(full_year(text), month, day) if text else yearless(c, month, day)
    dated = text is not None
    if until is not None and until > day:
        return Value(Range(first, first.replace(day=until), "span"), dated=dated)
    return Value(_with_part(c, first), dated=dated)


def _month_year(c: Context) -> Value:
    month = int(c.text("monthno") or c.word("month") or 0)
    return Value(calendar.month_of(full_year(c.text("year") or "0"), month), dated=True)


def _month(c: Context) -> Value:
    month, which = int(c.word("month") or 0), c.word("which")
    candidates = [calendar.month_of(c.today.year + step, month) for step in (-2, -1, 0, 1, 2)]
    if which is not None and int(which):
        return Value(_nearest(candidates, c.today, int(which), running=False), dated=True)
    if which == "0":
        return Value(calendar.month_of(c.today.year, month), dated=True)
    return Value(_nearest(candidates, c.today, c.direction or -1, running=True))


def _day_of_month(c: Context) -> Value:
    day = c.number("day") or 0
    weekday = int(c.word("weekday_short", "weekday") or 0) if c.text("weekday") else None
    found = []
    for step in range(-12, 13):
        month = calendar.month_of(*_month_step(c.today, step))
        if month.last is not None and day <= month.last.day:
            candidate = date(month.last.year, month.last.month, day)
            if weekday is None or candidate.weekday() == weekday:
                found.append(calendar.one_day(candidate))
    return Value(_nearest(found, c.today, c.direction or 1, running=True))


def _month_step(day: date, step: int) -> tuple[int, int]:
    moved = calendar.shift(day.replace(day=1), step, "month")
    return moved.year, moved.month


def _year(c: Context) -> Value:
    first, last = int(c.text("year") or 0), int(c.text("year2") or c.text("year") or 0)
    return Value(calendar.years_of(first, last - first + 1), dated=True) if last >= first else Value(kind="unresolved")


def _decade(c: Context) -> Value:
    short = c.text("short")
    year = int(c.text("year") or 0) or (1900 + int(short or 0) if int(short or 0) >= 30 else 2000 + int(short or 0))
    return Value(calendar.years_of(year, 10), dated=True)


def _quarter(c: Context) -> Value:
    year = c.number("year") or c.today.year
    code = c.text("q")
    if code is not None:
        months, number = (3 if code[0].lower() == "q" else 6), int(code[1])
    else:
        months = 3 if (c.text("what") or "").lower() == "quarter" else 6
        number = c.number("nth") or 1
    number = 12 // months if number < 0 else number
    if number > 12 // months:
        raise ValueError("a year has no such part")
    return Value(
        calendar.months_of(year, (number - 1) * months + 1, months, "quarter" if months == 3 else "span"),
        dated=c.number("year") is not None,
    )


def _week_number(c: Context) -> Value:
    monday = date.fromisocalendar(c.number("year") or c.today.year, c.number("n") or 1, 1)
    return Value(calendar.unit_around(monday, "week"), dated=True)


def _holiday(c: Context) -> Value:
    name, year, which = c.text("holiday") or "", c.number("year"), c.word("which")
    if year is not None:
        return Value(_holiday_range(c, name, year), dated=True)
    candidates = [_holiday_range(c, name, c.today.year + step) for step in (-2, -1, 0, 1, 2)]
    direction = int(which) if which is not None and int(which) else (c.direction or 1)
    if which == "0" and c.direction == 0:
        return Value(_holiday_range(c, name, c.today.year), dated=True)
    return Value(_nearest(candidates, c.today, direction, running=which is None), dated=which is not None)


def _holiday_range(c: Context, name: str, year: int) -> Range:
    if c.lexicon.knows("fixed", name):
        month, day = (int(x) for x in str(c.lexicon.value("fixed", name)).split("-"))
        found = date(year, month, day)
    else:
        found = calendar.moving_holiday(year, str(c.lexicon.value("moving", name)))
    if not c.text("weekend"):
        return calendar.one_day(found)
    saturday = found - timedelta(days=(found.weekday() - 5) % 7) if found.weekday() in (0, 5, 6) else found
    return Range(min(saturday, found), max(saturday + timedelta(days=1), found), "weekend")


def _clock(c: Context) -> Value:
    word = (c.text("word") or "").lower()
    if word:
        at = time(0) if word == "midnight" else time(12)
        return Value(kind="clock", clock=(at, at))
    half, half2 = c.text("half"), c.text("half2")
    hour2 = c.text("hour2")
    start = _time(
        c.text("hour"),
        c.text("minute"),
        half or (half2 if hour2 and int(hour2) >= int(c.text("hour") or 0) else None),
        c.text("second"),
    )
    end = _time(hour2, c.text("minute2"), half2) if hour2 else start
    if end < start and end.hour < 12:
        end = end.replace(hour=end.hour + 12)
    return Value(kind="clock", clock=(start, max(start, end)), dated=bool(half or half2))


def _time(hour: str | None, minute: str | None, half: str | None, second: str | None = None) -> time:
    value = int(hour or 0)
    if half and value <= 12:
        value = value % 12 + (12 if half.lower().startswith("p") else 0)
    return time(value, int(minute or 0), int(second or 0))


def _edge_current(c: Context) -> Value:
    unit, which = c.word("period") or "month", c.word("edge") or "end"
    whole = calendar.period(c.today, unit, 0, c.weeks)
    return Value(edge_range(c, whole, which), dated=True)


def edge_range(c: Context, whole: Range, which: str) -> Range:
    """Return the part of a range that a word such as early or late means; so far and the rest are seen from today."""
    if whole.first == whole.last or whole.grain in ("time", "part"):
        return whole
    if which in ("sofar", "rest") and whole.first is not None and whole.last is not None:
        first, last = calendar.day_of(whole.first), calendar.day_of(whole.last)
        if not first <= c.today <= last:
            return calendar.edge(whole, "start" if which == "sofar" else "end")
        return Range(first, c.today, "span") if which == "sofar" else Range(c.today, last, "span")
    return calendar.edge(whole, which)


def _duration(c: Context) -> Value:
    return Value(kind="duration", amounts=tuple(amounts(c)[0]) if c.text("unit") else ())


def _recurrence(c: Context) -> Value:
    return Value(kind="recurrence")


def _vague(c: Context) -> Value:
    return Value(kind="unresolved")


RESOLVERS: Final[Mapping[str, Callable[[Context], Value]]] = {
    "relative_day": _relative_day,
    "part_today": _part_today,
    "ago": _ago,
    "rolling": _rolling,
    "period": _period,
    "period_twice": _period_twice,
    "bare_weekend": _bare_weekend,
    "season": _season,
    "weekday": _weekday,
    "week_from": _week_from,
    "numeric": _numeric,
    "month_day": _month_day,
    "month_year": _month_year,
    "month": _month,
    "day_of_month": _day_of_month,
    "year": _year,
    "decade": _decade,
    "quarter": _quarter,
    "week_number": _week_number,
    "holiday": _holiday,
    "clock": _clock,
    "edge_current": _edge_current,
    "duration": _duration,
    "recurrence": _recurrence,
    "vague": _vague,
    "stamp": stamp,
}
