"""Durable entries: nine keys, fail closed, persistence from explicit words or from two conversations."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from hybrid.config import Settings
from hybrid.data import Answer, Document, Question, Rejection, Span, Statement
from hybrid.memory import Known, Memory, Operation, identifier, normalized
from hybrid.schemas.keys import snake
from hybrid.schemas.merging import merge_by_key
from hybrid.schemas.policy import policy
from hybrid.schemas.schema import OutputModel, Schema, spans
from hybrid.schemas.wording import shortened

NAME = "entries"
Type = Literal["user", "feedback", "project", "reference"]
KEYS = ("type", "key", "content", "scope", "stability", "confidence", "evidence_count", "expires_at", "explicitly_persistent")


class EntryOutput(OutputModel):
    """Hold one entry."""

    type: Type
    key: str = Field(pattern=r"^[a-z0-9_]+$")
    content: str = Field(min_length=1)
    scope: Literal["turn", "session", "project", "user", "global"]
    stability: Literal["transient", "ongoing", "durable"]
    confidence: float = Field(ge=0, le=1)
    evidence_count: int = Field(ge=1)
    expires_at: str | None = None
    explicitly_persistent: bool


def statement_key(s: Statement) -> str:
    """Return by what the same wish is recognised in another conversation."""
    return f"{s.kind}:{normalized(s.topic)}:{s.polarity}"


def draft(document: Document, known: Known, settings: Settings) -> tuple[EntryOutput, ...]:
    """Return the entries that are not known already; the checks refuse those that the policy does not admit."""
    rules = policy(NAME)
    made: dict[tuple[str, str], EntryOutput] = {}
    for s in document.statements:
        output = _output(s, known, rules)
        if output is not None and not _known(output, known):
            made[output.type, output.key] = output
    return tuple(made.values())


def _output(s: Statement, known: Known, rules: dict[str, Any]) -> EntryOutput | None:
    reading = str(s.details.get("reading", ""))
    kind: Type | None = rules["readings"].get(reading) or rules["kinds"].get(s.kind)
    if kind is None or s.role != "user" or (kind in ("user", "feedback") and not s.about_user):
        return None
    count = 1 + known.counts.get(statement_key(s), 0)
    lasting = kind in ("user", "feedback") or s.kind in ("constraint", "reference", "rule")
    once = s.kind == "wish" and count < rules["admission"]["conversations"]
    return EntryOutput(
        type=kind,
        key=_key(s, kind),
        content=shortened(s.text, rules["admission"]["content_limit"]),
        scope="turn" if once else "user" if kind in ("user", "feedback") else "project",
        stability="transient" if once else "durable" if lasting else "ongoing",
        confidence=max(s.confidence, 0.7) if s.kind == "wish" and not once else s.confidence,
        evidence_count=count,
        expires_at=_expiry(s, rules["admission"]["ending"]),
        explicitly_persistent=s.kind != "wish" and _persistent(s, rules["admission"]["persistent"]),
        evidence=s.refs,
        evidence_spans=spans(s.evidence),
        statement=s.id,
        filled_by={"content": s.filled_by.get("text", "rules"), "type": s.filled_by.get("kind", "rules")},
    )


def _key(s: Statement, kind: Type) -> str:
    attribute = s.details.get("attribute")
    prefix = "no_" if s.kind == "rule" and re.search(r"\b(?:never|don't|do not|stop)\b", s.quote, re.IGNORECASE) else ""
    return (
        snake(str(attribute))
        if attribute and kind == "user"
        else snake(f"{prefix}{s.topics[0] if kind == 'feedback' and s.topics else s.topic}")
    )


def _persistent(s: Statement, words: list[str]) -> bool:
    if s.kind in ("rule",) or "persistent" in s.features:
        return any(re.search(rf"\b{re.escape(word)}\b", s.quote, re.IGNORECASE) for word in words)
    return False


def _expiry(s: Statement, words: list[str]) -> str | None:
    if s.when is None or s.when.last is None:
        return None
    ends = any(re.search(rf"\b{re.escape(word)}\b", s.quote, re.IGNORECASE) for word in words)
    return s.when.last.isoformat()[:10] if ends else None


def _known(output: EntryOutput, known: Known) -> bool:
    texts = {normalized(m.text.partition(": ")[2] or m.text) for m in known.current()} | {
        normalized(m.text) for m in known.current()
    }
    return normalized(output.content) in texts


def ask(document: Document, outputs: tuple[EntryOutput, ...]) -> tuple[Question, ...]:
    """Return no question: content and type are fields of the statement."""
    return ()


def assemble(outputs: tuple[EntryOutput, ...], answers: tuple[Answer | None, ...]) -> tuple[EntryOutput, ...]:
    """Return the outputs as they are."""
    return outputs


def memory(output: EntryOutput, conversation: str) -> Memory:
    """Return the row that an entry becomes."""
    return Memory(
        id=identifier(NAME, conversation, output.statement),
        schema=NAME,
        category=output.type,
        text=output.content,
        key=output.key,
        confidence=output.confidence,
        expires_at=output.expires_at,
        conversation=conversation,
        evidence=output.evidence,
        evidence_spans=tuple(Span(s.ref, s.start, s.end) for s in output.evidence_spans),
        fields={name: getattr(output, name) for name in ("scope", "stability", "evidence_count", "explicitly_persistent")},
    )


def merge(rows: tuple[Memory, ...], known: Known) -> tuple[Operation, ...]:
    """Return what the entries change: the same type and key replaces the older entry."""
    return merge_by_key(rows, known, dict.fromkeys(("user", "feedback", "project", "reference"), "replace"))


def document_form(outputs: tuple[EntryOutput, ...]) -> Any:
    """Return the bare array of nine-key objects."""
    return [{name: getattr(output, name) for name in KEYS} for output in outputs]


def check_admission(output: EntryOutput, document: Document) -> Rejection | None:
    """Refuse what the policy of its type does not admit."""
    rules = policy(NAME)
    own = rules["type"][output.type]
    if output.scope not in own["scopes"] or output.stability not in own["stabilities"]:
        return Rejection("holds for one turn only", output.evidence, output.content)
    if output.confidence < own["confidence"]:
        return Rejection("confidence below the threshold", output.evidence, output.content)
    heard = output.evidence_count >= rules["admission"]["conversations"]
    if own["persistence"] and not output.explicitly_persistent and not heard:
        return Rejection("neither said to last nor heard in two conversations", output.evidence, output.content)
    return None


SCHEMA: Schema[EntryOutput] = Schema(
    NAME, draft, ask, assemble, merge, memory, statement_key, document_form, (check_admission,)
)
