"""Build a statement from a sentence and the cues that fired on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from hybrid import rules
from hybrid.data import Cue, Document, Kind, Mention, Rejection, ResolvedDate, Sentence, Span, Statement, Turn
from hybrid.memory import name_key
from hybrid.stages.statements import topics
from hybrid.stages.statements.inflection import article
from hybrid.stages.statements.scoring import confidence, features
from hybrid.stages.statements.who import Speakers, Subject, pronoun_subject, third_subject
from hybrid.stages.statements.writing import UnknownAddressee, Voices, finished, third_person

_EVENTS = ("event", "plan", "feeling", "commitment")
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
_PLACED = ("location", "origin", "employer", "education")
_MAX_JOINED = 420


@dataclass(frozen=True, slots=True)
class Builder:
    """Build the statements of one document."""

    document: Document
    speakers: Speakers

    def sentences(self, turn: Turn, said: list[Sentence], cues: list[Cue]) -> Iterator[Statement | Rejection]:
        """Yield the statements of a turn in order, follow-up sentences joined to the event they tell of."""
        by_place: dict[tuple[int, int], list[Cue]] = {}
        for cue in cues:
            by_place.setdefault((cue.start, cue.end), []).append(cue)
        earlier: tuple[Subject, ...] = ()
        pending: list[Statement] = []
        for sentence in said:
            fired = by_place.get((sentence.start, sentence.end), [])
            if pending and self._continues(pending[-1], sentence, fired):
                joined = self._joined(pending[-1], turn, sentence)
                if joined is not None:
                    pending[-1] = joined
                    continue
            made = self._from(turn, sentence, fired, earlier)
            earlier = (
                *earlier,
                *(
                    Subject(m.subject, m.subject, m.subject_type)
                    for m in made
                    if isinstance(m, Statement) and m.subject != self.speakers.name(turn)
                ),
            )
            for item in made:
                if isinstance(item, Statement):
                    pending.append(item)
                else:
                    yield item
        yield from pending

    def confirmation(self, turn: Turn, cue: Cue, sentences: Mapping[str, list[Sentence]]) -> Iterator[Statement]:
        """Yield what the turn before said about "you", now that the one spoken of confirms it."""
        number = int(turn.ref[1:]) - 2
        if number < 0:
            return
        before = self.document.turns[number]
        if before.speaker is not None and before.speaker == turn.speaker:
            return
        name = self.speakers.name(turn)
        for sentence in sentences.get(before.ref, []):
            tag = (
                sentence.text.rstrip(" ?!.")
                .casefold()
                .endswith((", right", ", correct", ", don't you", ", isn't it", ", aren't you", ", do you", ", yes"))
            )
            if sentence.person != "second" or (sentence.question and not tag):
                continue
            text = third_person(_untagged(sentence), Voices(name, name, self.document.participants), self.dates(sentence))
            like = any(t.lemma in ("like", "love", "prefer", "enjoy", "favor", "favour") for t in sentence.tokens)
            kind: Kind = "preference" if like else "fact"
            evidence = (Span(before.ref, sentence.start, sentence.end), Span(turn.ref, 0, len(turn.text)))
            found = ("confirmed",)
            phrases = topics.noun_phrases(sentence)
            yield Statement(
                id="",
                kind=kind,
                subject=name,
                speaker=name,
                role=turn.role,
                text=text,
                topic=topics.lexical(sentence.text) or topics.key(phrases[0] if phrases else text, 3),
                quote=turn.text,
                evidence=evidence[::-1],
                about_user=self.speakers.is_user(turn),
                attribution=self.speakers.attribution(turn, None),
                said=turn.time,
                kinds=(kind,),
                topics=phrases[:5],
                confidence=confidence(kind, found),
                features=found,
                details={"cue": cue.rule, "confirmed": True},
            )

    def _from(
        self, turn: Turn, sentence: Sentence, cues: list[Cue], earlier: tuple[Subject, ...]
    ) -> list[Statement | Rejection]:
        if not cues:
            return []
        span = Span(turn.ref, sentence.start, sentence.end)
        try:
            text, subject = self._written(turn, sentence, cues, earlier)
        except UnknownAddressee:
            return [Rejection("addressee unknown", (turn.ref,), sentence.text)]
        if subject is None:
            return [Rejection("subject unclear", (turn.ref,), sentence.text)]
        attributes = [c for c in cues if c.kind == "attribute"]
        made = []
        for cue in cues:
            wording = self._claim(cue, subject, text) if cue.kind == "attribute" and len(attributes) > 1 else text
            made.append(self._statement(turn, sentence, cue, subject, wording, span))
        return list(made)

    def _written(
        self, turn: Turn, sentence: Sentence, cues: list[Cue], earlier: tuple[Subject, ...]
    ) -> tuple[str, Subject | None]:
        """Return the third-person text of a sentence and its subject, None where that stays unclear."""
        speaker = self.speakers.name(turn)
        first = self._voice(speaker, sentence)
        own = Subject(sentence.voice or speaker, sentence.voice or speaker, "person")
        kind = cues[0].kind
        others: dict[int, str] = {}
        subject: Subject | None = own
        if sentence.person == "third":
            subject = third_subject(sentence, speaker, self._mentions(sentence))
            resolved = pronoun_subject(sentence, earlier) if subject is None else None
            if resolved is not None:
                subject = resolved[1]
                others[resolved[0].start] = resolved[1].name
            if subject is None and kind in _IMPERSONAL:
                subject = own
        voices = Voices(first, self.speakers.addressee(turn), self.document.participants, others)
        begin = (
            sentence.start + sentence.text.find(cues[0].captures["object"])
            if cues[0].rule.endswith(".remember") and "object" in cues[0].captures
            else 0
        )
        text = third_person(sentence, voices, self.dates(sentence), begin)
        if kind in ("rule", "wish") and sentence.person in ("none", "second"):
            text = finished(f"{speaker}'s {'standing rule' if kind == 'rule' else 'wish'}: {text[:1].lower()}{text[1:]}")
        elif sentence.person in ("none", "third") and kind in _IMPERSONAL and not self._names(text):
            text = finished(f"{speaker} said: {text}")
        elif subject is not None and subject.type == "thing" and not self._names(text):
            text = finished(f"{speaker} said that {text[:1].lower()}{text[1:]}")
        return text, subject

    def _statement(self, turn: Turn, sentence: Sentence, cue: Cue, subject: Subject, text: str, span: Span) -> Statement:
        speaker = self.speakers.name(turn)
        about_user = self.speakers.is_user(turn) and subject.name == speaker and sentence.voice is None
        found = features(sentence.text, cue.captures.get("features"))
        if sentence.voice is not None or subject.kin:
            found = (*found, "reported")
        phrases = topics.noun_phrases(sentence)
        when = self._when(sentence, cue.kind)
        people = dict.fromkeys(m.text for m in self._mentions(sentence) if m.type == "person")
        known = {name_key(n) for n in (*self.document.participants, speaker, subject.name)}
        places = [m.text for m in self._mentions(sentence) if m.type == "place" and name_key(m.text) not in known]
        details = {k: v for k, v in cue.captures.items() if k not in ("claim", "features", "part")}
        return Statement(
            id="",
            kind=cue.kind,
            subject=subject.name,
            speaker=speaker,
            role=turn.role,
            text=text,
            topic=self._topic(cue, sentence, phrases, subject),
            quote=turn.text[span.start : span.end],
            evidence=(span,),
            about_user=about_user,
            subject_type=subject.type,
            attribution=self.speakers.attribution(turn, sentence.voice),
            polarity="negated" if sentence.negated or cue.rule.endswith("dislike") else "affirmed",
            modality="planned" if cue.kind in ("plan", "commitment") else "real",
            when=when,
            said=turn.time,
            where=places[0] if places and (cue.kind != "attribute" or cue.topic in _PLACED) else None,
            people=tuple(name for name in (*people, *_groups(sentence)) if name != subject.name),
            kinds=(cue.kind,),
            topics=phrases[:5],
            confidence=confidence(cue.kind, found),
            features=found,
            details={"cue": cue.rule, "key": subject.key, **details, **({"voice": sentence.voice} if sentence.voice else {})},
        )

    def _voice(self, speaker: str, sentence: Sentence) -> str:
        if sentence.voice is None:
            return speaker
        kin = rules.load("statements", "en").vocabulary["kin"]
        return f"{speaker}'s {sentence.voice}" if sentence.voice.casefold() in kin else sentence.voice

    def _topic(self, cue: Cue, sentence: Sentence, phrases: tuple[str, ...], subject: Subject) -> str:
        captured = cue.captures.get("facet") or cue.captures.get("object")
        if cue.rule.endswith(".rescheduled"):
            return topics.key(f"{(phrases or (subject.key,))[-1] if subject.type == 'person' else subject.key} reschedule")
        if cue.kind in ("preference", "habit", "rule", "wish", "constraint"):
            if cue.topic:
                return topics.key(cue.topic)
            inside = topics.noun_phrases(sentence, captured) if captured else ()
            heads = (topics.lexical(phrase.split()[-1]) for phrase in inside or phrases)
            found = next((t for t in heads if t), None) or topics.lexical(captured or sentence.text) or topics.lexical(sentence.text)
            return found or topics.key((inside or phrases or (captured or sentence.text,))[0], 3)
        if cue.topic == "object":
            return _object_key(cue.captures.get("thing", ""), sentence.text)
        if cue.topic and cue.kind in ("attribute", "fact"):
            return topics.key(cue.topic)
        if cue.kind == "fact" and subject.type != "person":
            return topics.key(subject.key, 4)
        return topics.key((phrases or (sentence.text,))[0], 4)

    def _claim(self, cue: Cue, subject: Subject, text: str) -> str:
        template, value = cue.captures.get("claim"), cue.captures.get("value", "")
        if not template or not value:
            return text
        names = {"subject": subject.name, "possessive": f"{subject.name}'s", "value": value, "article": article(value)}
        return finished(template.format(**names, preposition=cue.captures.get("preposition", "at")))

    def _when(self, sentence: Sentence, kind: str) -> ResolvedDate | None:
        dates = [d for d in self.dates(sentence) if d.kind == "date" and d.interval is not None]
        said = self.document.turn(sentence.ref).time
        if kind == "event" and sentence.tense == "past" and said is not None:
            today = said.date()
            dates = [d for d in dates if d.first is None or _day(d.first) <= today] or dates
        return (
            dates[-1]
            if dates and sentence.text.casefold().find("moved from") >= 0 and len(dates) > 1
            else dates[0]
            if dates
            else None
        )

    def dates(self, sentence: Sentence) -> tuple[ResolvedDate, ...]:
        """Return the dates said in a sentence."""
        return tuple(
            d for d in self.document.dates if d.ref == sentence.ref and d.start >= sentence.start and d.end <= sentence.end
        )

    def _mentions(self, sentence: Sentence) -> tuple[Mention, ...]:
        return tuple(
            m for m in self.document.mentions if m.ref == sentence.ref and m.start >= sentence.start and m.end <= sentence.end
        )

    def _names(self, text: str) -> bool:
        known = {*self.document.participants, self.speakers.user()}
        return any(name_key(name) in name_key(text) for name in known if name)

    def _continues(self, before: Statement, sentence: Sentence, fired: list[Cue]) -> bool:
        if (
            before.kind not in ("event", "plan")
            or sentence.question
            or sentence.voice is not None
            or before.evidence[-1].end > sentence.start
        ):
            return False
        if any(cue.weight >= 1.6 for cue in fired) or self._when(sentence, "event") is not None:
            return False
        words = set(rules.load("statements", "en").vocabulary["continuing"])
        start = (sentence.subject or "").casefold()
        return (
            start in words
            and len(before.text) + len(sentence.text) < _MAX_JOINED
            and sentence.tense in ("past", "present")
            and (sentence.tense == "past" or before.modality == "planned")
        )

    def _joined(self, before: Statement, turn: Turn, sentence: Sentence) -> Statement | None:
        voices = Voices(self.speakers.name(turn), self.speakers.addressee(turn), self.document.participants)
        try:
            text = third_person(sentence, voices, self.dates(sentence), mentioned=True)
        except UnknownAddressee:
            return None
        span = Span(turn.ref, sentence.start, sentence.end)
        return replace(
            before, text=f"{before.text} {text}", evidence=(*before.evidence, span), details={**before.details, "joined": True}
        )


def _untagged(sentence: Sentence) -> Sentence:
    """Return the sentence without its tag question."""
    comma = next((i for i, t in reversed(list(enumerate(sentence.tokens))) if t.text == ","), None)
    if not sentence.question or comma is None or len(sentence.tokens) - comma > 5:
        return sentence
    return replace(sentence, tokens=tuple(replace(t, head=min(t.head, comma - 1)) for t in sentence.tokens[:comma]))


def _groups(sentence: Sentence) -> tuple[str, ...]:
    """Return the groups of people that a sentence names without names."""
    return tuple(dict.fromkeys(t.lemma for t in sentence.tokens if t.lemma in ("team", "family", "class", "band", "crew", "committee")))


def _object_key(thing: str, text: str) -> str:
    materials = rules.load("statements", "en").vocabulary["materials"]
    words = thing.casefold().split()
    noun = words[-1] if words else "thing"
    near = [w for w in words[:-1] if w in materials] or [
        m for m in materials if m in text.casefold().replace("-", " ").split()
    ][:1]
    return topics.key(" ".join([*near[:1], noun]))


def _day(value: date) -> date:
    return value if type(value) is date else value.date()  # type: ignore[attr-defined]
