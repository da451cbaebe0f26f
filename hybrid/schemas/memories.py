"""Eight-category memories: recall first, two spaces, one `extract_*` call for each fact."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from hybrid.config import Settings
from hybrid.data import Answer, Document, Question, Rejection, Span, Statement
from hybrid.memory import Known, Memory, Operation, identifier, normalized
from hybrid.schemas.keys import snake
from hybrid.schemas.merging import merge_by_key
from hybrid.schemas.overview import overview
from hybrid.schemas.policy import policy
from hybrid.schemas.schema import OutputModel, Schema, spans
from hybrid.schemas.wording import shortened, when_text

NAME = "memories"
Category = Literal["profile", "preference", "entity", "event", "case", "pattern", "skill", "tool"]


class MemoryOutput(OutputModel):
    """Hold one memory as an `extract_*` call with its host-made fields."""

    tool: str
    category: Category
    space: Literal["user", "agent"]
    uri: str
    routing_key: str
    abstract: str = Field(max_length=220)
    overview: str
    content: str
    confidence: float = Field(ge=0, le=1)
    when: str | None = None
    who: str | None = None
    where: str | None = None
    evidence_quote: str | None = None
    attributed_speaker: str | None = None
    attribution_basis: Literal["self_first_person", "self_named"] | None = None
    best_for: str | None = None
    optimal_params: str | None = None
    common_failures: str | None = None
    recommendations: str | None = None


def draft(document: Document, known: Known, settings: Settings) -> tuple[MemoryOutput, ...]:
    """Return complete memories from the statements, by rules alone."""
    rules = policy(NAME)
    made = [_output(s, rules, settings, document) for s in document.statements if s.role == "user"]
    return tuple(output for output in made if output is not None)


def _output(s: Statement, rules: dict[str, Any], settings: Settings, document: Document) -> MemoryOutput | None:
    category = category_of(s, rules)
    if category is None or s.confidence < rules["confidence_threshold"]:
        return None
    space = rules["space"][category]
    key = routing_key(s, category)
    owner = (
        f"users/{snake(settings.user or document.user or 'local')}" if space == "user" else f"agents/{snake(settings.agent)}"
    )
    text = _dated(s, category)
    return MemoryOutput(
        tool=f"extract_{category}",
        category=category,
        space=space,
        uri=f"ctx://{snake(settings.account)}/{owner}/memories/{rules['folder'][category]}/{key}",
        routing_key=key,
        abstract=shortened(text, rules["abstract_limit"]),
        overview=overview(s, category, text, rules["sections"][category])[: rules["overview_limit"]],
        content=text,
        confidence=s.confidence,
        when=_when(s, category),
        who=_who(s),
        where=s.where,
        evidence_quote=s.quote,
        attributed_speaker=s.speaker if s.speaker != "User" else "user",
        attribution_basis=s.attribution if category == "profile" else None,
        **{name: s.details.get(name) for name in ("best_for", "optimal_params", "common_failures") if category == "tool"},
        evidence=s.refs,
        evidence_spans=spans(s.evidence),
        statement=s.id,
        filled_by={name: s.filled_by.get(source, "rules") for name, source in _FILLED.items()},
    )


_FILLED = {"category": "kind", "routing_key": "topic", "abstract": "text", "content": "text", "overview": "text"}


def category_of(s: Statement, rules: dict[str, Any]) -> Category | None:
    """Return the category of a statement by the policy and the tie-breakers, None where the kind yields none here."""
    table = rules["user" if s.about_user else "other"]
    category: Category | None = table.get(s.kind)
    if s.attribution == "other_named" and (
        category in ("profile", "preference") or (s.details.get("voice") and s.when is None)
    ):
        return "entity"
    if s.details.get("thing"):
        return "entity"
    dated = s.when is not None and s.when.grain not in ("year", "span") and s.when.interval is not None
    # An explicit time makes a like an event, but a habit stays what it is.
    if category == "preference" and s.kind == "preference" and dated and s.when is not None and s.when.first == s.when.last:
        return "event"
    return category


def routing_key(s: Statement, category: str) -> str:
    """Return the stable ASCII key: attribute, topic, entity's name, or what happened with its date."""
    if category == "profile":
        return snake(str(s.details.get("attribute") or s.topic))
    if category == "entity":
        thing = s.details.get("thing")
        return s.topic if thing else snake(str(s.details.get("key") or s.subject))
    if category == "event":
        day = s.when.first if s.when is not None and s.when.first is not None else s.said
        return f"{s.topic}_{day:%Y%m%d}" if day is not None else s.topic
    return s.topic or snake(s.text)


def _dated(s: Statement, category: str) -> str:
    if category in ("profile", "entity") and s.details.get("changeable") and s.said is not None:
        return f"{s.text.rstrip('.')} (as of {s.said:%Y-%m-%d})."
    if s.kind == "configuration" and s.details.get("reading") == "secret":
        return f"{s.text.rstrip('.')}{f' (as of {s.said:%Y-%m-%d})' if s.said else ''}."
    return s.text


def _when(s: Statement, category: str) -> str | None:
    if s.when is not None and s.when.interval is not None:
        return s.when.interval
    telling = ("plan", "commitment", "feeling", "decision", "configuration")
    happening = s.kind in telling or s.details.get("reading") == "ongoing"
    return s.said.date().isoformat() if category == "event" and happening and s.said is not None else None


def _who(s: Statement) -> str | None:
    people = [s.subject] if s.subject_type in ("person", "group") else [s.speaker or ""]
    people += [name for name in s.people if name not in people]
    return ", ".join(name for name in people if name) or None


def ask(document: Document, outputs: tuple[MemoryOutput, ...]) -> tuple[Question, ...]:
    """Return no question: every semantic field of this schema is a field of the statement."""
    return ()


def assemble(outputs: tuple[MemoryOutput, ...], answers: tuple[Answer | None, ...]) -> tuple[MemoryOutput, ...]:
    """Return the outputs as they are."""
    return outputs


def memory(output: MemoryOutput, conversation: str) -> Memory:
    """Return the row that an output becomes."""
    return Memory(
        id=identifier(NAME, conversation, output.statement),
        schema=NAME,
        category=output.category,
        text=output.content,
        key=output.routing_key,
        subject=(output.who or "").split(", ")[0] or None,
        speaker=output.attributed_speaker,
        when=output.when,
        **when_text(output.when),
        confidence=output.confidence,
        conversation=conversation,
        evidence=output.evidence,
        evidence_spans=tuple(Span(s.ref, s.start, s.end) for s in output.evidence_spans),
        quote=output.evidence_quote or "",
        fields={
            name: value
            for name, value in output.model_dump(mode="json").items()
            if name
            not in (
                "content",
                "category",
                "routing_key",
                "when",
                "confidence",
                "evidence",
                "evidence_spans",
                "evidence_quote",
                "statement",
            )
            and value is not None
        },
    )


def merge(rows: tuple[Memory, ...], known: Known) -> tuple[Operation, ...]:
    """Return what the outputs change: attributes replace, facets collect, happenings are new unless told again."""
    return merge_by_key(rows, known, policy(NAME)["merge"])


def document_form(outputs: tuple[MemoryOutput, ...]) -> Any:
    """Return the outputs as tool calls with the arguments that the requirement document names."""
    hidden = {"tool", "category", "space", "uri", "evidence", "evidence_spans", "statement", "filled_by"}
    calls = []
    for output in outputs:
        values = {k: v for k, v in output.model_dump(mode="json").items() if k not in hidden and v is not None}
        if output.category != "profile":
            for name in ("evidence_quote", "attributed_speaker", "attribution_basis"):
                values.pop(name, None)
        calls.append({"name": output.tool, "arguments": values})
    return calls


def check_profile(output: MemoryOutput, document: Document) -> Rejection | None:
    """Refuse a profile without quote, speaker or basis, or whose speaker is not the user."""
    if output.category != "profile":
        return None
    if not (output.evidence_quote and output.attributed_speaker and output.attribution_basis):
        return Rejection("profile without attribution", output.evidence, output.abstract)
    if document.user is not None and normalized(output.attributed_speaker) not in {
        normalized(n) for n in (document.user, *document.aliases)
    }:
        return Rejection("profile of somebody else", output.evidence, output.abstract)
    return None


def check_event_time(output: MemoryOutput, document: Document) -> Rejection | None:
    """Refuse a `when` that is no ISO date, date-time or interval."""
    if output.when is None:
        return None
    for part in output.when.split("/"):
        if part == "..":
            continue
        try:
            datetime.fromisoformat(part)
        except ValueError:
            return Rejection("relative time in when", output.evidence, output.abstract)
    return None


SCHEMA: Schema[MemoryOutput] = Schema(
    NAME, draft, ask, assemble, merge, memory, None, document_form, (check_profile, check_event_time)
)
