"""Conversations, their turns and their statements inside one transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid.data import Turn
from hybrid.store.binding import TEXTS, bound
from hybrid.store.records import ConversationRecord, StoredConversation, statement_key, storable, turn_hash
from hybrid.store.rows import aware, insert, naive, to_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def write_conversation(connection: DuckDBPyConnection, record: ConversationRecord, now: datetime) -> None:
    """Write a conversation, and of its turns and statements those that are new or different."""
    _write_head(connection, record, now)
    _write_turns(connection, record)
    _write_statements(connection, record)


def stored_conversation(connection: DuckDBPyConnection, conversation: str) -> StoredConversation | None:
    """Return what is known of a conversation, None where it is not there."""
    head = connection.execute(
        "SELECT source, format, session_time, user_name, participants, added_at FROM conversations WHERE id = ?", [conversation]
    ).fetchone()
    if head is None:
        return None
    turns = connection.execute(
        "SELECT ref, hash FROM turns WHERE conversation = ? ORDER BY position", [conversation]
    ).fetchall()
    schemas = connection.execute(
        "SELECT schema_name FROM remembered WHERE conversation = ? ORDER BY schema_name", [conversation]
    ).fetchall()
    touched = connection.execute(
        "SELECT schema_name, memory_id FROM history WHERE conversation = ? GROUP BY ALL ORDER BY min(seq)", [conversation]
    ).fetchall()
    memories: dict[str, tuple[str, ...]] = {}
    for schema, memory_id in touched:
        memories[schema] = (*memories.get(schema, ()), memory_id)
    return StoredConversation(
        id=conversation,
        source=head[0],
        format=head[1],
        session_time=_time(head[2]),
        user=head[3],
        participants=tuple(json.loads(head[4])),
        added_at=aware(head[5]),
        turns=dict(turns),
        schemas=tuple(row[0] for row in schemas),
        memories=memories,
    )


def stored_turns(connection: DuckDBPyConnection, conversation: str) -> tuple[Turn, ...]:
    """Return the masked turns of a conversation in order."""
    rows = connection.execute(
        "SELECT ref, role, speaker, time, text, message, start_offset, session FROM turns "
        "WHERE conversation = ? ORDER BY position",
        [conversation],
    ).fetchall()
    return tuple(Turn(r[0], r[1], r[2], _time(r[3]), r[4], r[5], r[6], r[7]) for r in rows)


def statement_counts(connection: DuckDBPyConnection, user: str | None, besides: str | None) -> Mapping[str, int]:
    """Return in how many conversations of a user each statement key was heard, one conversation left out on request."""
    rows = connection.execute(
        "SELECT comparison_key, count(DISTINCT conversation) FROM statements "
        "WHERE user_name IS NOT DISTINCT FROM ? AND conversation IS DISTINCT FROM ? GROUP BY comparison_key ORDER BY 1",
        [user, besides],
    ).fetchall()
    return {key: int(count) for key, count in rows}


def forget_schema(connection: DuckDBPyConnection, conversation: str, schema: str) -> None:
    """Note that a conversation is not remembered with a schema; its statements go with the last one."""
    connection.execute("DELETE FROM remembered WHERE conversation = ? AND schema_name = ?", [conversation, schema])
    connection.execute(
        "DELETE FROM statements WHERE conversation = ? AND NOT EXISTS (SELECT 1 FROM remembered r WHERE r.conversation = ?)",
        [conversation, conversation],
    )


def _write_head(connection: DuckDBPyConnection, record: ConversationRecord, now: datetime) -> None:
    values = [
        storable(record.source),
        record.format,
        storable(record.session_time),
        storable(record.user),
        to_text(record.participants),
    ]
    if connection.execute("SELECT 1 FROM conversations WHERE id = ?", [record.id]).fetchone():
        connection.execute(
            "UPDATE conversations SET source = ?, format = ?, session_time = ?, user_name = ?, participants = ? WHERE id = ?",
            [*values, record.id],
        )
    else:
        connection.execute("INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?)", [record.id, *values, naive(now)])
    known = connection.execute(
        "SELECT 1 FROM remembered WHERE conversation = ? AND schema_name = ?", [record.id, record.schema]
    ).fetchone()
    if known is None:
        connection.execute("INSERT INTO remembered VALUES (?, ?, ?, ?)", [record.id, record.schema, record.user, naive(now)])


def _write_turns(connection: DuckDBPyConnection, record: ConversationRecord) -> None:
    have = dict(connection.execute("SELECT ref, hash FROM turns WHERE conversation = ?", [record.id]).fetchall())
    rows = [_turn_row(record.id, turn) for turn in record.turns if have.get(turn.ref) != turn_hash(turn)]
    _replace(connection, "turns", "ref", record.id, rows)


def _write_statements(connection: DuckDBPyConnection, record: ConversationRecord) -> None:
    have = dict(connection.execute("SELECT id, content FROM statements WHERE conversation = ?", [record.id]).fetchall())
    rows: list[dict[str, Any]] = []
    for number, statement in enumerate(record.statements):
        content = to_text(statement)
        if have.get(statement.id) != content:
            rows.append(
                {
                    "conversation": record.id,
                    "position": number,
                    "id": statement.id,
                    "comparison_key": storable(record.keys.get(statement.id) or statement_key(statement)),
                    "user_name": storable(record.user),
                    "content": content,
                }
            )
    _replace(connection, "statements", "id", record.id, rows)


def _replace(connection: DuckDBPyConnection, table: str, key: str, conversation: str, rows: list[dict[str, Any]]) -> None:
    connection.execute(
        f"DELETE FROM {table} WHERE conversation = ? AND {key} IN {TEXTS}",
        [conversation, bound(row[key] for row in rows)],
    )
    insert(connection, table, rows)


def _turn_row(conversation: str, turn: Turn) -> dict[str, Any]:
    return {
        "conversation": conversation,
        "position": int(turn.ref[1:]) if turn.ref[1:].isdigit() else 0,
        "ref": storable(turn.ref),
        "role": turn.role,
        "speaker": storable(turn.speaker),
        "time": storable(turn.time),
        "session": storable(turn.session),
        "message": turn.message,
        "start_offset": turn.start,
        "text": storable(turn.text),
        "hash": turn_hash(turn),
    }


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def evidence_turns(connection: DuckDBPyConnection, memory_id: str) -> list[dict[str, Any]]:
    """Return the turns behind a memory, each once, with the places in them."""
    found = connection.execute(
        "SELECT e.conversation, e.ref, e.start_offset, e.end_offset, t.role, t.speaker, t.time, t.text FROM evidence e "
        "LEFT JOIN turns t ON t.conversation = e.conversation AND t.ref = e.ref WHERE e.memory_id = ? ORDER BY e.position",
        [memory_id],
    ).fetchall()
    turns: dict[tuple[str | None, str], dict[str, Any]] = {}
    for conversation, ref, start, end, *rest in found:
        entry = {"conversation": conversation, "ref": ref, **dict(zip(("role", "speaker", "time", "text"), rest, strict=True))}
        turn = turns.setdefault((conversation, ref), {**entry, "spans": []})
        if start is not None:
            turn["spans"].append([start, end])
    return list(turns.values())
