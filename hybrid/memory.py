"""What is kept, how it changes, and the pure function that applies a change."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal

from hybrid.data import Evidence, to_json

Status = Literal["current", "superseded", "deleted"]
OperationKind = Literal["add", "update", "supersede", "delete", "skip"]


@dataclass(frozen=True, slots=True)
class Memory:
    """Hold one memory: a self-contained statement with its category, time, person and proof.

    `when` is an ISO date or interval (None where unknown), `first` and `last` its inclusive days. `evidence` holds turn
    references, `evidence_spans` the places in those turns. `fields` holds what the schema adds to the common columns.
    """

    id: str
    schema: str
    category: str
    text: str
    key: str = ""
    subject: str | None = None
    speaker: str | None = None
    when: str | None = None
    first: date | None = None
    last: date | None = None
    confidence: float | None = None
    importance: float | None = None
    expires_at: str | None = None
    immutable: bool = False
    status: Status = "current"
    superseded_by: str | None = None
    conversation: str | None = None
    user: str | None = None
    agent: str | None = None
    evidence: tuple[str, ...] = ()
    evidence_spans: tuple[Evidence, ...] = ()
    quote: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def model_dump(self, mode: str = "json") -> dict[str, Any]:
        """Return the memory as JSON values."""
        values: dict[str, Any] = to_json(self)
        return values


@dataclass(frozen=True, slots=True)
class Operation:
    """Hold one change: `memory` is the memory after it, `target` the id of the memory it changes or replaces."""

    kind: OperationKind
    memory: Memory | None = None
    target: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Hold the memories that are known already, and in how many other conversations each statement key was heard."""

    memories: tuple[Memory, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def current(self) -> tuple[Memory, ...]:
        """Return the memories that hold at present."""
        return tuple(memory for memory in self.memories if memory.status == "current")


@dataclass(frozen=True, slots=True)
class Changes:
    """Say what one call of remember or observe did to the store."""

    conversation: str
    operations: tuple[Operation, ...] = ()
    turns: int = 0
    new_turns: int = 0
    extraction: Any = None

    def count(self, kind: OperationKind) -> int:
        """Return the number of operations of this kind."""
        return sum(operation.kind == kind for operation in self.operations)

    def model_dump(self, mode: str = "json") -> dict[str, Any]:
        """Return the changes as JSON values, without the extraction."""
        kinds: tuple[OperationKind, ...] = ("add", "update", "supersede", "delete", "skip")
        return {
            "conversation": self.conversation,
            "turns": self.turns,
            "new_turns": self.new_turns,
            "counts": {kind: self.count(kind) for kind in kinds},
            "operations": [
                {
                    "operation": operation.kind,
                    "memory_id": operation.memory.id if operation.memory else operation.target,
                    "target": operation.target,
                    "reason": operation.reason,
                }
                for operation in self.operations
                if operation.kind != "skip"
            ],
        }


def apply(memories: Iterable[Memory], operations: Iterable[Operation]) -> tuple[Memory, ...]:
    """Return the memories after the operations, in order; the arguments stay as they are.

    Raises KeyError where an operation names a memory that is not there.
    """
    kept = {memory.id: memory for memory in memories}
    for operation in operations:
        if operation.kind == "skip":
            continue
        if operation.kind in ("update", "supersede", "delete"):
            old = kept[operation.target or (operation.memory.id if operation.memory else "")]
            if operation.kind == "supersede" and operation.memory is not None:
                kept[old.id] = replace(old, status="superseded", superseded_by=operation.memory.id)
            if operation.kind == "delete":
                kept[old.id] = replace(old, status="deleted")
        if operation.memory is not None and operation.kind != "delete":
            kept[operation.memory.id] = operation.memory
    return tuple(kept.values())


def identifier(*parts: str) -> str:
    """Return a short stable id made from the parts; equal parts give equal ids."""
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"m{digest[:20]}"


def normalized(text: str) -> str:
    """Return the text for comparison: NFKC, case folded, words only, single blanks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded))


def name_key(name: str) -> str:
    """Return a name for comparison: NFKC, case folded, without emoji and decoration, single blanks.

    Two people are the same only if the whole keys are equal: Ana is not Anatol.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    kept = "".join(c if unicodedata.category(c)[0] in "LN" or c in "'’-." else " " for c in folded)
    return " ".join(kept.split())
