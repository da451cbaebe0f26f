"""Measure the dates stage on public date corpora and on LoCoMo, beside dateparser's own search in the same run.

    python benchmarks/dates.py DATA_FOLDER [--language en] [--sample 300] [--errors 0]

DATA_FOLDER holds dates/ and locomo/ as gzip-compressed JSON Lines. Range ends count where they equal the corpus or the day
before it, since corpora end calendar units exclusively.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from hybrid.data import ResolvedDate
from hybrid.stages.dates import find_dates

Row = dict[str, Any]
Finder = Callable[[str, datetime | None], list[ResolvedDate]]
TIME_WORD = re.compile(
    r"\d|yesterday|tomorrow|day\b|days\b|week|month|year|today|tonight|morning|evening|night|noon|ago|last|next|this|soon|recent|late|early|since|until|now\b"
    r"|summer|winter|spring|autumn|fall\b|christmas|thanksgiving|halloween|easter|new year|valentine|holiday"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon\b|tue|wed|thu|fri|sat\b|sun\b|moment|minute|hour|second|decade|past|future",
    re.IGNORECASE,
)


def read(path: Path) -> list[Row]:
    """Return the rows of a gzip-compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def moment(value: str | None) -> datetime | None:
    """Return an ISO time."""
    return datetime.fromisoformat(value) if value else None


def ours(language: str) -> Finder:
    """Return our finder with weeks as the corpora read them."""
    return lambda text, reference: find_dates(text, reference, language, weeks="calendar")


def theirs(language: str) -> Finder:
    """Return dateparser's search, its text located in order and its point taken as a day."""
    from dateparser.search import search_dates

    def find(text: str, reference: datetime | None) -> list[ResolvedDate]:
        settings = {"RELATIVE_BASE": reference} if reference else {}
        found, at = [], 0
        for phrase, value in search_dates(text, languages=[language], settings=settings) or []:
            start = text.find(phrase, at)
            if start >= 0:
                at = start + len(phrase)
                found.append(ResolvedDate(start, at, phrase, value.date(), value.date()))
        return found

    return find


def same(end: date | None, gold: str | None, *, exclusive: bool) -> bool:
    """Say whether an end equals the corpus' end, or lies a day (a moment: a second) before it."""
    if gold is None or end is None:
        return gold is None and end is None
    value: date = datetime.fromisoformat(gold) if "T" in gold else date.fromisoformat(gold)
    if isinstance(value, datetime) and not isinstance(end, datetime):
        value = value.date()
    if not isinstance(value, datetime) and isinstance(end, datetime):
        end = end.date()
    if isinstance(end, datetime):
        end = end.replace(tzinfo=None)
    return end == value or (exclusive and end == value - timedelta(days=1))


def right(found: ResolvedDate, row: Row) -> bool:
    """Say whether a value is among the readings the corpus allows."""
    for candidate in row["candidates"]:
        point = candidate.get("date") or candidate.get("datetime")
        if point is not None and same(found.first, point, exclusive=False) and same(found.last, point, exclusive=False):
            return True
        if point is None and _range_right(found, candidate):
            return True
    return False


def _range_right(found: ResolvedDate, gold: dict[str, str]) -> bool:
    start, end = gold.get("start"), gold.get("end")
    start_fits = same(found.first, start, exclusive=False)
    return (start_fits or (start is None and found.first is None)) and (same(found.last, end, exclusive=True) or end is None)


def holds(found: ResolvedDate, row: Row) -> bool:
    """Say whether the range holds a reading of the corpus, as "three years ago" holds a day of that year."""
    for candidate in row["candidates"]:
        ends = [value for value in candidate.values() if value]
        days = [date.fromisoformat(value[:10]) for value in ends]
        first = date.min if found.first is None else date(found.first.year, found.first.month, found.first.day)
        last = date(9999, 1, 1) if found.last is None else date(found.last.year, found.last.month, found.last.day)
        if days and first <= days[0] and (days[-1] <= last + timedelta(days=1)):
            return True
    return False


def score(rows: Iterable[Row], finder: Finder, errors: int) -> dict[str, float]:
    """Return precision, recall and F1 of spans (overlap and exact) and the share of right values among those found."""
    texts: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        texts[(row["text"], row["reference"])].append(row)
    gold = found_all = hit = exact = good = held = 0
    for (text, reference), wanted in texts.items():
        found = finder(text, moment(reference))
        gold += len(wanted)
        found_all += len(found)
        free = list(found)
        for row in wanted:
            start, end = row["span"]
            match = max(free, key=lambda d: min(d.end, end) - max(d.start, start), default=None)
            if match is None or min(match.end, end) <= max(match.start, start):
                errors -= 1
                if errors >= 0:
                    print("  missed", row["kind"], "|", text, "|", row["expression"], "|", [d.text for d in found])
                continue
            free.remove(match)
            hit += 1
            exact += (match.start, match.end) == (start, end)
            fits = right(match, row)
            good += fits
            held += fits or holds(match, row)
            errors -= not fits
            if not fits and errors >= 0:
                print(
                    "  value",
                    row["kind"],
                    reference[:16],
                    "|",
                    text,
                    "|",
                    row["expression"],
                    "->",
                    match.text,
                    match.interval,
                    row["candidates"],
                )
        for extra in free if errors > 0 else ():
            print("  extra |", text, "|", extra.text)
    precision, recall = hit / max(1, found_all), hit / max(1, gold)
    return {
        "texts": len(texts),
        "precision": 100 * precision,
        "recall": 100 * recall,
        "f1": 200 * precision * recall / max(1e-9, precision + recall),
        "exact_span": 100 * exact / max(1, gold),
        "value": 100 * good / max(1, hit),
        "value_or_held": 100 * held / max(1, hit),
        "value_of_all": 100 * good / max(1, gold),
    }


def locomo(folder: Path, finder: Finder, errors: int) -> tuple[float, int]:
    """Return the share of temporal questions whose evidence turn yields the answer, among those with a time word in it."""
    rows = [
        row for row in read(folder / "locomo" / "locomo_dates.jsonl.gz") if any(e["expression_hints"] for e in row["evidence"])
    ]
    good = 0
    for row in rows:
        start, end = date.fromisoformat(row["start"]), date.fromisoformat(row["end"])
        found = [d for e in row["evidence"] for d in finder(e["text"], moment(e["reference"]))]
        fits = any(_agrees(d, start, end) for d in found)
        good += fits
        if not fits and errors > 0:
            print(
                "  locomo",
                row["answer"],
                [(e["reference"][:10], e["text"], e["expression_hints"]) for e in row["evidence"]],
                [(d.text, d.interval) for d in found],
            )
    return 100 * good / max(1, len(rows)), len(rows)


def _agrees(found: ResolvedDate, start: date, end: date) -> bool:
    if found.first is None or found.last is None:
        return found.first is not None and start <= date(found.first.year, found.first.month, found.first.day) <= end
    first = date(found.first.year, found.first.month, found.first.day)
    last = date(found.last.year, found.last.month, found.last.day)
    return start <= first and last <= end


def false_dates(folder: Path, finder: Finder, limit: int | None, errors: int) -> tuple[float, int, float]:
    """Return false dates for 1,000 turns without a time word, the number of turns, and milliseconds a turn over all turns."""
    turns = read(folder / "locomo" / "locomo_turns.jsonl.gz")[:limit]
    started = time.perf_counter()
    found = [(turn, finder(turn["text"], moment(turn["session_datetime"]))) for turn in turns]
    spent = 1000 * (time.perf_counter() - started) / len(turns)
    plain = [(turn, dates) for turn, dates in found if not TIME_WORD.search(turn["text"])]
    if errors > 0:
        print("  false:", [d.text for _, dates in plain for d in dates][:30])
    return 1000 * sum(len(dates) for _, dates in plain) / max(1, len(plain)), len(plain), spent


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--language", default="en")
    parser.add_argument("--sample", type=int, default=300, help="rows and turns that dateparser is measured on")
    parser.add_argument("--errors", type=int, default=0, help="print so many of our errors")
    arguments = parser.parse_args()
    rows = [
        r for r in read(arguments.data / "dates" / f"dates_{arguments.language}.jsonl.gz") if r["dotnet"] and not r["lunar"]
    ]
    negatives = [r for r in read(arguments.data / "dates" / "dates_neg.jsonl.gz") if r["lang"] == arguments.language]
    for name, finder, limit in (
        ("hybrid", ours(arguments.language), None),
        ("dateparser.search", theirs(arguments.language), arguments.sample),
    ):
        if limit == 0:
            continue
        errors = arguments.errors if limit is None else 0
        figures = score(rows[:limit], finder, errors)
        print(name, " ".join(f"{key}={value:.1f}" for key, value in figures.items()))
        wrong = sum(bool(finder(r["text"], moment(r["reference"]))) for r in negatives)
        print(f"{name} negatives with a date: {wrong} of {len(negatives)}")
        share, asked = locomo(arguments.data, finder, errors)
        print(f"{name} locomo right: {share:.1f} % of {asked}")
        rate, plain, spent = false_dates(arguments.data, finder, limit, errors)
        print(f"{name} false dates: {rate:.2f} in 1,000 of {plain} turns without a time word; {spent:.3f} ms a turn")


if __name__ == "__main__":
    main()
