"""Make self-contained, third-person, dated, attributed statements, once for all schemas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybrid.config import Settings
from hybrid.data import Cue, Document, Rejection, Sentence, Statement, Turn
from hybrid.memory import identifier, normalized
from hybrid.stages.statements.building import Builder
from hybrid.stages.statements.composing import composed
from hybrid.stages.statements.composites import Composite, case, procedure, tool_use
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.dialogue import confirmation, offer
from hybrid.stages.statements.who import Speakers, introduced

__all__ = ["run"]

# So many turns of one speaker after a problem, its solution is still looked for.
_CASE_WINDOW = 4


def run(document: Document, settings: Settings) -> Document:
    """Return the document with its statements, in the order of the turns; what could not be said clearly is rejected."""
    context = Context.of(document, Speakers(document, introduced(document)))
    items = list(_made(_Material.of(document), context))
    named = [replace(s, id=_id(s)) for s in items if isinstance(s, Statement)]
    rejected = tuple(r for r in items if isinstance(r, Rejection))
    return replace(document, statements=tuple(_merged(named)), rejected=document.rejected + rejected)


@dataclass(frozen=True, slots=True)
class _Material:
    """Hold cues and sentences by turn."""

    document: Document
    cues: dict[str, list[Cue]]
    sentences: dict[str, list[Sentence]]

    @classmethod
    def of(cls, document: Document) -> _Material:
        cues: dict[str, list[Cue]] = {}
        sentences: dict[str, list[Sentence]] = {}
        for cue in document.cues:
            cues.setdefault(cue.ref, []).append(cue)
        for sentence in document.sentences:
            sentences.setdefault(sentence.ref, []).append(sentence)
        return cls(document, cues, sentences)

    def parts(self, turn: Turn) -> list[tuple[Cue, Sentence]]:
        """Return the pieces of cases in a turn with their sentences."""
        by_place = {(s.start, s.end): s for s in self.sentences.get(turn.ref, [])}
        found = self.cues.get(turn.ref, [])
        return [(c, by_place[c.start, c.end]) for c in found if c.kind == "case" and (c.start, c.end) in by_place]


def _made(material: _Material, context: Context) -> Iterator[Statement | Rejection]:
    builder = Builder(context)
    composites = _composites(material)
    covered = {(span.ref, span.start, span.end) for _, composite in composites for span in composite.spans}
    offers = [c for c in material.document.cues if c.captures.get("part") == "offer"]
    for turn in material.document.turns:
        cues = material.cues.get(turn.ref, [])
        if not cues:
            continue
        for at, composite in composites:
            if at == turn.ref:
                yield composed(composite, turn, context)
        if (turn.ref, 0, len(turn.text)) in covered:
            continue
        answered: set[tuple[int, int]] = set()
        for cue in cues:
            if cue.captures.get("part") == "confirmation":
                yield from confirmation(context, turn, cue, material.sentences)
            if cue.captures.get("part") == "deferral" and not answered:
                made = offer(context, turn, cue, offers, material.sentences)
                if made is not None:
                    answered.add((cue.start, cue.end))
                    yield made
        plain = [c for c in cues if not c.captures.get("part") and c.kind not in ("procedure", "tool_use")]
        free = [c for c in plain if (c.ref, c.start, c.end) not in covered and (c.start, c.end) not in answered]
        yield from builder.sentences(turn, material.sentences.get(turn.ref, []), free)


def _composites(material: _Material) -> list[tuple[str, Composite]]:
    """Return what needs several places, each with the turn where it is complete."""
    made: list[tuple[str, Composite]] = []
    waiting: dict[str | None, list[tuple[int, tuple[Cue, Sentence]]]] = {}
    for number, turn in enumerate(material.document.turns):
        parts = material.parts(turn)
        earlier = [part for at, part in waiting.get(turn.speaker, []) if number - at <= _CASE_WINDOW]
        found = case(parts) or (case([*earlier, *parts]) if any(c.captures["part"] == "solution" for c, _ in parts) else None)
        if found is not None:
            made.append((turn.ref, found))
            waiting[turn.speaker] = []
        elif parts:
            waiting.setdefault(turn.speaker, []).extend((number, part) for part in parts)
        for cue in material.cues.get(turn.ref, []):
            other = procedure(cue, turn) if cue.kind == "procedure" else tool_use(cue, turn) if cue.kind == "tool_use" else None
            if other is not None:
                made.append((turn.ref, other))
    return made


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
