"""Extract from a conversation while it happens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from hybrid.api.extraction import accounted, annotate, outputs, usage_of, with_user
from hybrid.api.remembering import Run, remembered
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message, Statement
from hybrid.errors import UsageError
from hybrid.memory import Changes, Known, Memory, Operation, apply
from hybrid.refine import ModelUse, refine
from hybrid.runtime.runtime import Runtime
from hybrid.schemas import named
from hybrid.store import Store

# A conversation that is not kept needs no name of its own.
_LIVE = "live"


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
        self._conversation: str | None = None
        self._said: dict[str, tuple[Statement, Statement]] = {}

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Return what this conversation has given so far and still holds."""
        if self._store is not None and self._conversation is not None:
            kept = self._store.list(conversation=self._conversation, schema=self._schema.name, expired=True)
            return tuple(m for m in kept if m.conversation == self._conversation)
        return tuple(m for m in self._memories if m.status == "current")

    def observe(self, *turns: Message | Mapping[str, Any]) -> Changes:
        """Take new turns of the conversation and return what they change. Raises UsageError for a turn that is none."""
        messages = self._messages + tuple(_message(turn) for turn in turns)
        first = next((m.time for m in messages if m.time is not None), None)
        document = annotate(Conversation(messages, first, format="messages"), self._settings, previous=self._document)
        if self._store is not None:
            changes = remembered(document, self._store, Run(self._schema, self._settings, self._runtime))
            self._conversation = changes.conversation
        else:
            changes = self._in_memory(document)
        self._messages, self._document = messages, document
        return changes

    def _in_memory(self, document: Document) -> Changes:
        started = time.perf_counter()
        use = ModelUse()
        if self._runtime is not None:
            document, use = self._refined(document, self._runtime)
        # Derived from the whole each time: a later turn may say who the earlier ones are about.
        made, rejected, asked = outputs(self._schema, document, Known(), self._settings, self._runtime)
        rows = tuple(replace(self._schema.memory(o, _LIVE), user=self._settings.user) for o in made)
        steps = self._schema.merge(rows, Known())
        before, self._memories = self._memories, apply((), steps)
        extraction = accounted(self._schema, document, made, rejected, usage_of(self._runtime, use.plus(asked), started))
        seen = len(self._document.turns) if self._document is not None else 0
        turns = len(document.turns)
        return Changes(_LIVE, _difference(before, self._memories, steps), turns, max(0, turns - seen), extraction)

    def _refined(self, document: Document, runtime: Runtime) -> tuple[Document, ModelUse]:
        """Let the model work on the statements that are new or read otherwise than before."""
        fresh = [s for s in document.statements if s.id not in self._said or self._said[s.id][0] != s]
        part, use = refine(replace(document, statements=tuple(fresh)), runtime, deadline_s=self._settings.deadline_s)
        self._said.update({s.id: (s, better) for s, better in zip(fresh, part.statements, strict=True)})
        return replace(document, statements=tuple(self._said[s.id][1] for s in document.statements)), use


def _difference(before: Sequence[Memory], after: Sequence[Memory], steps: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return the operations that lead from one state to the next."""
    old = {m.id: m for m in before}
    new = {m.id: m for m in after}
    added = [o for o in steps if o.kind in ("add", "supersede") and o.memory is not None and o.memory.id not in old]
    replaced = {o.target for o in added if o.kind == "supersede"}
    changed = [Operation("update", new[i], i, "told again") for i in new if i in old and i not in replaced and new[i] != old[i]]
    gone = [Operation("delete", None, i, "read otherwise now") for i in old if i not in new]
    return (*gone, *changed, *added)


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
    return Message(role, turn["content"], turn.get("name"), _time(turn.get("time")))


def _time(value: Any) -> datetime:
    if value is None:
        return datetime.now()
    try:
        return value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise UsageError("a turn has a time that is no date-time", "give ISO 8601, for example 2024-03-04T18:30") from error
