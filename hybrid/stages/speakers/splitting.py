"""Split a message at the marks that name a speaker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import regex

from hybrid import rules
from hybrid.data import ROLES, Conversation, Message, Role
from hybrid.memory import name_key

_QUOTES = "\"“”„«‘'"


@dataclass(frozen=True, slots=True)
class Part:
    """Hold a piece of a message with its speaker, from `start` to `end`, without blanks around it."""

    speaker: str | None
    role: Role
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    speaker: str | None
    role: Role


@dataclass(frozen=True, slots=True)
class Voices:
    """Hold the patterns that find speakers, and the keys of the names that speak in a conversation."""

    patterns: dict[str, regex.Pattern[str]]
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, conversation: Conversation) -> Voices:
        """Return the voices of a conversation: its participants, named messages and bracketed names."""
        voices = cls({rule.id: rule.pattern for rule in rules.load("speakers").rules})
        named = [message.speaker for message in conversation.turns if message.speaker]
        bracketed = [mark.speaker for message in conversation.turns for mark in voices.brackets(message)]
        keys = (name_key(name) for name in (*conversation.participants, *named, *bracketed) if name)
        voices.known.update(key for key in keys if key)
        return voices

    def voice(self, label: str, rule: str) -> tuple[str | None, Role] | None:
        """Return speaker and role of a label, or None where it is no speaker."""
        for role in ROLES:
            if self.patterns[f"speakers.role.{role}"].search(label):
                return None, role
        return (label, "user") if self.patterns[rule].search(label) else None

    def brackets(self, message: Message) -> Iterator[_Mark]:
        """Give the `[Name]:` marks of a message that a user wrote."""
        if message.role != "user" or "[" not in message.text:
            return
        for match in self.patterns["speakers.mark.bracket"].finditer(message.text):
            voice = self.voice(match["label"].strip(), "speakers.bracketed")
            if voice is not None:
                yield _Mark(match.start(), match.end(), *voice)

    def lines(self, message: Message) -> Iterator[_Mark]:
        """Give the `Name:` marks at line starts: of known names, or of all where the whole message is a transcript.

        A message that already has a speaker keeps it, and a quoted line is what somebody is said to have said.
        """
        if message.role != "user" or message.speaker or ":" not in message.text.replace("：", ":"):
            return
        marks, filled, first = self._line_marks(message.text)
        labels = {mark.speaker or mark.role for mark in marks}
        transcript = len(labels) > 1 and 2 * len(marks) >= filled and marks[0].start == first
        for mark in marks:
            known = mark.speaker is not None and name_key(mark.speaker) in self.known
            if transcript or (known and message.text[mark.end :].lstrip()[:1] not in _QUOTES):
                yield mark

    def _line_marks(self, text: str) -> tuple[list[_Mark], int, int]:
        marks: list[_Mark] = []
        filled = offset = 0
        first = -1
        for line in text.split("\n"):
            if line.strip():
                filled += 1
                first = offset if first < 0 else first
            match = self.patterns["speakers.mark.line"].match(line)
            voice = self.voice(match["label"].strip(), "speakers.name") if match else None
            if match and voice is not None:
                marks.append(_Mark(offset, offset + match.end(), *voice))
            offset += len(line) + 1
        return marks, filled, first


def split(message: Message, voices: Voices, lines: bool = True) -> tuple[Part, ...]:
    """Return the parts of a message, each with its speaker; a part that is blank is left out.

    Only the user's messages are split. With `lines`, `Name:` at the start of a line counts too.
    """
    marks = [*voices.brackets(message), *(voices.lines(message) if lines else ())]
    marks.sort(key=lambda mark: mark.start)
    own = message.speaker if message.speaker and message.speaker.strip() else None
    starts = [_Mark(0, 0, own, message.role), *marks]
    ends = [mark.start for mark in marks] + [len(message.text)]
    parts = (_trimmed(message.text, mark, end) for mark, end in zip(starts, ends, strict=True))
    return tuple(part for part in parts if part.start < part.end)


def _trimmed(text: str, mark: _Mark, end: int) -> Part:
    piece = text[mark.end : end]
    start = mark.end + len(piece) - len(piece.lstrip())
    return Part(mark.speaker, mark.role, start, max(start, mark.end + len(piece.rstrip())))
