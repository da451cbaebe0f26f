"""Word a statement: who it is about, and the sentence in the third person."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid import rules
from hybrid.data import Cue, Sentence, Span, Turn
from hybrid.stages.statements import topics
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.inflection import article
from hybrid.stages.statements.who import Subject, pronoun_subject, third_subject
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
    subject: Subject | None = own
    others: dict[int, str] = {}
    support: tuple[Span, ...] = ()
    if cue.kind != "attribute" and (sentence.person == "third" or _opens_with_owner(sentence)):
        subject = third_subject(sentence, speaker, context.mentions(sentence))
        named = context.person_before(turn, sentence)
        resolved = pronoun_subject(sentence, earlier, named[0] if named else None) if subject is None else None
        if resolved is not None:
            subject = resolved[1]
            others[resolved[0].start] = resolved[1].name
            support = (named[1],) if named is not None and named[0] == resolved[1].name and named[1].ref != turn.ref else ()
        if subject is None and cue.kind in _IMPERSONAL:
            subject = own
    if subject is None:
        return None
    if cue.rule.endswith("configuration.secret"):
        return Wording(_configured(context, speaker, sentence, cue), own)
    voices = context.voices(turn, others, _voice(speaker, sentence))
    dates = context.dates(sentence)
    if cue.rule.endswith(".rescheduled"):
        # "From Tuesday to Thursday" names days of the week; only the day of the change is a date.
        change = context.when(sentence, cue)
        dates = tuple(d for d in dates if change is not None and d.start == change.start)
    text = third_person(sentence, voices, dates, _begin(sentence, cue))
    return Wording(_framed(context, text, speaker, sentence, cue, subject), subject, support)


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
    if not cue.rule.endswith(".remember") or not captured or captured not in sentence.text:
        return 0
    return sentence.start + sentence.text.index(captured)


def _opens_with_owner(sentence: Sentence) -> bool:
    return sentence.person == "none" and sentence.text.casefold().startswith(("my ", "our "))
