"""Keep what a conversation gives: idempotent, resumable, one transaction a batch."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hybrid.api.extraction import Cancel, Progress, accounted, annotate, outputs, usage_of, with_user
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Rejection, Statement
from hybrid.errors import CancelledError
from hybrid.memory import Changes, Known, Memory, Operation, identifier
from hybrid.refine import ModelUse, refine
from hybrid.runtime.runtime import Runtime
from hybrid.schemas import OutputModel, Schema, named
from hybrid.store import ConversationRecord, Store, turn_hash

# With a model, so many statements are refined before what they gave is committed.
_BATCH = 8


def remember(
    conversation: Conversation,
    store: Store,
    schema: str = "memories",
    user: str | None = None,
    runtime: Runtime | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Changes:
    """Extract a conversation and keep the result; the same conversation again adds nothing, a longer one only what is new.

    With a runtime, the result is committed every few statements, so that a call that was interrupted goes on where it
    stopped. `progress` gets (done, total) statements. Raises UsageError, StoreError, CancelledError (everything committed
    so far is kept).
    """
    settings = with_user(settings or Settings(), user)
    document = annotate(conversation, settings, cancel=cancel)
    return remembered(document, store, Run(named(schema), settings, runtime, progress, cancel))


@dataclass(frozen=True, slots=True)
class Run:
    """Hold what one call of remember works with."""

    schema: Schema[Any]
    settings: Settings
    runtime: Runtime | None = None
    progress: Progress | None = None
    cancel: Cancel | None = None


def remembered(document: Document, store: Store, run: Run) -> Changes:
    """Extract an annotated conversation and keep the result."""
    started = time.perf_counter()
    conversation = _conversation_id(document, store, run)
    stored = store.conversation(conversation)
    done = set(stored.turns) if stored is not None and run.schema.name in stored.schemas else set()
    if done and _reinterpreted(document, store, conversation, run):
        store.retract(conversation, run.schema.name)
        done = set()
    new = [s for s in document.statements if any(ref not in done for ref in s.refs)]
    operations: list[Operation] = []
    use = ModelUse()
    kept: list[OutputModel] = []
    rejected: list[Rejection] = []
    finished = 0
    for batch in _batches(new, run.runtime is not None):
        if run.cancel is not None and run.cancel():
            raise CancelledError("stopped by the caller", "what was committed is kept; the same call goes on from there")
        part = replace(document, statements=tuple(batch))
        if run.runtime is not None:
            moved = _moved(run.progress, finished, len(new))
            part, spent = refine(part, run.runtime, deadline_s=run.settings.deadline_s, progress=moved, cancel=run.cancel)
            use = use.plus(spent)
        known = store.known(run.schema.name, run.settings.user, besides=conversation)
        # What this conversation gave itself is compared when it is merged, so that the order of calls makes no difference.
        others = replace(known, memories=tuple(m for m in known.memories if m.conversation != conversation))
        made, refused, asked = outputs(run.schema, part, others, run.settings, run.runtime)
        use, kept, rejected = use.plus(asked), [*kept, *made], [*rejected, *refused]
        rows = tuple(replace(run.schema.memory(o, conversation), user=run.settings.user) for o in made)
        changes = run.schema.merge(rows, known)
        store.commit(_record(part, conversation, run, upto=batch[-1].refs[0]), changes)
        operations.extend(changes)
        finished += len(batch)
        if run.progress is not None and run.runtime is None:
            run.progress(finished, len(new))
    store.commit(_record(replace(document, statements=()), conversation, run), ())
    usage = usage_of(run.runtime, use, started)
    extraction = accounted(run.schema, document, tuple(kept), tuple(rejected), usage)
    fresh = sum(t.ref not in (stored.turns if stored else {}) for t in document.turns)
    return Changes(conversation, tuple(operations), len(document.turns), fresh, extraction)


def _moved(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Return what counts the statements of a batch on from those of earlier batches."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def improved(document: Document, store: Store, conversation: str, run: Run, wanted: frozenset[str]) -> ModelUse:
    """Let the model word statements that rules alone have been kept of; what passes updates their memories.

    `wanted` are statement ids. A memory that was changed, replaced or deleted in the meantime stays as it is.
    """
    if run.runtime is None:
        return ModelUse()
    part = replace(document, statements=tuple(s for s in document.statements if s.id in wanted))
    drafted = _rows(part, conversation, run)
    better, use = refine(part, run.runtime, deadline_s=run.settings.deadline_s, cancel=run.cancel)
    current = {m.id: m for m in store.known(run.schema.name, run.settings.user).memories if m.status == "current"}
    operations = [
        Operation("update", replace(current[id], text=row.text, key=row.key, fields=row.fields), id, "better said")
        for id, row in _rows(better, conversation, run).items()
        if id in current
        and current[id].text == drafted[id].text
        and (row.text, row.key, row.fields) != (drafted[id].text, drafted[id].key, drafted[id].fields)
    ]
    if operations:
        store.commit(_record(better, conversation, run), operations)
    return use


def _rows(document: Document, conversation: str, run: Run) -> dict[str, Memory]:
    made, _, _ = outputs(run.schema, document, Known(), run.settings, None)
    return {row.id: row for row in (run.schema.memory(o, conversation) for o in made)}


def _conversation_id(document: Document, store: Store, run: Run) -> str:
    """Return the id by which the conversation is known: its first turn's, so that it may grow."""
    hashes = [turn_hash(turn) for turn in document.turns]
    user = run.settings.user or ""
    wanted = identifier("conversation", user, hashes[0] if hashes else "")
    stored = store.conversation(wanted)
    if stored is not None:
        same = all(stored.turns.get(t.ref, h) == h for t, h in zip(document.turns, hashes, strict=True))
        if not same or len(stored.turns) > len(hashes):
            # Two conversations may begin alike; the whole of this one names it then.
            return wanted if same else identifier("conversation", user, *hashes)
    return wanted


def _reinterpreted(document: Document, store: Store, conversation: str, run: Run) -> bool:
    """Say whether what was made of the earlier turns would be made otherwise now that more is known of the people."""
    drafted = {
        row.id: row for row in (run.schema.memory(o, conversation) for o in run.schema.draft(document, Known(), run.settings))
    }
    mine = [m for m in store.known(run.schema.name, run.settings.user).memories if m.conversation == conversation]
    if run.schema.name == "facts":
        mine = [m for m in mine if m.id in drafted]
    return any(m.id not in drafted or _people(drafted[m.id]) != _people(m) for m in mine)


def _people(memory: Memory) -> tuple[str, str | None, str | None]:
    return memory.category, memory.speaker, memory.subject


def _batches(statements: list[Statement], small: bool) -> Iterable[list[Statement]]:
    """Cut statements into batches at turn borders, so that a turn is committed whole or not at all."""
    batch: list[Statement] = []
    for statement in sorted(statements, key=lambda s: s.refs[0]):
        if small and len(batch) >= _BATCH and batch[-1].refs[0] != statement.refs[0]:
            yield batch
            batch = []
        batch.append(statement)
    if batch:
        yield batch


def _record(document: Document, conversation: str, run: Run, upto: str | None = None) -> ConversationRecord:
    source = document.conversation.source
    return ConversationRecord(
        id=conversation,
        schema=run.schema.name,
        source=Path(source).name if source else None,
        format=document.conversation.format,
        session_time=document.conversation.session_time,
        user=run.settings.user,
        participants=document.participants,
        turns=tuple(t for t in document.turns if upto is None or t.ref <= upto),
        statements=document.statements,
        keys={s.id: run.schema.count_key(s) for s in document.statements} if run.schema.count_key else {},
    )
