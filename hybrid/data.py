"""Frozen values that flow through the stages, from what was read to what was understood.

Offsets are character offsets, half open. An offset of a `Turn`, `Sentence`, `Token`, `ResolvedDate` or `Evidence`
counts from the start of the turn's text; an offset of a `Secret` counts from the start of the message's text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

Role = Literal["user", "assistant", "system", "tool"]
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")

Grain = Literal["time", "part", "day", "weekend", "week", "month", "season", "quarter", "year", "span"]

Kind = Literal[
    "attribute",
    "preference",
    "habit",
    "event",
    "plan",
    "feeling",
    "commitment",
    "fact",
    "decision",
    "rule",
    "wish",
    "case",
    "procedure",
    "pattern",
    "tool_use",
    "configuration",
    "reference",
    "constraint",
    "assumption",
    "lesson",
    "question",
]


def to_json(value: Any) -> Any:
    """Turn frozen values into JSON values: dates as ISO 8601, tuples as lists, None kept."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(to_json(item) for item in value)
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return value


@dataclass(frozen=True, slots=True)
class Message:
    """Hold one message as it was read; it may contain the words of several people."""

    role: Role
    text: str
    speaker: str | None = None
    time: datetime | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Hold a conversation as it was read.

    `session_time` is the time the input or the caller gives, never the wall clock. `participants` are the names of the
    people who speak, in order of appearance.
    """

    turns: tuple[Message, ...] = ()
    session_time: datetime | None = None
    participants: tuple[str, ...] = ()
    format: str = "messages"
    source: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold the words of one speaker: a message, or a `[Name]:` part of one.

    `ref` is the reference (`E00000001`), `message` the index of the message, `start` the offset of the turn's text in it.
    """

    ref: str
    role: Role
    speaker: str | None
    time: datetime | None
    text: str
    message: int
    start: int
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Mark a place in a turn."""

    ref: str
    start: int
    end: int


Evidence = Span


@dataclass(frozen=True, slots=True)
class Token:
    """Hold one word as the parser read it; `head` is the index of the governing token in the same sentence."""

    text: str
    start: int
    end: int
    lemma: str
    pos: str
    tag: str
    morph: str
    dep: str
    head: int
    entity: str = ""
    space: bool = True


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """Hold a date expression and the inclusive range it means.

    `first` and `last` are dates, or datetimes where a time of day was said; None where the range is open. `kind` is `date`,
    or `duration` and `recurrence`, which have no range. An expression that could not be resolved has neither end.
    """

    start: int
    end: int
    text: str
    first: date | None = None
    last: date | None = None
    grain: Grain = "day"
    kind: Literal["date", "duration", "recurrence", "unresolved"] = "date"
    ref: str | None = None

    @property
    def interval(self) -> str | None:
        """Return the range in ISO 8601: a day as a date, a range as an interval, an open end as `..`."""
        if self.first is None and self.last is None:
            return None
        if self.first is not None and self.last is not None and self.first == self.last:
            return self.first.isoformat()
        left = self.first.isoformat() if self.first is not None else ".."
        right = self.last.isoformat() if self.last is not None else ".."
        return f"{left}/{right}"


@dataclass(frozen=True, slots=True)
class Secret:
    """Mark a credential by kind and place; the value is never kept."""

    start: int
    end: int
    kind: str
    message: int | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """Hold one sentence of a turn with its tokens.

    `person` is the grammatical person of the root's subject; `subject` its head word; `tense` the tense of the root verb.
    `voice` names the person whose own words these are where the speaker quotes somebody.
    """

    ref: str
    start: int
    end: int
    text: str
    tokens: tuple[Token, ...] = ()
    person: Literal["first", "second", "third", "none"] = "none"
    tense: Literal["past", "present", "future", "none"] = "none"
    subject: str | None = None
    negated: bool = False
    question: bool = False
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """Mark a named person, place or thing in a turn; `type` is person, place, organisation, thing or unknown."""

    ref: str
    start: int
    end: int
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class Cue:
    """Say that a rule fired on a sentence: which one, what kind it suggests, about which topic, and what it captured."""

    rule: str
    ref: str
    start: int
    end: int
    kind: Kind
    topic: str | None = None
    weight: float = 1.0
    captures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Say why a turn yields nothing."""

    ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """Say why something that could have become an output did not; `text` is masked."""

    reason: str
    evidence: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold one self-contained, third-person, dated, attributed statement with the words that prove it.

    `subject` is the person or thing spoken of, `speaker` who said it. `about_user` holds where the subject is the person
    behind the account. `kinds` are the kinds the rules allow, the chosen one first. `features` name what the confidence
    was computed from. `details` holds what a kind needs beyond the text (problem, solution, steps, value …).
    `filled_by` names who filled a field where that was not the rules.
    """

    id: str
    kind: Kind
    subject: str
    speaker: str | None
    role: Role
    text: str
    topic: str
    quote: str
    evidence: tuple[Evidence, ...]
    about_user: bool = False
    subject_type: str = "person"
    attribution: Literal["self_first_person", "self_named", "other_named", "observed"] = "observed"
    polarity: Literal["affirmed", "negated"] = "affirmed"
    modality: Literal["real", "planned"] = "real"
    when: ResolvedDate | None = None
    said: datetime | None = None
    where: str | None = None
    people: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    topics: tuple[str, ...] = ()
    confidence: float = 0.5
    features: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"
    filled_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def refs(self) -> tuple[str, ...]:
        """Return the references of the turns that prove the statement, each once, in order."""
        return tuple(dict.fromkeys(span.ref for span in self.evidence))


@dataclass(frozen=True, slots=True)
class Document:
    """Hold a conversation and everything the stages found in it; each stage returns a new one."""

    conversation: Conversation
    user: str | None = None
    aliases: tuple[str, ...] = ()
    language: str | None = None
    languages: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    secrets: tuple[Secret, ...] = ()
    dates: tuple[ResolvedDate, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    mentions: tuple[Mention, ...] = ()
    cues: tuple[Cue, ...] = ()
    statements: tuple[Statement, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()

    def turn(self, ref: str) -> Turn:
        """Return the turn with this reference. Raises KeyError for a reference that was never issued."""
        number = int(ref[1:]) - 1
        if 0 <= number < len(self.turns) and self.turns[number].ref == ref:
            return self.turns[number]
        raise KeyError(ref)

    def model_dump(self, mode: str = "json") -> dict[str, Any]:
        """Return the document as JSON values; the messages as read are left out, the turns stand for them."""
        values = {f.name: to_json(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name != "conversation"}
        values["session_time"] = to_json(self.conversation.session_time)
        values["format"] = self.conversation.format
        return values


@dataclass(frozen=True, slots=True)
class Question:
    """Ask the model for short fields about one thing: prompt name, values for it, JSON Schema of the answer."""

    id: str
    prompt: str
    values: Mapping[str, Any]
    schema: Mapping[str, Any]
    max_tokens: int = 96


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold what the model answered to a question, parsed; None for `values` where it was unusable, with the reason."""

    question: str
    values: Mapping[str, Any] | None
    reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


def reference(number: int) -> str:
    """Return the reference of the turn with this number, counted from 1: `E00000001`."""
    return f"E{number:08d}"
