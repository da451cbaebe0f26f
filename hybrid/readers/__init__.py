"""Read chat formats into a Conversation, one file a format."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from hybrid.data import Conversation
from hybrid.errors import FormatError, UsageError
from hybrid.readers import decoding, jsonl, locomo, messages, plain
from hybrid.readers.decoding import LIMIT_BYTES
from hybrid.readers.times import session_time as _session_time

__all__ = ["FORMATS", "LIMIT_BYTES", "Format", "read", "read_text"]


@dataclass(frozen=True, slots=True)
class Format:
    """Name a format with the function that says how certain a text is of it, and the one that reads it."""

    name: str
    sniff: Callable[[str], float]
    read: Callable[[str], Conversation]


FORMATS: tuple[Format, ...] = (
    Format("plain", plain.sniff, plain.read),
    Format("messages", messages.sniff, messages.read),
    Format("jsonl", jsonl.sniff, jsonl.read),
    Format("locomo", locomo.sniff, locomo.read),
)


def read(
    path: str | os.PathLike[str],
    format: str = "auto",
    session_time: str | date | None = None,
    *,
    sample: str | int | None = None,
    limit_bytes: int = LIMIT_BYTES,
) -> Conversation:
    """Return the conversation in a file; the format is found from its content unless named.

    `session_time` is a date, a date-time or `now`, and wins over the file's own. `sample` chooses one of several in a
    LoCoMo file. Raises InputError, FormatError, UsageError.
    """
    time = _session_time(session_time)
    _format(format)
    text = decoding.load(Path(path), limit_bytes)
    return read_text(text, format, time, str(path), sample=sample)


def read_text(
    text: str,
    format: str = "auto",
    session_time: str | date | None = None,
    source: str | None = None,
    *,
    sample: str | int | None = None,
) -> Conversation:
    """Return the conversation in a text, as `read` does. Raises FormatError, UsageError."""
    time = _session_time(session_time)
    named = _format(format)
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise FormatError(f"the text is binary: a null character at position {text.index(chr(0))}", "give text in UTF-8")
    if not text.strip():
        return Conversation(session_time=time, format=format if named else "plain", source=source)
    chosen = named or max(FORMATS, key=lambda one: one.sniff(text))
    found = locomo.read(text, sample) if chosen.read is locomo.read else chosen.read(text)
    if sample is not None and chosen.name != "locomo":
        raise UsageError(f"the format {chosen.name} has no samples", "leave sample out")
    return replace(found, session_time=time or found.session_time, source=source)


def _format(name: str) -> Format | None:
    names = [one.name for one in FORMATS]
    if name != "auto" and name not in names:
        raise UsageError(f"unknown format {name[:40]!r}", f"allowed: auto, {', '.join(names)}")
    return next((one for one in FORMATS if one.name == name), None)
