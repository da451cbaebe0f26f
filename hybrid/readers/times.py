"""Read the times that conversations and callers give."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

from hybrid.errors import UsageError

_YEARS = range(1900, 2200)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPOKEN = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]{3})[a-z]*,?\s+(\d{4})", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s+\(\w+\))?(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")
_EPOCH = re.compile(r"\d{9,17}(?:\.\d+)?")
_EPOCH_END = datetime(2200, 1, 1, tzinfo=UTC).timestamp()
_ALLOWED = "allowed: 2023-06-09, 2023-06-09T10:30, 2023-06-09T10:30+02:00, or now; years 1900 to 2199"


def session_time(value: str | date | None) -> datetime | None:
    """Return the session time a caller gives; `now` asks the clock, a date means its first minute.

    Raises UsageError for a value that is no time.
    """
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if value.strip().casefold() == "now":
        return datetime.now().replace(microsecond=0)
    found = message_time(value) if not _EPOCH.fullmatch(value.strip()) else None
    if found is None:
        raise UsageError(f"the session time {str(value)[:40]!r} is not a time", _ALLOWED)
    return found


def message_time(value: Any) -> datetime | None:
    """Return the time a message carries: ISO 8601, seconds or milliseconds since 1970, or as LoCoMo writes it; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _epoch(value)
    text = str(value).strip()
    if _EPOCH.fullmatch(text):
        return _epoch(float(text))
    try:
        found = _spoken(text) or _slashed(text) or datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.year in _YEARS else None


def _epoch(value: float) -> datetime | None:
    if not 0 < value < 1e17:
        return None
    while value > 1e11:
        value /= 1000
    return datetime.fromtimestamp(value, UTC) if value < _EPOCH_END else None


def _spoken(text: str) -> datetime | None:
    match = _SPOKEN.fullmatch(text)
    if match is None or match[5].casefold() not in _MONTHS:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].casefold() == "p" else 0)
    if not 1 <= int(match[1]) <= 12:
        raise ValueError("hour")
    return datetime(int(match[6]), _MONTHS.index(match[5].casefold()) + 1, int(match[4]), hour, int(match[2]))


def _slashed(text: str) -> datetime | None:
    match = _SLASHED.fullmatch(text)
    return datetime(*(int(part or 0) for part in match.groups())) if match else None  # type: ignore[arg-type]
