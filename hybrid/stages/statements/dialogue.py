"""What only two turns together say: a confirmation with what it confirms, an offer with its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hybrid.data import Cue, Kind, Sentence, Span, Statement, Turn
from hybrid.stages.statements import topics
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.scoring import confidence
from hybrid.stages.statements.writing import UnknownAddressee, Voices, finished, third_person

_TAGS = (", right", ", correct", ", don't you", ", isn't it", ", aren't you", ", do you", ", yes")
# A longer answer says something of its own.
_SHORT = 120
_LIKING = ("like", "love", "prefer", "enjoy", "favor", "favour", "favorite", "favourite")


def confirmation(context: Context, turn: Turn, cue: Cue, sentences: Mapping[str, list[Sentence]]) -> Iterator[Statement]:
    """Yield what the turn before said about "you", now that the one spoken of confirms it."""
    before = _turn_before(context, turn)
    if before is None:
        return
    name = context.speakers.name(turn)
    if len(turn.text) > _SHORT:
        return
    for sentence in sentences.get(before.ref, []):
        about = _about_you(sentence) if before.role == "assistant" or _tagged(sentence) else None
        if about is None:
            continue
        text = third_person(about, Voices(name, name, context.document.participants), context.dates(sentence))
        kind: Kind = "preference" if any(t.lemma in _LIKING for t in sentence.tokens) else "fact"
        phrases = topics.noun_phrases(about)
        yield Statement(
            id="",
            kind=kind,
            subject=name,
            speaker=name,
            role=turn.role,
            text=text,
            topic=topics.lexical(text) or topics.key(phrases[0] if phrases else text, 3),
            quote=turn.text,
            evidence=(Span(turn.ref, 0, len(turn.text)), Span(before.ref, sentence.start, sentence.end)),
            about_user=context.speakers.is_user(turn),
            attribution=context.speakers.attribution(turn, None),
            polarity="negated" if sentence.negated else "affirmed",
            said=turn.time,
            kinds=(kind,),
            topics=phrases[:5],
            confidence=confidence(kind, ("confirmed",)),
            features=("confirmed",),
            details={"cue": cue.rule, "key": name},
        )


def offer(
    context: Context, turn: Turn, answer: Cue, offers: Sequence[Cue], sentences: Mapping[str, list[Sentence]]
) -> Statement | None:
    """Return the offer of the turn before with the answer that leaves it open, None where nothing was offered."""
    before = _turn_before(context, turn)
    made = next((c for c in offers if before is not None and c.ref == before.ref), None)
    if before is None or made is None:
        return None
    asked = next((s for s in sentences.get(before.ref, []) if (s.start, s.end) == (made.start, made.end)), None)
    reply = next((s for s in sentences.get(turn.ref, []) if (s.start, s.end) == (answer.start, answer.end)), None)
    action = made.captures.get("action", "")
    if asked is None or reply is None or action not in asked.text:
        return None
    begin = asked.start + asked.text.index(action)
    giver, taker = context.speakers.name(before), context.speakers.name(turn)
    try:
        offered = third_person(asked, context.voices(before), context.dates(asked), begin).rstrip(".?")
        said = third_person(reply, context.voices(turn), context.dates(reply)).rstrip(".")
    except UnknownAddressee:
        return None
    text = finished(
        f"{giver} offered to {offered[:1].lower()}{offered[1:]}; {taker} left it open: {said[:1].lower()}{said[1:]}"
    )
    phrases = topics.noun_phrases(asked)
    return Statement(
        id="",
        kind="commitment",
        subject=giver,
        speaker=taker,
        role=turn.role,
        text=text,
        topic=topics.key(f"{(phrases or ('help',))[0]} offer"),
        quote=reply.text,
        evidence=(Span(turn.ref, reply.start, reply.end), Span(before.ref, asked.start, asked.end)),
        about_user=context.speakers.is_user(turn) or context.speakers.is_user(before),
        attribution="observed",
        modality="planned",
        said=turn.time,
        people=(taker,),
        kinds=("commitment",),
        topics=phrases[:5],
        confidence=confidence("commitment", ()),
        details={"cue": answer.rule, "key": giver, "commitment": "pending"},
    )


def _turn_before(context: Context, turn: Turn) -> Turn | None:
    number = int(turn.ref[1:]) - 2
    before = context.document.turns[number] if number >= 0 else None
    return None if before is None or (before.speaker is not None and before.speaker == turn.speaker) else before


def _about_you(sentence: Sentence) -> Sentence | None:
    """Return the part of a sentence that speaks of "you", without tag question and frame; None where none does."""
    if sentence.question and not _tagged(sentence):
        return None
    if sentence.person == "second":
        return _untagged(sentence)
    you = next((i for i, t in enumerate(sentence.tokens) if t.text.casefold() == "you" and t.dep == "nsubj"), None)
    if you is None or sentence.subject is None or sentence.subject.casefold() not in ("it", "i"):
        return None
    tokens = sentence.tokens[you:]
    verb = sentence.tokens[you].head - you
    kept = tuple(
        replace(t, head=t.head - you if t.head >= you else i, dep="ROOT" if i == verb else t.dep) for i, t in enumerate(tokens)
    )
    return replace(sentence, start=tokens[0].start, tokens=kept, person="second", subject="you")


def _tagged(sentence: Sentence) -> bool:
    return sentence.text.rstrip(" ?!.").casefold().endswith(_TAGS)


def _untagged(sentence: Sentence) -> Sentence:
    comma = next((i for i, t in reversed(list(enumerate(sentence.tokens))) if t.text == ","), None)
    if not sentence.question or comma is None or len(sentence.tokens) - comma > 5:
        return sentence
    return replace(sentence, tokens=tuple(replace(t, head=min(t.head, comma - 1)) for t in sentence.tokens[:comma]))
