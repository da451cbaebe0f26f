"""Removing memories and conversations for good; the caller then has the file rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.store.changes import required, retract
from hybrid.store.rows import by_id, remove

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_TABLES = ("conversations", "remembered", "turns", "statements", "memories", "evidence", "history", "postings")


def forget_memory(connection: DuckDBPyConnection, memory_id: str) -> int:
    """Remove a memory with its history; the turns it came from stay. Raises UnknownMemoryError."""
    required(by_id(connection, [memory_id]), memory_id)
    remove(connection, [memory_id], history=True)
    return 1


def forget_conversation(connection: DuckDBPyConnection, conversation: str) -> int:
    """Remove a conversation, its turns and statements, and every memory or step that holds something of it.

    What the conversation changed in memories of other conversations is taken back first. A memory that cannot be parted
    from it, because another conversation went on from there, goes as a whole.
    """
    before = _count(connection)
    schemas = connection.execute("SELECT DISTINCT schema_name FROM history WHERE conversation = ?", [conversation]).fetchall()
    for (schema,) in schemas:
        retract(connection, conversation, schema)
    left = connection.execute(
        "SELECT id FROM memories WHERE conversation = $1 UNION SELECT memory_id FROM evidence WHERE conversation = $1 "
        "UNION SELECT memory_id FROM history WHERE conversation = $1",
        [conversation],
    ).fetchall()
    remove(connection, [row[0] for row in left], history=True)
    connection.execute("DELETE FROM conversations WHERE id = ?", [conversation])
    for table in ("remembered", "turns", "statements"):
        connection.execute(f"DELETE FROM {table} WHERE conversation = ?", [conversation])
    return before - _count(connection)


def forget_everything(connection: DuckDBPyConnection) -> int:
    """Empty every table but the version's."""
    count = _count(connection)
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")
    return count


def _count(connection: DuckDBPyConnection) -> int:
    row = connection.execute("SELECT count(*) FROM memories").fetchone()
    return int(row[0]) if row is not None else 0
