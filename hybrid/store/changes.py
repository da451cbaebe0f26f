"""What happens to memories inside one transaction: applying changes with their history, and taking them back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid.errors import UnknownMemoryError, UsageError
from hybrid.memory import Memory, Operation
from hybrid.store.binding import NUMBERS, TEXTS, bound
from hybrid.store.records import storable
from hybrid.store.rows import Stored, by_id, clean, insert, memory_from, naive, pieces, put, remove, to_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Change:
    """Hold one step of one memory: how it looks afterwards, what was done and why."""

    memory: Memory
    operation: str
    reason: str


def planned(operations: Iterable[Operation], current: Callable[[str], Memory]) -> list[Change]:
    """Return the steps that the operations mean, in order; a skip means none. Raises UsageError for an immutable target.

    `current` gives the memory of an id as it is before the operations and raises UnknownMemoryError.
    """
    seen: dict[str, Memory] = {}
    steps: list[Change] = []

    def step(memory: Memory, operation: str, reason: str) -> None:
        seen[memory.id] = memory = clean(memory)
        steps.append(Change(memory, operation, reason))

    for operation in operations:
        memory = operation.memory
        if operation.kind == "skip":
            continue
        if operation.kind != "add":
            target = operation.target or (memory.id if memory is not None else "")
            old = seen[target] if target in seen else current(target)
            if old.immutable and operation.kind != "delete":
                raise UsageError(f"memory {old.id} is immutable", "it can be deleted, not changed")
            if operation.kind == "supersede" and memory is not None:
                step(replace(old, status="superseded", superseded_by=memory.id), "supersede", operation.reason)
            if operation.kind == "delete":
                step(replace(old, status="deleted"), "delete", operation.reason)
        if memory is not None and operation.kind != "delete":
            step(memory, "update" if operation.kind == "update" else "add", operation.reason)
    return steps


def allowed(connection: DuckDBPyConnection, operations: Iterable[Operation], conversation: str) -> list[Operation]:
    """Return the operations without those that would make anew what somebody else changed or deleted since.

    A conversation that is remembered again gives the same ids, and must not undo what the user did to its memories.
    """
    wanted = list(operations)
    made = [o.memory.id for o in wanted if o.kind in ("add", "supersede") and o.memory is not None]
    rows = connection.execute(
        f"SELECT memory_id, conversation FROM history WHERE memory_id IN {TEXTS} "
        "QUALIFY row_number() OVER (PARTITION BY memory_id ORDER BY seq DESC) = 1",
        [bound(storable(made))],
    ).fetchall()
    elsewhere = {memory_id for memory_id, last in rows if last != conversation}
    return [o for o in wanted if o.kind not in ("add", "supersede") or o.memory is None or o.memory.id not in elsewhere]


def write(connection: DuckDBPyConnection, changes: Sequence[Change], conversation: str | None, now: datetime) -> None:
    """Write the changes and their history. Evidence that is new belongs to `conversation`, the rest to where it came from."""
    stored = by_id(connection, {change.memory.id for change in changes})
    position, seq = _next(connection, "memories", "position"), _next(connection, "history", "seq")
    steps: list[dict[str, Any]] = []
    final: dict[str, Stored] = {}
    for change in changes:
        before = final.get(change.memory.id) or stored.get(change.memory.id)
        if before is not None and _same(change.memory, before.memory):
            continue
        after = _dated(change.memory, before.memory if before else None, now)
        if before is None:
            place, position = position, position + 1
        else:
            place = before.position
        final[after.id] = Stored(after, place, _conversations(after, before, conversation or after.conversation))
        steps.append(
            {
                "seq": seq + len(steps),
                "memory_id": after.id,
                "schema_name": after.schema,
                "operation": change.operation,
                "reason": change.reason,
                "before": to_text(before.memory) if before else None,
                "after": to_text(after),
                "conversation": conversation,
                "recorded_at": naive(now),
            }
        )
    put(connection, list(final.values()))
    insert(connection, "history", steps)


def retract(connection: DuckDBPyConnection, conversation: str, schema: str) -> int:
    """Take back what a conversation did to the memories of a schema, latest step first; return how many memories changed.

    A memory that somebody else changed afterwards stays as it is.
    """
    steps = _undoable(connection, conversation, schema)
    if not steps:
        return 0
    stored = by_id(connection, steps)
    restored = []
    for memory_id, rows in steps.items():
        image = rows[-1]["before"]
        now = stored.get(memory_id)
        if image is not None and now is not None:
            memory = memory_from(json.loads(image))
            kept = Stored(now.memory, now.position, tuple(None if c == conversation else c for c in now.conversations))
            restored.append(Stored(memory, now.position, _conversations(memory, kept, memory.conversation)))
    seqs = [row["seq"] for rows in steps.values() for row in rows]
    connection.execute(f"DELETE FROM history WHERE seq IN {NUMBERS}", [bound(seqs)])
    remove(connection, [memory_id for memory_id, rows in steps.items() if rows[-1]["before"] is None])
    put(connection, restored)
    return len(steps)


def history(connection: DuckDBPyConnection, ids: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the history rows of memories, oldest first, as the columns hold them."""
    names = ("seq", "memory_id", "schema_name", "operation", "reason", "before", "after", "conversation", "recorded_at")
    rows = connection.execute(
        f"SELECT {', '.join(names)} FROM history WHERE memory_id IN {TEXTS} ORDER BY seq", [bound(ids)]
    ).fetchall()
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row[1], []).append(dict(zip(names, row, strict=True)))
    return found


def next_seq(connection: DuckDBPyConnection) -> int:
    """Return the number of the next history row."""
    return _next(connection, "history", "seq")


def next_position(connection: DuckDBPyConnection) -> int:
    """Return the place of the next new memory."""
    return _next(connection, "memories", "position")


def required(stored: Mapping[str, Stored], memory_id: str) -> Memory:
    """Return the memory of an id. Raises UnknownMemoryError."""
    if memory_id not in stored:
        raise UnknownMemoryError(f"no memory has the id {memory_id!r}", "list the memories to see their ids")
    return stored[memory_id].memory


def _next(connection: DuckDBPyConnection, table: str, column: str) -> int:
    row = connection.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}").fetchone()
    return int(row[0]) if row is not None else 1


def _same(memory: Memory, before: Memory) -> bool:
    return to_text(replace(memory, created_at=before.created_at, updated_at=before.updated_at)) == to_text(before)


def _dated(memory: Memory, before: Memory | None, now: datetime) -> Memory:
    created = memory.created_at or (before.created_at if before is not None else None) or now
    return replace(memory, created_at=created, updated_at=now if before is not None else memory.updated_at or now)


def _conversations(memory: Memory, before: Stored | None, new: str | None) -> tuple[str | None, ...]:
    came_from: dict[tuple[str, int | None, int | None], list[str | None]] = {}
    if before is not None:
        for piece, conversation in zip(pieces(before.memory), before.conversations, strict=False):
            if conversation is not None:
                came_from.setdefault(piece, []).append(conversation)
    return tuple(came_from[piece].pop(0) if came_from.get(piece) else new for piece in pieces(memory))


def _undoable(connection: DuckDBPyConnection, conversation: str, schema: str) -> dict[str, list[dict[str, Any]]]:
    # For each memory the steps at the end of its history that belong to the conversation, latest first.
    touched = connection.execute(
        "SELECT DISTINCT memory_id FROM history WHERE conversation = ? AND schema_name = ?", [conversation, schema]
    ).fetchall()
    steps: dict[str, list[dict[str, Any]]] = {}
    for memory_id, rows in history(connection, [row[0] for row in touched]).items():
        last: list[dict[str, Any]] = []
        for row in reversed(rows):
            if row["conversation"] != conversation:
                break
            last.append(row)
        if last:
            steps[memory_id] = last
    return _without_orphans(steps)


def _without_orphans(steps: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    # A superseded memory comes back only if the one that replaced it goes: else both would hold.
    while True:
        stuck = [
            memory_id
            for memory_id, rows in steps.items()
            if rows[0]["operation"] == "supersede" and json.loads(rows[0]["after"])["superseded_by"] not in steps
        ]
        if not stuck:
            return steps
        steps = {memory_id: rows for memory_id, rows in steps.items() if memory_id not in stuck}
