"""Word a statement: who it is about, and the sentence in the third person."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hybrid import rules
from hybrid.data import Cue, Sentence, Span, Turn
from hybrid.stages.statements import topics
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.inflection import article
from hybrid.stages.statements.who import PRONOUNS, Subject, pronoun_subject, third_subject
from hybrid.stages.statements.writing import finished, third_person

# Kinds that say something even where their subject is a thing or is missing.
_IMPERSONAL = (
    "decision",
    "constraint",
    "reference",
    "assumption",
    "lesson",
    "question",
    "configuration",
    "rule",
    "wish",
    "pattern",
    "commitment",
    "event",
)
_SINGULAR = ("he", "she", "him", "her", "his", "hers", "himself", "herself")
# Kinds whose text needs no "said": they speak of a thing that everybody involved knows by its name.
_SELF_CONTAINED = ("reference", "configuration", "constraint", "event", "pattern")


@dataclass(frozen=True, slots=True)
class Wording:
    """Hold the text of a statement, its subject, and where a name it takes was said."""

    text: str
    subject: Subject
    support: tuple[Span, ...] = ()


def worded(context: Context, turn: Turn, sentence: Sentence, cue: Cue, earlier: tuple[Subject, ...]) -> Wording | None:
    """Return the wording of a sentence, None where its subject stays unclear. Raises UnknownAddressee."""
    speaker = context.speakers.name(turn)
    own = Subject(sentence.voice or speaker, sentence.voice or speaker, "person")
    reading = _Reading(subject=own)
    if cue.kind != "attribute" and (sentence.person == "third" or _opens_with_owner(sentence)):
        reading = _third(context, turn, sentence, earlier)
        if reading.subject is None and cue.kind in _IMPERSONAL:
            reading = _Reading(subject=own)
    reading = _objects(context, turn, sentence, reading)
    subject, others, support = reading.subject, reading.others, reading.support
    if subject is None:
        return None
    if cue.captures.get("reading") == "secret":
        return Wording(_configured(context, speaker, sentence, cue), own)
    voices = context.voices(turn, others, _voice(speaker, sentence))
    dates = context.dates(sentence)
    if cue.captures.get("reading") == "rescheduled":
        # "From Tuesday to Thursday" names days of the week; only the day of the change is a date.
        change = context.when(sentence, cue)
        dates = tuple(d for d in dates if change is not None and d.start == change.start)
    text = third_person(sentence, voices, dates, _begin(sentence, cue))
    return Wording(_framed(context, text, speaker, sentence, cue, subject), subject, support)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Hold the subject of a sentence, what its pronouns stand for, and where those names were said."""

    subject: Subject | None
    others: dict[int, str] = field(default_factory=dict)
    support: tuple[Span, ...] = ()


def _third(context: Context, turn: Turn, sentence: Sentence, earlier: tuple[Subject, ...]) -> _Reading:
    """Read the subject of a third-person sentence."""
    speaker = context.speakers.name(turn)
    own = Subject(speaker, speaker, "person")
    subject = third_subject(sentence, speaker, context.mentions(sentence))
    if subject is not None:
        return _Reading(subject)
    named = context.person_before(turn, sentence)
    resolved = pronoun_subject(sentence, earlier, named[0] if named else None)
    if resolved is None:
        return _Reading(own) if _about_speaker(sentence) else _Reading(None)
    token, person = resolved
    if any(m.type == "person" and m.start < token.start for m in context.mentions(sentence)):
        # "Emma, she sings": the sentence names her itself.
        return _Reading(None)
    elsewhere = named is not None and named[0] == person.name and named[1].ref != turn.ref
    return _Reading(person, {token.start: person.name}, (named[1],) if named is not None and elsewhere else ())


def _about_speaker(sentence: Sentence) -> bool:
    """Say whether a sentence without a subject of its own speaks of the speaker: "seeing it made my day"."""
    words = {t.text.casefold() for t in sentence.tokens}
    pronoun = (sentence.subject or "").casefold() in {*PRONOUNS, "you"} - {"one", "someone", "everyone", "everybody", "nobody"}
    return bool(words & {"i", "me", "my"}) and not pronoun


def _objects(context: Context, turn: Turn, sentence: Sentence, reading: _Reading) -> _Reading:
    """Read the other pronouns of one person; without exactly one reading the sentence has no wording."""
    if reading.subject is None:
        return reading
    left = [t for t in sentence.tokens if t.text.casefold() in _SINGULAR and t.start not in reading.others]
    # A noun that stands before it in the same sentence is the nearer reading.
    inside = any(
        t.pos in ("NOUN", "PROPN") and left and t.start < left[-1].start and t.entity != "DATE" for t in sentence.tokens
    )
    speaker = context.speakers.name(turn)
    if not left or inside or (reading.subject.type == "person" and reading.subject.name != speaker):
        return reading
    named = context.person_before(turn, sentence)
    if named is None:
        return replace(reading, subject=None)
    others = {**reading.others, **{t.start: named[0] for t in left[:1]}}
    return replace(
        reading, others=others, support=(*reading.support, named[1]) if named[1].ref != turn.ref else reading.support
    )


def claimed(cue: Cue, subject: Subject, text: str) -> str:
    """Return the sentence a cue declares for one attribute, else the text as it is."""
    template, value = cue.captures.get("claim"), cue.captures.get("value", "")
    if not template or not value:
        return text
    names = {"subject": subject.name, "possessive": f"{subject.name}'s", "value": value, "article": article(value)}
    return finished(template.format(**names, preposition=cue.captures.get("preposition", "at")))


def _framed(context: Context, text: str, speaker: str, sentence: Sentence, cue: Cue, subject: Subject) -> str:
    """Say whose rule or remark it is, where the text itself does not."""
    lowered = f"{text[:1].lower()}{text[1:]}"
    if cue.kind in ("rule", "wish") and sentence.person in ("none", "second"):
        return finished(f"{speaker}'s {'standing rule' if cue.kind == 'rule' else 'wish'}: {lowered}")
    if context.names(text) or sentence.person not in ("none", "third"):
        return text
    if cue.kind in _IMPERSONAL and not (cue.kind in _SELF_CONTAINED and subject.type == "thing"):
        return finished(f"{speaker} said: {text}")
    if cue.kind == "fact" and subject.type == "thing":
        return finished(f"{speaker} said that {lowered}")
    return text


def _configured(context: Context, speaker: str, sentence: Sentence, cue: Cue) -> str:
    """Say that a credential was configured and for what; the sentence itself is never used."""
    kind = cue.captures.get("credential", "credential")
    purpose = cue.captures.get("purpose") or cue.captures.get("service")
    if purpose is None:
        phrases = [p for p in topics.noun_phrases(sentence) if kind.casefold() not in p.casefold() and "█" not in p]
        purpose = f"the {phrases[0]}" if phrases and phrases[0][:1].islower() else (phrases[0] if phrases else None)
    if purpose is not None and purpose.casefold().startswith(("wi-fi", "wifi")):
        purpose = f"the {purpose}"
    return finished(f"{speaker} configured {article(kind)} {kind}{f' for {purpose}' if purpose else ''}")


def _voice(speaker: str, sentence: Sentence) -> str:
    if sentence.voice is None:
        return speaker
    kin = rules.load("statements", "en").vocabulary["kin"]
    return f"{speaker}'s {sentence.voice}" if sentence.voice.casefold() in kin else sentence.voice


def _begin(sentence: Sentence, cue: Cue) -> int:
    """Return where the statement begins: after "remember that" and the like."""
    captured = cue.captures.get("object")
    if cue.captures.get("reading") != "remember" or not captured or captured not in sentence.text:
        return 0
    return sentence.start + sentence.text.index(captured)


def _opens_with_owner(sentence: Sentence) -> bool:
    return sentence.person == "none" and sentence.text.casefold().startswith(("my ", "our "))
