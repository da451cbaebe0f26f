"""Parse JSON, with the place of what is wrong, and turn JSON messages into ours."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hybrid.data import ROLES, Conversation, Message, Role
from hybrid.errors import FormatError
from hybrid.memory import name_key
from hybrid.readers.times import message_time

ROLE_WORDS: Mapping[str, Role] = {
    **{role: role for role in ROLES},
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "agent": "assistant",
    "developer": "system",
    "function": "tool",
}
_TEXT_KEYS = ("content", "text")
_NAME_KEYS = ("name", "speaker")
_TIME_KEYS = ("timestamp", "time", "created_at")
_BROKEN = re.compile("[\0\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
_ACCEPTED = "accepted: a list of messages with role and content, optionally name and timestamp"


@dataclass(slots=True)
class Tally:
    """Count what was left out while a conversation was read."""

    parts: int = 0
    times: int = 0
    characters: int = 0

    def notes(self) -> tuple[str, ...]:
        """Return one line for each kind of thing that was left out."""
        counted = (
            (self.parts, "content parts that are no text were left out"),
            (self.times, "message times could not be read"),
            (self.characters, "messages held characters that are no text; they are shown as U+FFFD"),
        )
        return tuple(f"{count} {what}" for count, what in counted if count)


def parse(text: str, line: int = 1) -> Any:
    """Return the JSON value; `line` is the number of the text's first line. Raises FormatError with line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno + line - 1}, column {error.colno}"
        raise FormatError(f"malformed JSON at {place}: {error.msg.split(':')[0]}", "correct the file at that place") from error
    except RecursionError as error:
        raise FormatError("the JSON is nested too deeply", _ACCEPTED) from error
    except ValueError as error:
        raise FormatError(f"the JSON that begins at line {line} holds a number that is too long", _ACCEPTED) from error


def looks_like_json(text: str) -> bool:
    """Say whether the text begins as a JSON object or a list of objects; `[Name]: …` does not."""
    head = text[:400].lstrip()
    return bool(re.match(r'\{\s*"|\[\s*[{"]', head)) or text.strip() in ("[]", "{}") or _is_array(text)


def describe(value: Any) -> str:
    """Say what a JSON value is without quoting it."""
    if isinstance(value, Mapping):
        return f"an object with {len(value)} keys"
    if isinstance(value, list):
        inner = "nothing" if not value else describe(value[0]).split(" with ")[0]
        return f"a list of {len(value)} items, the first of them {inner}"
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def conversation(items: Iterable[Any], format: str, time: datetime | None = None) -> Conversation:
    """Return the messages of a list of JSON objects as a conversation. Raises FormatError with the message's number."""
    tally = Tally()
    messages = tuple(_message(item, number, tally) for number, item in enumerate(items, 1))
    return Conversation(messages, time, people(messages), format, notes=tally.notes())


def people(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the names of the people who speak, each once, in order of appearance."""
    found: dict[str, str] = {}
    for message in messages:
        if message.role == "user" and message.speaker:
            found.setdefault(name_key(message.speaker) or message.speaker, message.speaker)
    return tuple(found.values())


def named(name: Any) -> str | None:
    """Return a speaker's name in one line without characters that are not seen, cut where nobody's name goes on."""
    if not isinstance(name, str):
        return None
    seen = "".join(c if c in _JOINERS or unicodedata.category(c)[0] != "C" else " " for c in name[:1_000])
    return " ".join(seen.split())[:80].rstrip() or None


def clean(text: str) -> str:
    """Return the text at equal length without null characters and halves of characters, which nothing can store."""
    return _BROKEN.sub("\ufffd", text)


def _message(item: Any, number: int, tally: Tally) -> Message:
    if not isinstance(item, Mapping):
        raise FormatError(f"message {number} is {describe(item)}, not an object", _ACCEPTED)
    name = next((found for key in _NAME_KEYS if (found := named(item.get(key)))), None)
    content = next((item[key] for key in _TEXT_KEYS if key in item), _missing)
    if content is _missing:
        if not item.get("tool_calls") and not item.get("function_call"):
            raise FormatError(f"message {number} has no content", _ACCEPTED)
        content = None
    raw = _text(content, number, tally)
    text = clean(raw)
    tally.characters += text != raw
    stamp = next((item[key] for key in _TIME_KEYS if item.get(key) is not None), None)
    time = message_time(stamp)
    tally.times += stamp is not None and time is None
    session = item.get("session")
    return Message(
        _role(item, name, number),
        text,
        clean(name).strip() if name else None,
        time,
        session if isinstance(session, str) else None,
    )


_missing = object()


def _role(item: Mapping[str, Any], name: str | None, number: int) -> Role:
    role = item.get("role")
    if role is None and name is not None:
        return "user"
    known = ROLE_WORDS.get(role.strip().casefold()) if isinstance(role, str) else None
    if known is None:
        said = "no role" if role is None else f"the unknown role {_safe(role)}"
        raise FormatError(f"message {number} has {said}", f"allowed: {', '.join(sorted(ROLE_WORDS))}")
    return known


def _safe(role: Any) -> str:
    if not isinstance(role, str):
        return f"({describe(role)})"
    word = re.match(r"\w{0,16}", role.strip(), re.ASCII)
    return f"'{word[0] if word else ''}{'' if word and word[0] == role else '…'}'"


def _text(content: Any, number: int, tally: Tally) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping) and isinstance(content.get("parts"), list):
        content = content["parts"]
    if isinstance(content, list):
        kept = [text for part in content if (text := _part(part)) is not None]
        tally.parts += len(content) - len(kept)
        return "\n".join(kept)
    text = _part(content)
    if text is None:
        raise FormatError(f"the content of message {number} is {describe(content)}, not text", _ACCEPTED)
    return text


def _part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def _is_array(text: str) -> bool:
    if text.lstrip()[:1] != "[" or not text.rstrip().endswith("]"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
