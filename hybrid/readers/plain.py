"""Read plain text: `[Name]: text`, `Name: text`, or prose that nobody signs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import regex

from hybrid import rules
from hybrid.data import ROLES, Conversation, Message, Role
from hybrid.readers import structured
from hybrid.readers.decoding import lined
from hybrid.readers.times import message_time

Style = Literal["line", "bracket", "bold"]
Voice = tuple[Role, Literal["role", "name", "handle"]]
_STYLES: tuple[Style, ...] = ("bracket", "bold", "line")
_QUOTED = re.compile(r"\s*[\"“”„«‘'].*[\"”“»’']\s*", re.DOTALL)
_STAMP_STARTS = frozenset("0123456789[\u200e\u200f")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}[T ,]")


@dataclass(frozen=True, slots=True)
class _Header:
    line: int
    label: str
    voice: Voice
    style: Style
    body: str
    stamp: str | None
    after_blank: bool

    @property
    def kind(self) -> str:
        return self.voice[1]

    @property
    def shape(self) -> tuple[Style, bool]:
        return self.style, self.stamp is not None


def sniff(text: str) -> float:
    """Say how certain it is that the text is plain, 0 to 1: what is no JSON is plain text."""
    return 0.0 if structured.looks_like_json(text) else 0.5


def read(text: str) -> Conversation:
    """Return one message for each line that begins with a speaker; a text without any is one message of the user.

    Lines without a speaker continue the message before them. Role words (User, Assistant, …) set the role and no name.
    """
    text = lined(text)
    if not text.strip():
        return Conversation(format="plain")
    lines = text.split("\n")
    headers = _headers(lines)
    ends = [header.line for header in headers[1:]] + [len(lines)]
    messages = []
    opening = "\n".join(lines[: headers[0].line if headers else len(lines)]).strip()
    if opening:
        messages.append(Message("user", opening))
    for header, end in zip(headers, ends, strict=False):
        body = "\n".join((header.body, *lines[header.line + 1 : end])).strip()
        time = message_time(re.sub(r"[ ,T]+", "T", header.stamp)) if header.stamp and _DATED.match(header.stamp) else None
        messages.append(Message(header.voice[0], body, header.label if header.kind != "role" else None, time))
    return Conversation(tuple(messages), None, structured.people(messages), "plain", notes=_notes(lines, headers))


def _notes(lines: list[str], headers: list[_Header]) -> tuple[str, ...]:
    stamps = {rule.id: rule.pattern for rule in rules.load("speakers").rules}["speakers.stamp"]
    if not headers:
        stamped = sum(stamps.match(line) is not None for line in lines)
        return (f"{stamped} lines begin with a time, but no speaker was recognised",) if stamped > 2 else ()
    undated = sum(header.stamp is not None and not _DATED.match(header.stamp) for header in headers)
    return (f"{undated} message times have no certain date and were not read",) if undated else ()


def _headers(lines: list[str]) -> list[_Header]:
    """Return the lines that begin a message: those of the file's own shape whose label speaks."""
    found = list(_candidates(lines))
    if not found:
        return []
    first = next(number for number, line in enumerate(lines) if line.strip())
    shapes = Counter(header.shape for header in found)
    shape = found[0].shape if found[0].line == first else max(shapes, key=lambda one: (shapes[one], one == found[0].shape))
    found = [h for h in found if h.shape == shape or (h.kind == "role" and shape[0] != "line")]
    if found[0].line == first and found[0].kind == "role" and len({h.voice for h in found if h.kind == "role"}) > 1:
        found = [header for header in found if header.kind == "role"]
    found = _alike(_alike(_spaced(found), _quoted), _empty)
    return _speaking(found, first, sum(1 for line in lines if line.strip()))


def _alike(found: list[_Header], odd: Callable[[_Header], bool]) -> list[_Header]:
    """Leave out the headers that are odd, unless half of them are."""
    kept = [header for header in found if not odd(header)]
    return kept if len(kept) * 2 > len(found) else found


def _quoted(header: _Header) -> bool:
    return _QUOTED.fullmatch(header.body) is not None


def _empty(header: _Header) -> bool:
    return header.kind != "role" and not header.body.strip()


def _spaced(found: list[_Header]) -> list[_Header]:
    """Where a file sets a blank line before its headers, a line without one is no header."""
    after = sum(header.after_blank for header in found[1:])
    close = len(found) - 1 - after
    if after < 2 or after < 3 * close:
        return found
    return [header for number, header in enumerate(found) if number == 0 or header.after_blank]


def _speaking(found: list[_Header], first: int, filled: int) -> list[_Header]:
    """Keep the labels that speak: often, beside others, marked by brackets, or at the very start."""
    opens = bool(found) and found[0].line == first
    seen = Counter(header.label for header in found)
    if any(header.kind == "handle" for header in found) and not (opens and max(seen.values()) >= 2 and len(seen) >= 2):
        found = [header for header in found if header.kind != "handle"]
        seen = Counter(header.label for header in found)
    if not found:
        return []
    marked = found[0].style != "line" or found[0].stamp is not None
    dense = opens or 2 * len(found) >= filled
    together = len(seen) > 1 and (dense or max(seen.values()) > 1)
    return [
        header
        for header in found
        if marked or seen[header.label] > 1 or together or (header.line == first and header.body.strip() != "")
    ]


def _candidates(lines: list[str]) -> Iterator[_Header]:
    by_id = {rule.id: rule.pattern for rule in rules.load("speakers").rules}
    marks: dict[Style, regex.Pattern[str]] = {style: by_id[f"speakers.mark.{style}"] for style in _STYLES}
    stamps = by_id["speakers.stamp"]
    known: dict[tuple[str, Style], Voice | None] = {}
    for number, line in enumerate(lines):
        if ":" not in line and "：" not in line:
            continue
        stamp = stamps.match(line) if line[:1] in _STAMP_STARTS else None
        rest = line[stamp.end() :] if stamp else line.lstrip("\u200e\u200f")
        style: Style = "bracket" if rest[:1] == "[" else "bold" if rest[:2] == "**" else "line"
        match = marks[style].match(rest)
        if match is None:
            continue
        label = match["label"].strip()
        if (label, style) not in known:
            known[label, style] = _voice(label, style, by_id)
        voice = known[label, style]
        if voice is not None:
            blank = number > 0 and not lines[number - 1].strip()
            yield _Header(number, label, voice, style, rest[match.end() :], stamp["stamp"] if stamp else None, blank)


def _voice(label: str, style: Style, by_id: Mapping[str, regex.Pattern[str]]) -> Voice | None:
    for role in ROLES:
        if by_id[f"speakers.role.{role}"].search(label):
            return role, "role"
    if by_id["speakers.bracketed" if style == "bracket" else "speakers.name"].search(label):
        return "user", "name"
    return ("user", "handle") if by_id["speakers.handle"].search(label) else None
