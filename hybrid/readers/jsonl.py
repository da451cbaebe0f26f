"""Read JSON Lines: one message a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hybrid.data import Conversation
from hybrid.errors import FormatError
from hybrid.readers import structured

_START = re.compile(r"\s*\{")


def sniff(text: str) -> float:
    """Say how certain it is that the text is JSON Lines of messages, 0 to 1."""
    if not _START.match(text):
        return 0.0
    head = text.lstrip()
    first, _, rest = head.partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return 0.6 if re.match(r'\{"role"', first) and re.match(r'\s*\{"role"', rest) else 0.0
    if not isinstance(value, Mapping):
        return 0.0
    return 0.9 if "messages" not in value and "conversation" not in value and ("role" in value or rest.strip()) else 0.2


def read(text: str) -> Conversation:
    """Return the conversation of one message a line; blank lines count as nothing. Raises FormatError with line and column."""
    return structured.conversation(_objects(text), "jsonl")


def _objects(text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = structured.parse(line.rstrip("\r"), number)
        if not isinstance(value, Mapping):
            raise FormatError(
                f"line {number} is {structured.describe(value)}, not a message", "accepted: one JSON object a line"
            )
        yield value
