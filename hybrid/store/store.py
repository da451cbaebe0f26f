"""The store: memories, their history and their evidence in one DuckDB file."""

from __future__ import annotations

import builtins
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Unpack, get_args

from hybrid.data import Turn
from hybrid.errors import UnknownMemoryError, UsageError
from hybrid.memory import Known, Memory, Operation, Status, identifier, name_key
from hybrid.store import changes, conversations, forget, rows, search, transfer
from hybrid.store.database import Database
from hybrid.store.records import ConversationRecord, Filters, Hit, StoredConversation, storable

Embedder = Callable[[list[str]], list[list[float]]]

_FILTERS = tuple(Filters.__annotations__)
_STATUSES: tuple[str, ...] = get_args(Status)
_FIXED = ("id", "schema", "status", "superseded_by", "created_at", "updated_at")


class Store:
    """Keep memories in one file that only the user may read; safe to call from several threads and processes.

    `key` encrypts the file. `timeout` is how many seconds a call waits for another process. Every method raises StoreError
    where the file cannot be used and StoreLockedError where somebody keeps it.
    """

    def __init__(
        self, path: str | Path, key: str | None = None, embedder: Embedder | None = None, *, timeout: float = 10.0
    ) -> None:
        if key is not None and not key:
            raise UsageError("the key is empty", "give a key with characters, or none for a plain file")
        self.path = Path(path).expanduser().absolute()
        self.embedder = embedder
        self._database = Database(self.path, storable(key), timeout)
        self._database.create()

    def add(self, text: str, category: str, *, schema: str = "facts", **fields: Any) -> Memory:
        """Keep a new memory and return it; nothing is merged, so adding twice makes two. Credentials in it are masked.

        `fields` may give any column of Memory (`id=` too); other names go to `Memory.fields`. Raises UsageError for blank
        text or category, or an id that is taken.
        """
        _check_words(text=text, category=category, schema=schema)
        text = masked(text)
        memory_id = fields.pop("id", None) or identifier(schema, category, text, uuid.uuid4().hex)
        memory = rows.clean(_with_fields(Memory(memory_id, schema, category, text), fields))
        with self._database.writing() as connection:
            if rows.by_id(connection, [memory.id]):
                raise UsageError(f"the id {memory.id!r} is taken", "leave id out to get a new one, or use update")
            changes.write(connection, [changes.Change(memory, "add", "added")], memory.conversation, _now())
            return rows.by_id(connection, [memory.id])[memory.id].memory

    def get(self, memory_id: str) -> Memory:
        """Return the memory with this id, superseded ones too. Raises UnknownMemoryError, for deleted ones as well."""
        wanted = storable(memory_id)
        with self._database.reading() as connection:
            return _alive(changes.required(rows.by_id(connection, [wanted]), wanted))

    def list(self, limit: int | None = None, **filters: Unpack[Filters]) -> builtins.list[Memory]:
        """Return memories in the order they were added; without filters those that hold at present."""
        if limit is not None and limit < 0:
            raise UsageError(f"limit = {limit} is not allowed", "give 0 or more, or None for all")
        where, values = _where(filters)
        tail, more = ("LIMIT ?", [limit]) if limit is not None else ("", [])
        with self._database.reading() as connection:
            return [stored.memory for stored in rows.load(connection, where, [*values, *more], tail)]

    def search(self, query: str, k: int = 10, **filters: Unpack[Filters]) -> builtins.list[Hit]:
        """Return the `k` memories that fit the words of the query best, best first; none for a query without content words."""
        if k < 0:
            raise UsageError(f"k = {k} is not allowed", "give 0 or more")
        where, values = _where(filters)
        with self._database.reading() as connection:
            found = search.ranked(connection, storable(query), k, where, values)
            stored = rows.by_id(connection, [memory_id for memory_id, _, _ in found])
        return [Hit(stored[memory_id].memory, score, why) for memory_id, score, why in found]

    def update(self, memory_id: str, text: str, *, reason: str = "edited", **fields: Any) -> Memory:
        """Change a memory's text and on request other fields, and return it. Credentials in it are masked.

        Raises UnknownMemoryError, and UsageError for an immutable memory or blank text.
        """
        _check_words(text=text, reason=reason)
        text = masked(text)
        fixed = sorted(set(fields) & set(_FIXED))
        if fixed:
            raise UsageError(f"{fixed[0]} cannot be changed", "add a new memory, or delete this one")
        category = fields.pop("category", None)
        if category is not None:
            _check_words(category=category)
        wanted = storable(memory_id)
        with self._database.writing() as connection:
            old = _alive(changes.required(rows.by_id(connection, [wanted]), wanted))
            new = _with_fields(replace(old, text=text, category=category or old.category), fields)
            steps = changes.planned([Operation("update", new, old.id, reason)], lambda _: old)
            changes.write(connection, steps, None, _now())
            return rows.by_id(connection, [wanted])[wanted].memory

    def delete(self, memory_id: str, reason: str = "deleted") -> Memory:
        """Take a memory out of lists and searches, keep its history, and return it. Raises UnknownMemoryError."""
        wanted = storable(memory_id)
        with self._database.writing() as connection:
            old = _alive(changes.required(rows.by_id(connection, [wanted]), wanted))
            changes.write(connection, changes.planned([Operation("delete", None, wanted, reason)], lambda _: old), None, _now())
            return rows.by_id(connection, [wanted])[wanted].memory

    def history(self, memory_id: str) -> builtins.list[dict[str, Any]]:
        """Return what happened to a memory, oldest first, for deleted ones too. Raises UnknownMemoryError.

        Each entry has seq, memory_id, operation, reason, before, after (the memory as JSON values or None), conversation, at.
        """
        wanted = storable(memory_id)
        with self._database.reading() as connection:
            found = changes.history(connection, [wanted]).get(wanted)
        if not found:
            raise UnknownMemoryError(f"no memory has the id {memory_id!r}", "list the memories to see their ids")
        return [_entry(row) for row in found]

    def evidence(self, memory_id: str) -> builtins.list[dict[str, Any]]:
        """Return the turns that prove a memory: conversation, ref, role, speaker, time, text, and spans as [start, end] pairs.

        A turn that is not in the store has None for role, speaker, time and text. Raises UnknownMemoryError.
        """
        wanted = storable(memory_id)
        with self._database.reading() as connection:
            changes.required(rows.by_id(connection, [wanted]), wanted)
            return conversations.evidence_turns(connection, wanted)

    def export(self, path: str | Path) -> int:
        """Write every memory with evidence and history as JSON Lines, oldest first; return how many. Raises StoreError."""
        target = Path(path).expanduser().absolute()
        if target == self.path:
            raise UsageError("the export would replace the database", "give another path")
        with self._database.reading() as connection:
            texts = transfer.lines(connection)
        transfer.write_lines(target, texts)
        return len(texts)

    def import_(self, path: str | Path) -> int:
        """Take in what `export` wrote; return how many memories were new or newer than those here.

        Raises FormatError naming the line, and then nothing is taken in.
        """
        entries = transfer.read_lines(Path(path).expanduser())
        with self._database.writing() as connection:
            return transfer.take_in(connection, entries, _now())

    def forget(
        self, id: str | None = None, *, conversation: str | None = None, everything: bool = False, dry_run: bool = False
    ) -> int:
        """Remove one memory, one conversation or everything for good, and return how many memories go.

        The file is written anew, so that no byte of them is left in it, its log or its temporary files. The turns behind one
        memory stay until their conversation is forgotten. `dry_run` only counts. Raises UnknownMemoryError, UsageError.
        """
        if (id is not None) + (conversation is not None) + everything != 1:
            raise UsageError("forget needs one of id, conversation and everything", "for example forget(conversation='…')")
        with self._database.writing() as connection:
            if everything:
                count = forget.forget_everything(connection)
            elif conversation is not None:
                count = forget.forget_conversation(connection, storable(conversation))
            else:
                count = forget.forget_memory(connection, storable(id))
            if dry_run:
                connection.execute("ROLLBACK")
                connection.execute("BEGIN")
            else:
                # Should the process end before the rewrite, the next one to open the store makes up for it.
                connection.execute("INSERT INTO pending VALUES ('rewrite')")
        if not dry_run:
            self._database.rewrite()
        return count

    def known(self, schema: str, user: str | None, *, besides: str | None = None) -> Known:
        """Return the current and superseded memories of a schema and user, and how often each statement was heard.

        The counts are numbers of conversations, by statement key, `besides` left out.
        """
        where = "m.schema_name = ? AND m.user_name IS NOT DISTINCT FROM ? AND m.status <> 'deleted'"
        with self._database.reading() as connection:
            found = rows.load(connection, where, [schema, storable(user)])
            counts = conversations.statement_counts(connection, storable(user), storable(besides))
        return Known(tuple(stored.memory for stored in found), counts)

    def conversation(self, conversation_id: str) -> StoredConversation | None:
        """Return what the store knows of a conversation, None where it is not there."""
        with self._database.reading() as connection:
            return conversations.stored_conversation(connection, storable(conversation_id))

    def conversations(self) -> builtins.list[str]:
        """Return the ids of the conversations in the order they came in."""
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute("SELECT id FROM conversations ORDER BY added_at, rowid").fetchall()]

    def turns(self, conversation_id: str) -> tuple[Turn, ...]:
        """Return the masked turns of a conversation in order, none where it is not there."""
        with self._database.reading() as connection:
            return conversations.stored_turns(connection, storable(conversation_id))

    def commit(self, record: ConversationRecord, operations: Sequence[Operation]) -> None:
        """Write a conversation, its new turns and statements, and apply the operations, all or nothing.

        Turns and statements that are there already stay; an edited one replaces its older form. An added memory whose id was
        since changed or deleted from elsewhere stays as it is. Raises UnknownMemoryError for an operation on a memory that
        is not there, UsageError for a change of an immutable one.
        """
        record = replace(record, id=storable(record.id))
        now = _now()
        with self._database.writing() as connection:
            wanted = changes.allowed(connection, operations, record.id)
            targets = {o.target for o in wanted} | {o.memory.id for o in wanted if o.memory is not None}
            stored = rows.by_id(connection, [storable(target) for target in targets if target is not None])
            steps = changes.planned(wanted, lambda target: changes.required(stored, storable(target)))
            conversations.write_conversation(connection, record, now)
            changes.write(connection, steps, record.id, now)

    def retract(self, conversation_id: str, schema: str) -> int:
        """Take back what a conversation did to the memories of a schema, and return how many it touched.

        Afterwards committing the conversation again gives the same state as the first time. Memories that were changed from
        elsewhere since then stay as they are.
        """
        wanted = storable(conversation_id)
        with self._database.writing() as connection:
            count = changes.retract(connection, wanted, schema)
            conversations.forget_schema(connection, wanted, schema)
        return count


def masked(text: str) -> str:
    """Return the text with every credential masked: what a caller writes is no safer than what was said."""
    from hybrid.stages.secrets import find_secrets, mask

    return mask(text, find_secrets(text))


def _now() -> datetime:
    return datetime.now(UTC)


def _alive(memory: Memory) -> Memory:
    if memory.status == "deleted":
        raise UnknownMemoryError(f"the memory {memory.id!r} was deleted", "its history is kept until it is forgotten")
    return memory


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    images = {name: json.loads(row[name]) if row[name] is not None else None for name in ("before", "after")}
    kept = {name: value for name, value in row.items() if name not in ("schema_name", "recorded_at")}
    return {**kept, **images, "at": rows.aware(row["recorded_at"]).isoformat()}


def _check_words(**texts: Any) -> None:
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{name} is blank", f"give {name} with at least one word")


def _with_fields(memory: Memory, given: dict[str, Any]) -> Memory:
    own = {f.name for f in dataclass_fields(Memory)}
    columns = {name: value for name, value in given.items() if name in own and name != "fields"}
    extra = {**memory.fields, **(given.get("fields") or {}), **{n: v for n, v in given.items() if n not in own}}
    if columns.get("when") and not {"first", "last"} & set(columns):
        columns["first"], columns["last"] = _ends(str(columns["when"]))
    try:
        described = {**memory.model_dump(), **storable(columns), "fields": storable(extra)}
        expires = described["expires_at"]
        if expires is not None:
            date.fromisoformat(str(expires)[:10])
        return rows.memory_from(described)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            "a field of the memory has a value that it cannot have", "dates are ISO 8601, evidence is a list"
        ) from error


def _ends(when: str) -> tuple[str | None, str | None]:
    left, _, right = when.partition("/")
    ends: list[str | None] = []
    for end in (left, right or left):
        try:
            rows.day(end)
        except ValueError:
            ends.append(None)
        else:
            ends.append(end)
    return ends[0], ends[1]


def _where(filters: Filters) -> tuple[str, list[Any]]:
    unknown = sorted(set(filters) - set(_FILTERS))
    if unknown:
        raise UsageError(f"unknown filter {unknown[0]!r}", f"allowed: {', '.join(_FILTERS)}")
    status = filters.get("status", "current")
    if status is not None and status not in _STATUSES:
        raise UsageError(f"status = {status!r} is not allowed", f"allowed: {', '.join(_STATUSES)}, or None for all")
    subject = filters.get("subject")
    conversation = filters.get("conversation")
    wanted = {
        "m.schema_name = ?": filters.get("schema"),
        "m.category = ?": filters.get("category"),
        "m.subject_key = ?": name_key(subject) if subject is not None else None,
        "m.user_name = ?": filters.get("user"),
        "m.status = ?": status,
        "(m.expires_at IS NULL OR m.expires_at[1:10] >= ?)": None if filters.get("expired") else date.today().isoformat(),
    }
    parts = [condition for condition, value in wanted.items() if value is not None]
    values = [storable(value) for value in wanted.values() if value is not None]
    if conversation is not None:
        parts.append("(m.conversation = ? OR m.id IN (SELECT e.memory_id FROM evidence e WHERE e.conversation = ?))")
        values += [storable(conversation)] * 2
    return " AND ".join(parts) or "true", values
