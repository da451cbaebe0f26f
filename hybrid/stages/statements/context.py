"""What the document knows about a sentence: its dates, mentions, places and people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from hybrid import rules
from hybrid.data import Cue, Document, Mention, ResolvedDate, Sentence, Span, Turn
from hybrid.memory import name_key
from hybrid.stages.statements.who import Speakers, Subject
from hybrid.stages.statements.writing import Voices

# So many turns back, a name still is what "she" means, if it is the only one.
_LOOK_BACK = 4


@dataclass(frozen=True, slots=True)
class Context:
    """Hold a document with its speakers, and look up what belongs to one sentence."""

    document: Document
    speakers: Speakers
    known_names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, document: Document, speakers: Speakers) -> Context:
        """Return the context of a document, with the names that stand anywhere but at the head of a sentence."""
        named = {name_key(m.text) for m in document.mentions if m.type in ("person", "organisation")}
        inner = {name_key(t.text) for s in document.sentences for t in s.tokens[1:] if t.pos == "PROPN"}
        return cls(document, speakers, frozenset(named | inner))

    def is_name(self, text: str) -> bool:
        """Say whether a text is a name, and no word that merely opens a sentence."""
        return name_key(text) in self.known_names

    def dates(self, sentence: Sentence) -> tuple[ResolvedDate, ...]:
        """Return the dates said in a sentence."""
        return tuple(
            d for d in self.document.dates if d.ref == sentence.ref and d.start >= sentence.start and d.end <= sentence.end
        )

    def mentions(self, sentence: Sentence) -> tuple[Mention, ...]:
        """Return the people, places and things named in a sentence."""
        return tuple(
            m for m in self.document.mentions if m.ref == sentence.ref and m.start >= sentence.start and m.end <= sentence.end
        )

    def voices(self, turn: Turn, others: dict[int, str] | None = None, first: str | None = None) -> Voices:
        """Return what the pronouns of a turn mean."""
        name = first or self.speakers.name(turn)
        return Voices(name, self.speakers.addressee(turn), self.document.participants, others or {})

    def when(self, sentence: Sentence, cue: Cue | None) -> ResolvedDate | None:
        """Return the date a sentence tells of, None where it has none."""
        dates = [d for d in self.dates(sentence) if d.kind == "date" and d.interval is not None]
        dates = [_whole_days(d) for d in dates]
        if cue is not None and cue.captures.get("reading") == "rescheduled":
            # The start of the change counts, which is named last: "from Monday to Wednesday, starting 14 July".
            change = next((d for d in reversed(dates) if any(c.isdigit() for c in d.text)), dates[-1] if dates else None)
            return replace(change, last=change.first) if change is not None and change.last is None else change
        if cue is not None and cue.captures.get("reading") == "project":
            ending = next((d for d in dates if d.first is None or _bound(sentence, d)), None)
            if ending is not None:
                return ending
        said = self.document.turn(sentence.ref).time
        if sentence.tense == "past" and said is not None:
            today = said.date()
            dates = [d for d in dates if d.first is None or _day(d.first) <= today] or dates
        return dates[0] if dates else None

    def person_before(self, turn: Turn, sentence: Sentence) -> tuple[str, Span] | None:
        """Return the one person beside the speakers who was spoken of in the last turns, None where several or none were.

        Relatives without a name count as well: "my grandma" is a person, and may be the one meant.
        """
        number = int(turn.ref[1:])
        turns = {t.ref: t for t in self.document.turns[max(0, number - 1 - _LOOK_BACK) : number]}
        found: dict[str, tuple[str, Span]] = {}
        kin = frozenset(rules.load("statements", "en").vocabulary["kin"])
        for mention in self.document.mentions:
            near = mention.ref in turns and (mention.ref != turn.ref or mention.start < sentence.start)
            if near and mention.type == "person" and not self._speaks(mention.text):
                place = Span(mention.ref, mention.start, mention.end)
                found[name_key(mention.text.split()[0])] = (mention.text, place)
        for said in self.document.sentences:
            if said.ref in turns and (said.ref, said.start) < (turn.ref, sentence.start):
                found.update(_unnamed_kin(said, self.speakers.name(turns[said.ref]), kin))
        return next(iter(found.values())) if len(found) == 1 else None

    def _speaks(self, name: str) -> bool:
        """Say whether a name is one of the speakers', short forms included: Mel is Melanie."""
        wanted = name_key(name)
        parts = [p for n in (*self.document.participants, self.speakers.user()) for p in name_key(n).split()]
        return not wanted or any(part.startswith(wanted[:3]) for part in parts if len(wanted) >= 2)

    def asked(self, turn: Turn, sentence: Sentence) -> tuple[ResolvedDate, Span] | None:
        """Return the date of the question that a turn answers with its first past sentence, None where there is none."""
        number = int(turn.ref[1:]) - 2
        before = self.document.turns[number] if number >= 0 else None
        if before is None or before.speaker == turn.speaker or sentence.tense != "past" or sentence.person != "first":
            return None
        said = [s for s in self.document.sentences if s.ref == turn.ref and s.tense == "past"]
        if not said or said[0].start != sentence.start:
            return None
        for question in (s for s in self.document.sentences if s.ref == before.ref and s.question):
            words = {t.text.casefold() for t in question.tokens}
            found = self.when(question, None)
            if found is not None and "you" in words and words & {"what", "where", "who", "how", "anything"}:
                return found, Span(before.ref, question.start, question.end)
        return None

    def people(self, sentence: Sentence, subject: Subject) -> tuple[str, ...]:
        """Return the people and groups a sentence names beside its subject."""
        groups = set(rules.load("statements", "en").vocabulary["groups"])
        named = [m.text for m in self.mentions(sentence) if m.type == "person" and not _container(sentence, m)]
        definite = {t.head for t in sentence.tokens if t.text.casefold() in ("the", "our", "my", "their")}
        named += [
            t.text.casefold()
            for i, t in enumerate(sentence.tokens)
            if t.lemma in groups and t.pos == "NOUN" and i in definite and t.dep != "compound"
        ]
        return tuple(name for name in dict.fromkeys(named) if name != subject.name)

    def place(self, sentence: Sentence, subject: Subject) -> str | None:
        """Return the first place a sentence names."""
        known = {name_key(n) for n in (*self.document.participants, self.speakers.user(), subject.name)}
        places = [m.text for m in self.mentions(sentence) if m.type == "place" and name_key(m.text) not in known]
        return (
            places[0]
            if places
            else _after_preposition(sentence, {m.text for m in self.mentions(sentence) if m.type == "person"})
        )

    def names(self, text: str) -> bool:
        """Say whether a text names one of the people who speak."""
        known = {*self.document.participants, self.speakers.user()}
        return any(name_key(name) in name_key(text) for name in known if name)


def _unnamed_kin(sentence: Sentence, speaker: str, kin: frozenset[str]) -> dict[str, tuple[str, Span]]:
    """Return the relatives that a sentence speaks of without a name."""
    found = {}
    for i, token in enumerate(sentence.tokens):
        owned = any(t.head == i and t.text.casefold() in ("my", "our", "a") for t in sentence.tokens)
        named = any(t.head == i and t.pos == "PROPN" and t.dep in ("appos", "compound") for t in sentence.tokens)
        if token.lemma in kin and token.pos == "NOUN" and owned and not named:
            found[token.lemma] = (f"{speaker}'s {token.lemma}", Span(sentence.ref, token.start, token.end))
    return found


def _whole_days(found: ResolvedDate) -> ResolvedDate:
    """Return a part of a day as its day: "last night" is when it was, not from which minute to which."""
    if found.grain != "part" or found.first is None or found.last is None:
        return found
    return replace(found, first=_day(found.first), last=_day(found.last))


def _container(sentence: Sentence, mention: Mention) -> bool:
    """Say whether something is stored, run or found in what the parser takes for a person: tools have names too."""
    token = next((t for t in sentence.tokens if mention.start <= t.start < mention.end and t.dep == "pobj"), None)
    return token is not None and sentence.tokens[token.head].text.casefold() in (
        "in",
        "on",
        "at",
        "from",
        "via",
        "into",
        "using",
    )


def _bound(sentence: Sentence, found: ResolvedDate) -> bool:
    """Say whether a date is one by which something has to be done."""
    before = sentence.text[: found.start - sentence.start].split()
    words = {*(w.casefold() for w in before[-1:]), *(w.casefold() for w in found.text.split()[:1])}
    return bool(words & {"by", "until", "before", "till", "due"})


def _after_preposition(sentence: Sentence, people: set[str]) -> str | None:
    """Return the proper noun after at or in, where the parser's entities miss it."""
    for i, token in enumerate(sentence.tokens):
        if token.dep == "pobj" and token.pos == "PROPN" and sentence.tokens[token.head].text.casefold() in ("at", "in", "near"):
            parts = [t.text for j, t in enumerate(sentence.tokens) if (t.head == i and j < i and t.dep == "compound") or j == i]
            name = " ".join(parts)
            if token.entity not in ("DATE", "TIME", "PERSON") and name not in people:
                return name
    return None


def _day(value: date) -> date:
    return value.date() if hasattr(value, "date") else value
