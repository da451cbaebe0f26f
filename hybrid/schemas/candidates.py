"""Staged candidates of six kinds that cite turn references, for a consolidation to come."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from hybrid.config import Settings
from hybrid.data import Answer, Document, Question, Rejection, Span, Statement
from hybrid.memory import Known, Memory, Operation, identifier, normalized
from hybrid.schemas.merging import merge_by_key
from hybrid.schemas.policy import policy
from hybrid.schemas.schema import OutputModel, Schema, spans
from hybrid.schemas.wording import shortened

NAME = "candidates"
Kind = Literal["preference", "working_assumption", "constraint", "decision", "open_question", "lesson"]
_REASON = re.compile(r"\b(?:because|since|so that|as it|due to|instead of|rather than|in order to)\b[^.!?]*", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|once|when|as soon as|before)\b[^.!?,]*", re.IGNORECASE)


class CandidateOutput(OutputModel):
    """Hold one candidate with what the host attaches."""

    id: str
    kind: Kind
    claim: str = Field(min_length=1)
    why_useful: str = Field(min_length=1)
    staleness: str | None = None
    entry_refs: tuple[str, ...] = Field(min_length=1)
    excerpts: tuple[str, ...] = ()


def draft(document: Document, known: Known, settings: Settings) -> tuple[CandidateOutput, ...]:
    """Return a candidate for each statement that may matter later; the checks refuse those that are not whole."""
    rules = policy(NAME)
    told = {normalized(m.text) for m in known.current()}
    made = (_output(s, rules, document) for s in document.statements)
    return tuple(o for o in made if o is not None and normalized(o.claim) not in told)


def _output(s: Statement, rules: dict[str, Any], document: Document) -> CandidateOutput | None:
    kind: Kind | None = rules["readings"].get(str(s.details.get("reading", ""))) or rules["kinds"].get(s.kind)
    if kind is None or s.confidence < rules["confidence_threshold"]:
        return None
    if s.role == "assistant" and s.kind not in rules["assistant_kinds"]:
        return None
    around = _around(s.evidence[0], s.evidence[-1].end, document) or s.quote
    reason = _REASON.search(around)
    until = _UNTIL.search(around)
    staleness = rules["staleness"].get(kind)
    if staleness:
        staleness = staleness.format(until=until.group(0).strip() if until else "when the work it shapes is next touched")
    why = rules["why"][kind].format(reason=reason.group(0).strip() if reason else "as said", action=_action(around))
    return CandidateOutput(
        id=identifier(NAME, s.refs[0], str(s.evidence[0].start), kind),
        kind=kind,
        claim=shortened(s.text, rules["claim_limit"]),
        why_useful=why,
        staleness=staleness,
        entry_refs=s.refs,
        excerpts=(s.quote[:2000],),
        evidence=s.refs,
        evidence_spans=spans(s.evidence),
        statement=s.id,
        filled_by={"claim": s.filled_by.get("text", "rules"), "kind": s.filled_by.get("kind", "rules"), "why_useful": "rules"},
    )


def _around(first: Any, end: int, document: Document) -> str:
    """Return the evidence with the sentence before and after it, where reasons and next actions stand."""
    said = [x for x in document.sentences if x.ref == first.ref]
    places = [i for i, x in enumerate(said) if x.start >= first.start and x.end <= end]
    return " ".join(x.text for x in said[max(0, places[0] - 1) : places[-1] + 2]) if places else ""


def _whole(kind: Kind, text: str, requires: dict[str, list[str]]) -> bool:
    words = requires.get(kind)
    return words is None or any(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in words)


def _action(text: str) -> str:
    match = re.search(
        r"\b(?:need to|have to|will|should|ask|check|decide|clarify|find out|figure out|test|measure|talk to|wait)\b[^.!?]*",
        text,
        re.IGNORECASE,
    )
    return match.group(0).strip() if match else "answer it"


def ask(document: Document, outputs: tuple[CandidateOutput, ...]) -> tuple[Question, ...]:
    """Ask in a few words what a later reader gains, where the rules have no more than a formula to say."""
    return tuple(
        Question(
            id=output.id,
            prompt="candidates.v1",
            values={"kind": output.kind.replace("_", " "), "claim": output.claim},
            schema={
                "type": "object",
                "properties": {"why_useful": {"type": "string", "maxLength": 160}},
                "required": ["why_useful"],
            },
            max_tokens=48,
        )
        for output in outputs
        if output.kind in policy(NAME)["asked"]
    )


def assemble(outputs: tuple[CandidateOutput, ...], answers: tuple[Answer | None, ...]) -> tuple[CandidateOutput, ...]:
    """Return the outputs with the model's reasons where they passed."""
    given = {answer.question: answer for answer in answers if answer is not None}
    made = []
    for output in outputs:
        answer = given.get(output.id)
        if answer is None or not answer.values or not answer.values.get("why_useful"):
            made.append(output)
            continue
        changes = {"why_useful": str(answer.values["why_useful"]), "filled_by": {**output.filled_by, "why_useful": "model"}}
        made.append(output.model_copy(update=changes))
    return tuple(made)


def memory(output: CandidateOutput, conversation: str) -> Memory:
    """Return the row that a staged candidate becomes."""
    return Memory(
        id=identifier(NAME, conversation, output.statement),
        schema=NAME,
        category=output.kind,
        text=output.claim,
        key=output.kind,
        conversation=conversation,
        evidence=output.entry_refs,
        evidence_spans=tuple(Span(s.ref, s.start, s.end) for s in output.evidence_spans),
        quote=output.excerpts[0] if output.excerpts else "",
        fields={"why_useful": output.why_useful, "staleness": output.staleness, "state": "staged"},
    )


def merge(rows: tuple[Memory, ...], known: Known) -> tuple[Operation, ...]:
    """Return what is staged: each candidate once."""
    return merge_by_key(rows, known, {})


def document_form(outputs: tuple[CandidateOutput, ...]) -> Any:
    """Return the staging calls and the one that finishes the run."""
    calls: list[dict[str, Any]] = []
    for output in outputs:
        values: dict[str, Any] = {"kind": output.kind, "claim": output.claim, "why_useful": output.why_useful}
        if output.staleness:
            values["staleness"] = output.staleness
        calls.append({"name": "StageMemoryCandidate", "arguments": {**values, "entry_refs": list(output.entry_refs)}})
    finish: dict[str, Any] = {"staged_count": len(outputs)}
    if not outputs:
        finish["no_candidates_reason"] = (
            "no turn holds a lasting preference, assumption, constraint, decision, open question or lesson"
        )
    return [*calls, {"name": "FinishMemoryExtraction", "arguments": finish}]


def check_refs(output: CandidateOutput, document: Document) -> Rejection | None:
    """Refuse a reference that was never issued."""
    issued = {turn.ref for turn in document.turns}
    return None if set(output.entry_refs) <= issued else Rejection("unknown reference", output.evidence, output.claim)


def check_whole(output: CandidateOutput, document: Document) -> Rejection | None:
    """Refuse a decision without reason or alternative, and an open question without a next action."""
    span = output.evidence_spans[0]
    around = _around(span, output.evidence_spans[-1].end, document) or " ".join(output.excerpts)
    if _whole(output.kind, around, policy(NAME)["requires"]):
        return None
    missing = {"decision": "decision without reason or alternative", "open_question": "open question without next action"}
    return Rejection(missing.get(output.kind, "incomplete candidate"), output.evidence, output.claim)


SCHEMA: Schema[CandidateOutput] = Schema(
    NAME, draft, ask, assemble, merge, memory, None, document_form, (check_refs, check_whole)
)
