"""Extract from a conversation while it happens."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hybrid.api.extraction import accounted, annotate, outputs, usage_of, with_user
from hybrid.api.remembering import Run, remembered
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message
from hybrid.errors import UsageError
from hybrid.memory import Changes, Known, Memory, Operation, apply
from hybrid.refine import ModelUse, refine
from hybrid.runtime.runtime import Runtime
from hybrid.schemas import named
from hybrid.store import Store


class Extractor:
    """Extract from a conversation while it happens: only new turns are worked on, earlier ones are context.

    A turn is a Message, or a mapping with `role`, `content` and optional `name` and `time`. A turn without a time carries
    this machine's clock. Without a store, memories are kept in `.memories` alone.
    """

    def __init__(
        self,
        store: Store | None = None,
        schema: str = "memories",
        user: str | None = None,
        runtime: Runtime | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        self._settings = with_user(settings or Settings(), user)
        self._schema = named(schema)
        self._store = store
        self._runtime = runtime
        self._messages: tuple[Message, ...] = ()
        self._document: Document | None = None
        self._memories: tuple[Memory, ...] = ()

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Return what this conversation has given so far and still holds."""
        return tuple(m for m in self._memories if m.status == "current")

    def observe(self, *turns: Message | Mapping[str, Any]) -> Changes:
        """Take new turns of the conversation and return what they change."""
        messages = self._messages + tuple(_message(turn) for turn in turns)
        first = next((m.time for m in messages if m.time is not None), None)
        document = annotate(Conversation(messages, first, format="messages"), self._settings, previous=self._document)
        run = Run(self._schema, self._settings, self._runtime)
        if self._store is not None:
            changes = remembered(document, self._store, run)
        else:
            changes = _in_memory(document, self._memories, run)
        self._messages, self._document = messages, document
        self._memories = apply(self._memories, [o for o in changes.operations if _applies(o, self._memories)])
        return changes


def _in_memory(document: Document, memories: tuple[Memory, ...], run: Run) -> Changes:
    started = time.perf_counter()
    use = ModelUse()
    if run.runtime is not None:
        document, use = refine(document, run.runtime, deadline_s=run.settings.deadline_s)
    known = Known(memories)
    made, rejected, asked = outputs(run.schema, document, known, run.settings, run.runtime)
    rows = tuple(replace(run.schema.memory(o, "live"), user=run.settings.user) for o in made)
    extraction = accounted(run.schema, document, made, rejected, usage_of(run.runtime, use.plus(asked), started))
    return Changes("live", run.schema.merge(rows, known), len(document.turns), len(document.turns), extraction)


def _applies(operation: Operation, memories: tuple[Memory, ...]) -> bool:
    known = {m.id for m in memories}
    return operation.kind == "add" or operation.target in known


def _message(turn: Message | Mapping[str, Any]) -> Message:
    """Return a live turn as a message; without a time it carries this machine's clock."""
    if isinstance(turn, Message):
        return turn if turn.time is not None else replace(turn, time=datetime.now())
    if not isinstance(turn.get("content"), str):
        raise UsageError(
            "a turn needs the key content with text", "for example {'role': 'user', 'content': 'I moved to Ghent'}"
        )
    role = turn.get("role", "user")
    if role not in ("user", "assistant", "system", "tool"):
        raise UsageError("a turn has an unknown role", "allowed: user, assistant, system, tool")
    when = turn.get("time")
    moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    return Message(role, turn["content"], turn.get("name"), moment or datetime.now())
