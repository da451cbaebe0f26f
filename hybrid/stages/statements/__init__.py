"""Make self-contained, third-person, dated, attributed statements, once for all schemas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hybrid.config import Settings
from hybrid.data import Cue, Document, Rejection, Sentence, Statement
from hybrid.memory import identifier, normalized
from hybrid.stages.statements.building import Builder
from hybrid.stages.statements.composing import composed
from hybrid.stages.statements.composites import Composite, case, procedure, tool_use
from hybrid.stages.statements.who import Speakers, introduced

__all__ = ["run"]


def run(document: Document, settings: Settings) -> Document:
    """Return the document with its statements, in the order of the turns; what could not be said clearly is rejected."""
    builder = Builder(document, Speakers(document, introduced(document)))
    made: list[Statement] = []
    rejected: list[Rejection] = []
    for item in _made(document, builder):
        (made if isinstance(item, Statement) else rejected).append(item)  # type: ignore[arg-type]
    named = [replace(s, id=_id(s)) for s in made]
    return replace(document, statements=tuple(_merged(named)), rejected=document.rejected + tuple(rejected))


def _made(document: Document, builder: Builder) -> Iterator[Statement | Rejection]:
    cues: dict[str, list[Cue]] = {}
    for cue in document.cues:
        cues.setdefault(cue.ref, []).append(cue)
    sentences: dict[str, list[Sentence]] = {}
    for sentence in document.sentences:
        sentences.setdefault(sentence.ref, []).append(sentence)
    for turn in document.turns:
        found = cues.get(turn.ref, [])
        if not found:
            continue
        said = sorted(sentences.get(turn.ref, []), key=lambda s: s.start)
        confirmed = next((c for c in found if c.captures.get("part") == "confirmation"), None)
        if confirmed is not None:
            yield from builder.confirmation(turn, confirmed, sentences)
        whole = _composites(found, said, turn.ref, document)
        for composite in whole:
            yield composed(composite, turn, builder)
        covered = {(span.start, span.end) for composite in whole for span in composite.spans}
        wide = any(end - start == len(turn.text) for start, end in covered)
        plain = [c for c in found if not c.captures.get("part") and c.kind not in ("procedure",) and not _is_tool(c)]
        if not wide:
            yield from builder.sentences(turn, said, [c for c in plain if (c.start, c.end) not in covered])


def _is_tool(cue: Cue) -> bool:
    return cue.kind == "tool_use"


def _composites(cues: list[Cue], sentences: list[Sentence], ref: str, document: Document) -> list[Composite]:
    turn = document.turn(ref)
    by_place = {(s.start, s.end): s for s in sentences}
    parts = [(c, by_place[c.start, c.end]) for c in cues if c.kind == "case" and (c.start, c.end) in by_place]
    made: list[Composite | None] = [case(parts)] if parts else []
    made.extend(procedure(c, turn) for c in cues if c.kind == "procedure")
    made.extend(tool_use(c, turn) for c in cues if c.kind == "tool_use")
    return [composite for composite in made if composite is not None]


def _id(statement: Statement) -> str:
    """Return an id that stays the same when turns are added: place and rule."""
    first = statement.evidence[0]
    return "S" + identifier(first.ref, str(first.start), str(statement.details.get("cue")))[1:13]


def _merged(statements: list[Statement]) -> list[Statement]:
    """Join statements that say the same of the same subject: one statement with all its evidence."""
    kept: dict[tuple[str, str, str], Statement] = {}
    for statement in statements:
        place = (statement.kind, normalized(statement.subject), normalized(statement.text))
        if place in kept:
            evidence = tuple(dict.fromkeys(kept[place].evidence + statement.evidence))
            kept[place] = replace(kept[place], evidence=evidence)
        else:
            kept[place] = statement
    return list(kept.values())
