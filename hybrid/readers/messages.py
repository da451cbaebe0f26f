"""Read a JSON list of messages, or an object that holds one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hybrid.data import Conversation
from hybrid.errors import FormatError
from hybrid.readers import structured
from hybrid.readers.times import message_time

_KEYS = re.compile(r'"(?:role|messages)"\s*:')


def sniff(text: str) -> float:
    """Say how certain it is that the text is a JSON list of messages, 0 to 1."""
    if not structured.looks_like_json(text):
        return 0.0
    return 0.8 if _KEYS.search(text[:20_000]) else 0.3


def read(text: str) -> Conversation:
    """Return the conversation of `[{role, content, name?, timestamp?}]` or `{messages: […], session_time?}`.

    Raises FormatError with line and column, or with the number of the message.
    """
    value = structured.parse(text)
    if isinstance(value, list):
        return structured.conversation(value, "messages")
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        raise FormatError(
            f"the JSON is {structured.describe(value)}, not a conversation",
            'accepted: [{"role": "user", "content": "…"}], {"messages": […]}, JSON Lines of messages, or numbered sessions',
        )
    stamp = next((value[key] for key in ("session_time", "date") if value.get(key) is not None), None)
    time = message_time(stamp)
    found = structured.conversation(value["messages"], "messages", time)
    if stamp is not None and time is None:
        return replace(found, notes=(*found.notes, "the session time in the file could not be read"))
    return found
