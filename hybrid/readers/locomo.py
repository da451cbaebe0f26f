"""Read sessions as the LoCoMo corpus publishes them: session_1, session_1_date_time, and so on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hybrid.data import Conversation, Message
from hybrid.errors import FormatError, UsageError
from hybrid.readers import structured
from hybrid.readers.times import message_time

_SESSION = re.compile(r"session_(\d+)")
_KEYS = re.compile(r'"session_\d+(?:_date_time)?"\s*:')
_ACCEPTED = "accepted: an object whose conversation holds session_1 and session_1_date_time, or a list of such"


def sniff(text: str) -> float:
    """Say how certain it is that the text holds numbered sessions, 0 to 1."""
    return 0.95 if structured.looks_like_json(text) and _KEYS.search(text) else 0.0


def read(text: str, sample: str | int | None = None) -> Conversation:
    """Return the conversation of one sample: the first, or the one with this id or place in the list (from 0).

    Every message carries the time of its session. Raises FormatError for another structure, UsageError for an unknown sample.
    """
    value = structured.parse(text)
    chosen = _chosen(value, sample)
    sessions = chosen.get("conversation", chosen)
    if not isinstance(sessions, Mapping):
        raise FormatError(f"the conversation is {structured.describe(sessions)}, not an object", _ACCEPTED)
    names = [key for key in sessions if _SESSION.fullmatch(key) and isinstance(sessions[key], list)]
    if not names:
        raise FormatError(f"the JSON is {structured.describe(chosen)} without sessions", _ACCEPTED)
    unread = 0
    messages: list[Message] = []
    times = []
    for name in sorted(names, key=lambda key: int(key.split("_")[1])):
        stamp = sessions.get(f"{name}_date_time")
        time = message_time(stamp)
        unread += stamp is not None and time is None
        times.append(time)
        messages.extend(_message(item, name, place, time) for place, item in enumerate(sessions[name], 1))
    notes = (f"{unread} session times could not be read",) if unread else ()
    return Conversation(tuple(messages), times[0], structured.people(messages), "locomo", notes=notes)


def _chosen(value: Any, sample: str | int | None) -> Mapping[str, Any]:
    samples = value if isinstance(value, list) else [value]
    if not samples or not all(isinstance(item, Mapping) for item in samples):
        raise FormatError(f"the JSON is {structured.describe(value)}, not a conversation", _ACCEPTED)
    if sample is None:
        first: Mapping[str, Any] = samples[0]
        return first
    for place, item in enumerate(samples):
        if sample == place or str(item.get("sample_id", place)) == str(sample):
            found: Mapping[str, Any] = item
            return found
    ids = [str(item.get("sample_id", place))[:40] for place, item in enumerate(samples)]
    raise UsageError("the file holds no such sample", f"allowed: {', '.join(ids[:20])}{', …' if len(ids) > 20 else ''}")


def _message(item: Any, session: str, place: int, time: Any) -> Message:
    where = f"{session}, message {place}"
    if not isinstance(item, Mapping) or not isinstance(item.get("text", ""), str):
        raise FormatError(f"{where} is {structured.describe(item)}, not a speaker with a text", _ACCEPTED)
    speaker = item.get("speaker")
    if speaker is not None and not isinstance(speaker, str):
        raise FormatError(f"the speaker of {where} is {structured.describe(speaker)}, not a name", _ACCEPTED)
    return Message("user", structured.clean(item.get("text", "")), structured.named(speaker), time, session)
