"""Memories as JSON Lines, out and in, with all that belongs to them."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid.errors import FormatError, InputError, StoreError
from hybrid.memory import Memory
from hybrid.store.changes import history, next_position, next_seq
from hybrid.store.rows import (
    MEMORY_FIELDS,
    Stored,
    aware,
    by_id,
    clean,
    insert,
    load,
    memory_from,
    naive,
    pieces,
    put,
    remove,
    to_text,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_STEP = ("operation", "reason", "before", "after", "conversation", "at")


def lines(connection: DuckDBPyConnection) -> list[str]:
    """Return one JSON text for each memory, in insertion order, whatever its status.

    Beside what `Memory.model_dump` gives, `evidence_conversations` names the conversation of each piece of evidence (the
    references, then the places), and `history` holds the memory's steps, oldest first.
    """
    stored = load(connection)
    steps = history(connection, [one.memory.id for one in stored])
    return [
        to_text(
            {
                **one.memory.model_dump(),
                "evidence_conversations": one.conversations,
                "history": [_step(row) for row in steps.get(one.memory.id, ())],
            }
        )
        for one in stored
    ]


def write_lines(path: Path, texts: list[str]) -> None:
    """Write the lines to a file that only the user can read, all or nothing. Raises StoreError."""
    fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with os.fdopen(
            os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="\n"
        ) as file:
            file.writelines(f"{text}\n" for text in texts)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}", "give a path that you may write to") from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the described memories of a file. Raises FormatError naming the line, InputError where the file is missing."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", "give a file that `export` wrote") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text", "give a file that `export` wrote") from error
    return [_parsed(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def take_in(connection: DuckDBPyConnection, entries: list[dict[str, Any]], now: datetime) -> int:
    """Write the described memories; return how many were new or newer than what is there."""
    have = by_id(connection, [entry["memory"].id for entry in entries])
    position, seq = next_position(connection), next_seq(connection)
    taken: dict[str, tuple[Stored, list[dict[str, Any]]]] = {}
    for entry in entries:
        given: Memory = entry["memory"]
        old = taken[given.id][0] if given.id in taken else have.get(given.id)
        if old is not None and not _newer(given, old.memory):
            continue
        memory = _dated(given, now)
        place = old.position if old is not None else position
        position += old is None
        conversations = entry["conversations"]
        if len(conversations) != len(pieces(memory)):
            conversations = (memory.conversation,) * len(pieces(memory))
        taken[memory.id] = (Stored(memory, place, conversations), list(_steps(memory, entry["history"], now)))
    remove(connection, taken, history=True)
    put(connection, [stored for stored, _ in taken.values()])
    rows = [row for _, steps in taken.values() for row in steps]
    insert(connection, "history", [{**row, "seq": seq + number} for number, row in enumerate(rows)])
    return len(taken)


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    hint = "each line needs id, text and category; `export` writes such files"
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"{path}, line {number}, column {error.colno}: not JSON", hint) from error
    required = ("id", "text", "category")
    if not isinstance(values, Mapping) or not all(isinstance(values.get(name), str) and values[name] for name in required):
        raise FormatError(f"{path}, line {number}: not a memory", hint)
    own = {name: values[name] for name in MEMORY_FIELDS if name in values}
    more = {k: v for k, v in values.items() if k not in MEMORY_FIELDS and k not in ("evidence_conversations", "history")}
    try:
        memory = clean(memory_from({"schema": "facts", **own, "fields": {**(own.get("fields") or {}), **more}}))
        steps = [_checked(step) for step in values.get("history") or ()]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}, line {number}: a field has a value that it cannot have", hint) from error
    return {"memory": memory, "conversations": tuple(values.get("evidence_conversations") or ()), "history": steps}


def _checked(step: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: step[name] for name in _STEP}
    found["at"] = datetime.fromisoformat(found["at"])
    for name in ("before", "after"):
        if found[name] is not None:
            memory_from(found[name])
    return found


def _newer(memory: Memory, old: Memory) -> bool:
    if memory.updated_at is None or old.updated_at is None:
        return False
    return aware(memory.updated_at) > aware(old.updated_at)


def _dated(memory: Memory, now: datetime) -> Memory:
    return replace(memory, created_at=memory.created_at or now, updated_at=memory.updated_at or memory.created_at or now)


def _step(row: Mapping[str, Any]) -> dict[str, Any]:
    images = {name: json.loads(row[name]) if row[name] is not None else None for name in ("before", "after")}
    return {name: images[name] if name in images else row[name] for name in _STEP[:-1]} | {
        "at": aware(row["recorded_at"]).isoformat()
    }


def _steps(memory: Memory, steps: list[dict[str, Any]], now: datetime) -> Iterator[dict[str, Any]]:
    fresh = {
        "operation": "add",
        "reason": "imported",
        "before": None,
        "after": memory.model_dump(),
        "conversation": None,
        "at": now,
    }
    for step in steps or [fresh]:
        yield {
            "memory_id": memory.id,
            "schema_name": memory.schema,
            "operation": step["operation"],
            "reason": step["reason"],
            "before": to_text(step["before"]) if step["before"] is not None else None,
            "after": to_text(step["after"]) if step["after"] is not None else None,
            "conversation": step["conversation"],
            "recorded_at": naive(step["at"]),
        }
