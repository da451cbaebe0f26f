"""The values that go into the store and come out of it, beside Memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from hybrid.data import Statement, Turn, to_json
from hybrid.memory import Memory, identifier, name_key, normalized


class Filters(TypedDict, total=False):
    """Name what `list` and `search` may filter by; None means any, `expired` adds memories whose last day has passed."""

    schema: str | None
    category: str | None
    subject: str | None
    user: str | None
    conversation: str | None
    status: str | None
    expired: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold a memory that a search found; every attribute of the memory is one of the hit.

    `score` is the sum of `why`, which names what each matching term contributed.
    """

    memory: Memory
    score: float
    why: Mapping[str, float] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the memory."""
        if name.startswith("__") or name in ("memory", "score", "why"):
            raise AttributeError(name)
        return getattr(self.memory, name)

    def model_dump(self, mode: str = "json") -> dict[str, Any]:
        """Return the memory as JSON values, with score and why."""
        return {**self.memory.model_dump(mode), "score": round(self.score, 6), "why": dict(self.why)}


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """Hold what one call of remember or observe understood of a conversation.

    `id` names the conversation, `schema` the policy whose operations go with it. `keys` gives statement ids the key under
    which they count as the same over conversations; `statement_key` stands for those that have none.
    """

    id: str
    schema: str
    source: str | None = None
    format: str = "messages"
    session_time: datetime | None = None
    user: str | None = None
    participants: tuple[str, ...] = ()
    turns: tuple[Turn, ...] = ()
    statements: tuple[Statement, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """Hold what the store knows of a conversation.

    `turns` are the turns' hashes by reference in order, `schemas` those it was remembered with, `memories` the ids of the
    memories that it added or changed, by schema.
    """

    id: str
    source: str | None
    format: str
    session_time: datetime | None
    user: str | None
    participants: tuple[str, ...]
    added_at: datetime
    turns: Mapping[str, str]
    schemas: tuple[str, ...]
    memories: Mapping[str, tuple[str, ...]]


def statement_key(statement: Statement) -> str:
    """Return the key under which a statement counts as the same in another conversation: subject, kind and words."""
    return "|".join((name_key(statement.subject), statement.kind, statement.polarity, normalized(statement.text)))


def turn_hash(turn: Turn) -> str:
    """Return a hash of who said what and when; it changes when a turn was edited."""
    time = turn.time.isoformat() if turn.time is not None else ""
    return identifier("turn", turn.role, turn.speaker or "", time, turn.text)


def storable(value: Any) -> Any:
    """Return JSON values that DuckDB can hold: as `to_json`, with half surrogate pairs replaced by U+FFFD."""
    value = to_json(value)
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
