"""Triaged facts: operations on a set of known memories, four gates, most turns give nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

from pydantic import Field

from hybrid.config import Settings
from hybrid.data import Answer, Document, Question, Rejection, Span, Statement
from hybrid.memory import Known, Memory, Operation, apply, identifier
from hybrid.schemas.comparing import Comparison, compared
from hybrid.schemas.merging import merge_by_key
from hybrid.schemas.policy import policy
from hybrid.schemas.schema import OutputModel, Schema, spans
from hybrid.schemas.wording import shortened, when_text

NAME = "facts"
Category = Literal["identity", "preference", "decision", "rule", "project", "configuration", "technical", "relationship"]


class FactOutput(OutputModel):
    """Hold one operation on the known memories."""

    operation: Literal["add", "update", "delete", "skip"]
    memory_id: str | None = None
    category: Category
    text: str
    importance: float = Field(ge=0, le=1)
    expires_at: str | None = None
    gates: dict[str, bool]
    gate_reasons: dict[str, str]
    when: str | None = None
    subject: str | None = None


def draft(document: Document, known: Known, settings: Settings) -> tuple[FactOutput, ...]:
    """Return the facts that pass all four gates, compared with what is known."""
    rules = policy(NAME)
    made = (_output(s, known, rules, document) for s in document.statements)
    return tuple(output for output in made if output is not None)


def _output(s: Statement, known: Known, rules: dict[str, Any], document: Document) -> FactOutput | None:
    category = _category(s, rules)
    if category is None or s.confidence < rules["confidence_threshold"]:
        return None
    text = _text(s, category, rules, document)
    comparison = compared(text, [m for m in known.current() if m.schema in (NAME, "")], rules["compare"], s.subject)
    if comparison.verdict == "known":
        return None
    days = rules["days"].get(category)
    expires = (s.said + timedelta(days=days)).date().isoformat() if days and s.said is not None else None
    return FactOutput(
        operation="update" if comparison.verdict == "changed" else "add",
        memory_id=comparison.memory.id if comparison.memory is not None else None,
        category=category,
        text=_within(_combined(text, comparison), rules["word_limit"]),
        importance=rules["importance"][category],
        expires_at=expires,
        gates={"future_utility": True, "novelty": True, "factual": True, "safe": True},
        gate_reasons={
            "future_utility": f"{category} holds beyond this conversation",
            "novelty": comparison.reason,
            "factual": "stated outright" if "hedged" not in s.features else "stated with reserve",
            "safe": "no credential in the text",
        },
        when=s.when.interval if s.when is not None else None,
        subject=s.subject,
        evidence=s.refs,
        evidence_spans=spans(s.evidence),
        statement=s.id,
        filled_by={"text": s.filled_by.get("text", "rules"), "category": s.filled_by.get("kind", "rules")},
    )


def _category(s: Statement, rules: dict[str, Any]) -> Category | None:
    reading = str(s.details.get("reading", ""))
    if s.role == "assistant" and s.kind not in rules["assistant_kinds"]:
        return None
    category: Category | None = rules["readings"].get(reading) or rules["kinds"].get(s.kind)
    personal = category in ("identity", "preference", "project") and reading not in rules["readings"]
    return None if personal and not s.about_user else category


def _text(s: Statement, category: str, rules: dict[str, Any], document: Document) -> str:
    """Return the fact in the third person: it begins with "User", and identity names the person."""
    text = s.text
    name = s.speaker or "User"
    if s.about_user and s.details.get("attribute") == "name":
        return f"User's name is {s.details.get('value', name)}."
    if s.about_user and name != "User" and text.startswith(name):
        rest = text[len(name) :]
        text = f"User {name}{rest}" if category == "identity" else f"User{rest}"
    day = f"{s.said:%Y-%m-%d}" if s.said is not None else None
    place = rules["as_of"].get(category)
    if place == "before":
        return f"As of {day}: {text}" if day else f"{text.rstrip('.')} (date unknown)."
    if place == "after":
        return f"{text.rstrip('.')} ({f'as of {day}' if day else 'date unknown'})."
    return text


def _combined(text: str, comparison: Comparison) -> str:
    """Keep what both texts hold: the new one alone where it says everything the old one says."""
    if comparison.verdict != "changed" or comparison.memory is None or comparison.covers:
        return text
    return f"{comparison.memory.text.rstrip('.')}. {text}"


def _within(text: str, words: int) -> str:
    pieces = text.split()
    return text if len(pieces) <= words else shortened(text, len(" ".join(pieces[:words])) + 1)


def ask(document: Document, outputs: tuple[FactOutput, ...]) -> tuple[Question, ...]:
    """Return no question: text and category are fields of the statement."""
    return ()


def assemble(outputs: tuple[FactOutput, ...], answers: tuple[Answer | None, ...]) -> tuple[FactOutput, ...]:
    """Return the outputs as they are."""
    return outputs


def memory(output: FactOutput, conversation: str) -> Memory:
    """Return the row that a fact becomes."""
    return Memory(
        id=output.memory_id or identifier(NAME, conversation, output.statement),
        schema=NAME,
        category=output.category,
        text=output.text,
        key=output.category,
        subject=output.subject,
        when=output.when,
        **when_text(output.when),
        importance=output.importance,
        expires_at=output.expires_at,
        immutable=False,
        conversation=conversation,
        evidence=output.evidence,
        evidence_spans=tuple(Span(s.ref, s.start, s.end) for s in output.evidence_spans),
        fields={"gate_reasons": output.gate_reasons},
    )


def merge(rows: tuple[Memory, ...], known: Known) -> tuple[Operation, ...]:
    """Return the operations on the store: an update in place of a memory from elsewhere, else as every schema adds."""
    operations: list[Operation] = []
    state = known.memories
    for row in rows:
        old = next((m for m in state if m.id == row.id), None)
        if old is not None and old.conversation != row.conversation and old.text != row.text:
            found: tuple[Operation, ...] = (Operation("update", row, row.id, str(row.fields["gate_reasons"]["novelty"])),)
        else:
            found = merge_by_key((row,), Known(state), {})
        operations.extend(found)
        state = apply(state, found)
    return tuple(operations)


def document_form(outputs: tuple[FactOutput, ...]) -> Any:
    """Return tool calls: additions in one call a category, each update on its own."""
    calls: list[dict[str, Any]] = []
    batches: dict[str, list[str]] = {}
    for output in outputs:
        if output.operation == "add":
            batches.setdefault(output.category, []).append(output.text)
        elif output.operation == "update":
            calls.append({"name": "memory_update", "arguments": {"memoryId": output.memory_id, "text": output.text}})
    for category, facts in batches.items():
        importance = policy(NAME)["importance"][category]
        calls.append({"name": "memory_add", "arguments": {"facts": facts, "category": category, "importance": importance}})
    return calls


def check_words(output: FactOutput, document: Document) -> Rejection | None:
    """Refuse a fact of more words than the limit."""
    limit = policy(NAME)["word_limit"] + 12
    return Rejection("too many words", output.evidence, output.text) if len(output.text.split()) > limit else None


SCHEMA: Schema[FactOutput] = Schema(NAME, draft, ask, assemble, merge, memory, None, document_form, (check_words,))
