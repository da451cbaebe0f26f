"""Word a statement that was put together from several places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybrid.data import Kind, Rejection, Sentence, Statement, Turn
from hybrid.stages.statements import topics
from hybrid.stages.statements.composites import Composite
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.scoring import confidence
from hybrid.stages.statements.writing import UnknownAddressee, Voices, finished, third_person

_LABELS = {"problem": "Problem", "cause": "Cause", "solution": "Solution", "outcome": "Outcome"}


def composed(composite: Composite, turn: Turn, context: Context) -> Statement | Rejection:
    """Return the statement of a case, a procedure or the use of a tool."""
    speaker = context.speakers.name(turn)
    try:
        kind, text, topic, details = _worded(composite, turn, context)
    except UnknownAddressee:
        return Rejection("addressee unknown", (turn.ref,), turn.text[:200])
    first, last = composite.spans[0], composite.spans[-1]
    quote = turn.text[first.start : last.end] if first.ref == last.ref else turn.text
    people = tuple(dict.fromkeys(m.text for m in context.document.mentions if m.ref == turn.ref and m.type == "person"))
    dates = [d for d in context.document.dates if d.ref == turn.ref and d.kind == "date" and d.interval is not None]
    return Statement(
        id="",
        kind=kind,
        subject=speaker,
        speaker=speaker,
        role=turn.role,
        text=text,
        topic=topic,
        quote=quote,
        evidence=composite.spans,
        about_user=context.speakers.is_user(turn),
        attribution=context.speakers.attribution(turn, None),
        when=dates[0] if dates else None,
        said=turn.time,
        people=tuple(name for name in people if name != speaker),
        kinds=(kind,),
        topics=(),
        confidence=confidence(kind, ()),
        details={"cue": composite.cue.rule, **details},
    )


def _worded(composite: Composite, turn: Turn, context: Context) -> tuple[Kind, str, str, dict[str, Any]]:
    if composite.kind == "case":
        return _case(composite, turn, context)
    if composite.kind == "procedure":
        steps = composite.details["steps"]
        purpose = composite.details["purpose"] or steps[0]
        listed = "; ".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
        name = topics.key(_without_frame(purpose), 4)
        text = finished(f"{_without_frame(purpose)}: {listed}")
        return "procedure", text, name, composite.details
    details = composite.details
    voices = context.voices(turn)
    said = [s for s in context.document.sentences if s.ref == turn.ref and not s.question]
    return "tool_use", " ".join(_told(said, voices, context, "")), topics.key(details["tool"]), details


def _told(sentences: Sequence[Sentence], voices: Voices, context: Context, before: str) -> list[str]:
    """Rewrite sentences in order; the name stands where it is first needed, "they" after it."""
    texts: list[str] = []
    for sentence in sentences:
        mentioned = voices.first in " ".join([before, *texts])
        texts.append(third_person(sentence, voices, context.dates(sentence), mentioned=mentioned))
    return [text for text in texts if text]


def _case(composite: Composite, turn: Turn, context: Context) -> tuple[Kind, str, str, dict[str, Any]]:
    voices = context.voices(turn)
    pieces: dict[str, str] = {}
    for name, sentences in composite.details.items():
        if name == "outcome" and sentences == composite.details["solution"]:
            pieces[name] = pieces["solution"]
            continue
        pieces[name] = " ".join(_told(sentences, voices, context, " ".join(pieces.values())))
    told = {name: piece for name, piece in pieces.items() if name != "outcome" or piece not in pieces.get("solution", "")}
    text = " ".join(f"{_LABELS[name]}: {piece}" for name, piece in told.items())
    problem = _key_phrase(composite.details["problem"])
    cause = composite.details.get("cause") or composite.details["solution"]
    topic = topics.key(f"{problem} {_key_phrase(cause)}", 6)
    return "case", text, topic, pieces


def _key_phrase(sentences: list[Sentence]) -> str:
    for sentence in sentences:
        words = [t.lemma for t in sentence.tokens if t.pos in ("NOUN", "PROPN", "NUM") and t.entity not in ("DATE", "TIME")]
        if words:
            return " ".join(words[:3])
    return sentences[0].text


def _without_frame(text: str) -> str:
    """Return what a procedure is for without the words that only lead to it."""
    lowered = text.casefold()
    for opening in (
        "here's how i ",
        "here is how i ",
        "this is how i ",
        "here's how we ",
        "my way to ",
        "my steps to ",
        "when i ",
        "whenever i ",
        "when we ",
        "to ",
    ):
        if lowered.startswith(opening):
            return text[len(opening) :]
    return text
