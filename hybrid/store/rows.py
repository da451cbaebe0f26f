"""Memories as rows and rows as memories, and inserting many rows with one statement."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, get_args

from hybrid.data import Evidence
from hybrid.memory import Memory, Status, name_key
from hybrid.store.binding import TEXTS, bound, insert_rows
from hybrid.store.records import storable
from hybrid.store.search import frequencies

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_FIELDS = tuple(f.name for f in dataclasses.fields(Memory))

# Memory's field -> the column, where a word of SQL or one with two meanings is in the way.
_RENAMED = {"schema": "schema_name", "when": "occurred", "first": "first_day", "last": "last_day", "user": "user_name"}
_PLAIN = tuple(name for name in MEMORY_FIELDS if name not in ("evidence", "evidence_spans"))
_COLUMNS = tuple(_RENAMED.get(name, name) for name in _PLAIN)

_TYPES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "memories": (
        ("position", "BIGINT"),
        *(
            (column, {"confidence": "DOUBLE", "importance": "DOUBLE", "immutable": "BOOLEAN"}.get(column, "VARCHAR"))
            for column in _COLUMNS
            if not column.endswith("ed_at")
        ),
        ("created_at", "TIMESTAMP"),
        ("updated_at", "TIMESTAMP"),
        ("subject_key", "VARCHAR"),
        ("length", "DOUBLE"),
    ),
    "evidence": (
        ("memory_id", "VARCHAR"),
        ("position", "BIGINT"),
        ("conversation", "VARCHAR"),
        ("ref", "VARCHAR"),
        ("start_offset", "BIGINT"),
        ("end_offset", "BIGINT"),
    ),
    "postings": (("term", "VARCHAR"), ("memory_id", "VARCHAR"), ("frequency", "DOUBLE")),
    "history": (
        ("seq", "BIGINT"),
        ("memory_id", "VARCHAR"),
        ("schema_name", "VARCHAR"),
        ("operation", "VARCHAR"),
        ("reason", "VARCHAR"),
        ("before", "VARCHAR"),
        ("after", "VARCHAR"),
        ("conversation", "VARCHAR"),
        ("recorded_at", "TIMESTAMP"),
    ),
    "turns": (
        ("conversation", "VARCHAR"),
        ("position", "BIGINT"),
        ("ref", "VARCHAR"),
        ("role", "VARCHAR"),
        ("speaker", "VARCHAR"),
        ("time", "VARCHAR"),
        ("session", "VARCHAR"),
        ("message", "BIGINT"),
        ("start_offset", "BIGINT"),
        ("text", "VARCHAR"),
        ("hash", "VARCHAR"),
    ),
    "statements": (
        ("conversation", "VARCHAR"),
        ("position", "BIGINT"),
        ("id", "VARCHAR"),
        ("comparison_key", "VARCHAR"),
        ("user_name", "VARCHAR"),
        ("content", "VARCHAR"),
    ),
}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_optional_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value))


_FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("id", "schema", "category", "text", "key", "quote"), _is_text),
    **dict.fromkeys(
        ("subject", "speaker", "when", "expires_at", "superseded_by", "conversation", "user", "agent"), _is_optional_text
    ),
    **dict.fromkeys(("confidence", "importance"), _is_optional_number),
    "immutable": lambda value: isinstance(value, bool),
    "status": lambda value: value in get_args(Status),
}


@dataclass(frozen=True, slots=True)
class Stored:
    """Hold a memory as it lies in the store: its place in the order, and the conversation of each piece of evidence."""

    memory: Memory
    position: int
    conversations: tuple[str | None, ...] = ()


def insert(connection: DuckDBPyConnection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that hold a value for each column."""
    insert_rows(connection, table, _TYPES[table], rows)


def put(connection: DuckDBPyConnection, memories: Sequence[Stored]) -> None:
    """Write memories with their evidence and postings in place of what has the same ids."""
    remove(connection, [stored.memory.id for stored in memories])
    rows, evidence, postings = [], [], []
    for stored in memories:
        terms = frequencies(stored.memory)
        rows.append(_row(stored, sum(terms.values())))
        evidence += _evidence_rows(stored)
        postings += [{"term": t, "memory_id": stored.memory.id, "frequency": f} for t, f in terms.items()]
    insert(connection, "memories", rows)
    insert(connection, "evidence", evidence)
    insert(connection, "postings", postings)


def remove(connection: DuckDBPyConnection, ids: Iterable[str], *, history: bool = False) -> None:
    """Remove memories with their evidence and postings, on request with their history."""
    wanted = bound(ids)
    for table, column in (("memories", "id"), ("evidence", "memory_id"), ("postings", "memory_id")):
        connection.execute(f"DELETE FROM {table} WHERE {column} IN {TEXTS}", [wanted])
    if history:
        connection.execute(f"DELETE FROM history WHERE memory_id IN {TEXTS}", [wanted])


def load(connection: DuckDBPyConnection, where: str = "true", values: Sequence[Any] = (), tail: str = "") -> list[Stored]:
    """Return memories in insertion order. `where` and `tail` are our own SQL with placeholders for `values`."""
    columns = ", ".join(f"m.{column}" for column in _COLUMNS)
    found = connection.execute(
        f"SELECT m.position, {columns} FROM memories m WHERE {where} ORDER BY m.position {tail}", list(values)
    ).fetchall()
    evidence = _evidence(connection, [row[1] for row in found])
    return [_stored(row, evidence.get(row[1], [])) for row in found]


def by_id(connection: DuckDBPyConnection, ids: Iterable[str]) -> dict[str, Stored]:
    """Return the memories that have these ids."""
    found = load(connection, f"m.id IN {TEXTS}", [bound(ids)])
    return {stored.memory.id: stored for stored in found}


def memory_from(values: Mapping[str, Any]) -> Memory:
    """Return the memory that `model_dump` described. Raises KeyError, TypeError, ValueError for what it cannot have written."""
    known = {name: values[name] for name in MEMORY_FIELDS if name in values}
    for name in ("first", "last"):
        known[name] = day(known.get(name))
    for name in ("created_at", "updated_at"):
        text = known.get(name)
        known[name] = aware(datetime.fromisoformat(text)) if text else None
    known["evidence"] = tuple(known.get("evidence") or ())
    known["evidence_spans"] = tuple(
        Evidence(str(s["ref"]), int(s["start"]), int(s["end"])) for s in known.get("evidence_spans") or ()
    )
    known["fields"] = dict(known.get("fields") or {})
    memory = Memory(**known)
    wrong = [name for name, fits in _FITS.items() if not fits(getattr(memory, name))]
    if wrong or not all(isinstance(ref, str) for ref in memory.evidence):
        raise ValueError(f"{', '.join(wrong) or 'evidence'} cannot have this value")
    return memory


def clean(memory: Memory) -> Memory:
    """Return the memory with only such text as DuckDB can hold."""
    texts = {name: storable(value) for name in _PLAIN if isinstance(value := getattr(memory, name), str)}
    return dataclasses.replace(memory, **texts, fields=storable(memory.fields))


def day(text: str | None) -> date | None:
    """Return the date, or the datetime where a time of day was written."""
    if not text:
        return None
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)


def aware(time: datetime) -> datetime:
    """Return a time in UTC; a time without a zone is read as UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def naive(time: datetime | None) -> datetime | None:
    """Return a time as UTC without its zone, as the file holds it."""
    return aware(time).replace(tzinfo=None) if time is not None else None


def to_text(values: Any) -> str:
    """Return JSON values as text that is the same for the same values."""
    return json.dumps(storable(values), ensure_ascii=False, separators=(",", ":"))


def _row(stored: Stored, length: float) -> dict[str, Any]:
    memory = stored.memory
    values = {_RENAMED.get(name, name): storable(getattr(memory, name)) for name in _PLAIN}
    values["fields"] = to_text(memory.fields)
    values["created_at"], values["updated_at"] = naive(memory.created_at), naive(memory.updated_at)
    values["subject_key"] = storable(name_key(memory.subject)) if memory.subject is not None else None
    return {**values, "position": stored.position, "length": length}


def _evidence_rows(stored: Stored) -> list[dict[str, Any]]:
    memory = stored.memory
    places = pieces(memory)
    return [
        {
            "memory_id": memory.id,
            "position": number,
            "conversation": stored.conversations[number] if number < len(stored.conversations) else memory.conversation,
            "ref": storable(ref),
            "start_offset": start,
            "end_offset": end,
        }
        for number, (ref, start, end) in enumerate(places)
    ]


def pieces(memory: Memory) -> list[tuple[str, int | None, int | None]]:
    """Return the evidence of a memory in the order of its rows: the references, then the places."""
    return [(ref, None, None) for ref in memory.evidence] + [(s.ref, s.start, s.end) for s in memory.evidence_spans]


def _evidence(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, list[tuple[Any, ...]]]:
    rows = connection.execute(
        "SELECT memory_id, conversation, ref, start_offset, end_offset FROM evidence "
        f"WHERE memory_id IN {TEXTS} ORDER BY memory_id, position",
        [bound(ids)],
    ).fetchall()
    found: dict[str, list[tuple[Any, ...]]] = {}
    for memory_id, *rest in rows:
        found.setdefault(memory_id, []).append(tuple(rest))
    return found


def _stored(row: tuple[Any, ...], evidence: list[tuple[Any, ...]]) -> Stored:
    values = dict(zip(_PLAIN, row[1:], strict=True))
    values["fields"] = json.loads(values["fields"])
    values["first"], values["last"] = day(values["first"]), day(values["last"])
    for name in ("created_at", "updated_at"):
        values[name] = aware(values[name]) if values[name] is not None else None
    values["evidence"] = tuple(ref for _, ref, start, _ in evidence if start is None)
    values["evidence_spans"] = tuple(Evidence(ref, start, end) for _, ref, start, end in evidence if start is not None)
    return Stored(Memory(**values), row[0], tuple(conversation for conversation, *_ in evidence))
