"""Extract from a conversation while it happens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any

from hybrid.api.extraction import accounted, annotate, outputs, usage_of, with_user
from hybrid.api.remembering import Run, improved, remembered
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
    this machine's clock. Without a store, memories are kept in `.memories` alone. With `background`, the rules' memories are
    committed at once and the model words them in a thread; `wait` ends when all of that is done.
    """

    def __init__(
        self,
        store: Store | None = None,
        schema: str = "memories",
        user: str | None = None,
        runtime: Runtime | None = None,
        *,
        settings: Settings | None = None,
        background: bool = False,
    ) -> None:
        if background and (store is None or runtime is None):
            raise UsageError("background work needs a store and a runtime", "give both, or leave background out")
        self._worker = ThreadPoolExecutor(1, "hybrid-refine") if background else None
        self._jobs: list[Future[ModelUse]] = []
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
            inline = self._runtime if self._worker is None else None
            changes = remembered(document, self._store, Run(self._schema, self._settings, inline))
            self._conversation = changes.conversation
            self._word_later(document, changes)
        else:
            changes = self._in_memory(document)
        self._messages, self._document = messages, document
        return changes

    def wait(self) -> ModelUse:
        """Wait for the model's work in the background and return what it cost. Raises what that work raised."""
        jobs, self._jobs = self._jobs, []
        use = ModelUse()
        for job in jobs:
            use = use.plus(job.result())
        return use

    def _word_later(self, document: Document, changes: Changes) -> None:
        if self._worker is None or self._store is None:
            return
        changed = (o.memory for o in changes.operations if o.kind != "skip" and o.memory is not None)
        refs = {span.ref for memory in changed for span in memory.evidence_spans}
        wanted = frozenset(s.id for s in document.statements if set(s.refs) & refs)
        if wanted:
            run = Run(self._schema, self._settings, self._runtime)
            self._jobs.append(self._worker.submit(improved, document, self._store, changes.conversation, run, wanted))

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
