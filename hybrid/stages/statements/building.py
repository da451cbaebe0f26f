"""Build the statements of a turn from its sentences and the cues that fired on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hybrid import rules
from hybrid.data import Cue, Rejection, Sentence, Span, Statement, Turn
from hybrid.stages.statements import topics
from hybrid.stages.statements.context import Context
from hybrid.stages.statements.scoring import confidence, features
from hybrid.stages.statements.who import Subject
from hybrid.stages.statements.wording import Wording, claimed, worded
from hybrid.stages.statements.writing import UnknownAddressee, third_person

_MAX_JOINED = 420
# No sentence of a person is as long; pasted text and text without a full stop is.
_MAX_SENTENCE = 1200
_PLACED = ("location", "origin", "employer", "education")
_COMMON = frozenset(
    (
        "do",
        "be",
        "have",
        "get",
        "go",
        "make",
        "thing",
        "know",
        "think",
        "say",
        "see",
        "come",
        "take",
        "want",
        "that",
        "it",
        "sure",
        "way",
        "lot",
        "course",
    )
)
_VAGUE = frozenset(("it", "that", "this", "them", "those", "these", "one", "so"))
_FOR_TIME = re.compile(r"\bfor (?:the (?:last|past) )?(?:[\w-]+ )?(?:days|weeks|months|years)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Builder:
    """Build statements in one context."""

    context: Context

    def sentences(self, turn: Turn, said: list[Sentence], cues: list[Cue]) -> Iterator[Statement | Rejection]:
        """Yield the statements of a turn in order, follow-up sentences joined to what they go on telling of."""
        by_place: dict[tuple[int, int], list[Cue]] = {}
        for cue in cues:
            by_place.setdefault((cue.start, cue.end), []).append(cue)
        speaker = self.context.speakers.name(turn)
        earlier: tuple[Subject, ...] = ()
        pending: list[Statement] = []
        for sentence in said:
            fired = by_place.get((sentence.start, sentence.end), [])
            if pending and _continues(pending[-1], sentence, fired, self.context):
                joined = self._joined(pending[-1], turn, sentence, earlier)
                if joined is not None:
                    pending[-1] = joined
                    continue
            for item in self._from(turn, sentence, fired, earlier):
                if isinstance(item, Rejection):
                    yield item
                    continue
                pending.append(item)
                if item.subject != speaker:
                    earlier = (*earlier, Subject(item.subject, item.subject, item.subject_type))
        yield from pending

    def _from(
        self, turn: Turn, sentence: Sentence, cues: list[Cue], earlier: tuple[Subject, ...]
    ) -> list[Statement | Rejection]:
        if not cues:
            return []
        try:
            wording = worded(self.context, turn, sentence, cues[0], earlier)
        except UnknownAddressee:
            return [Rejection("addressee unknown", (turn.ref,), sentence.text[:200])]
        refused = _refused(wording.subject if wording else None, sentence, cues[0], self.context, turn)
        if refused is not None or wording is None:
            return [Rejection(refused or "subject unclear", (turn.ref,), sentence.text[:200])]
        own = wording.subject.name == self.context.speakers.name(turn) and self.context.speakers.is_user(turn)
        attributes = [c for c in cues if c.kind == "attribute"]
        if attributes and (not own or sentence.voice is not None):
            # What is said of others is one note on them, not one a attribute.
            first = attributes[0]
            flags = {"changeable": "true"} if any(c.captures.get("changeable") for c in attributes) else {}
            note = replace(
                first, captures={**flags, **({"attribute": first.captures["attribute"]} if len(attributes) == 1 else {})}
            )
            cues, attributes = [note, *(c for c in cues if c not in attributes)][:1], []
        made: list[Statement | Rejection] = []
        for cue in cues:
            text = (
                claimed(cue, wording.subject, wording.text)
                if cue in attributes and (len(attributes) > 1 or cue.topic == "name")
                else wording.text
            )
            made.append(self._statement(turn, sentence, cue, Wording(text, wording.subject, wording.support)))
        return made

    def _statement(self, turn: Turn, sentence: Sentence, cue: Cue, wording: Wording) -> Statement:
        context, subject = self.context, wording.subject
        speaker = context.speakers.name(turn)
        own = context.speakers.is_user(turn) and subject.name == speaker and sentence.voice is None
        found = features(sentence.text, cue.captures.get("features"))
        if sentence.voice is not None or subject.kin:
            found = (*found, "reported")
        phrases = topics.noun_phrases(sentence)
        details = {k: v for k, v in cue.captures.items() if k not in ("claim", "features", "part")}
        if sentence.voice is not None:
            details["voice"] = sentence.voice
        if cue.kind == "pattern":
            details["frequency"] = _frequency(sentence.text)
        when = context.when(sentence, cue)
        asked = context.asked(turn, sentence) if when is None and cue.kind == "event" else None
        support = wording.support
        if asked is not None:
            when, support = asked[0], (*support, asked[1])
        return Statement(
            id="",
            kind=cue.kind,
            subject=subject.name,
            speaker=speaker,
            role=turn.role,
            text=wording.text,
            topic=topic(cue, sentence, phrases, subject),
            quote=turn.text[sentence.start : sentence.end],
            evidence=(Span(turn.ref, sentence.start, sentence.end), *support),
            about_user=own,
            subject_type=subject.type,
            attribution=context.speakers.attribution(turn, sentence.voice),
            polarity="negated" if sentence.negated or cue.captures.get("polarity") == "negated" else "affirmed",
            modality="planned" if cue.kind in ("plan", "commitment") else "real",
            when=when,
            said=turn.time,
            where=context.place(sentence, subject) if cue.kind != "attribute" or cue.topic in _PLACED else None,
            people=context.people(sentence, subject),
            kinds=(cue.kind,),
            topics=phrases[:5],
            confidence=confidence(cue.kind, found),
            features=found,
            details={"cue": cue.rule, "key": subject.key, **details},
        )

    def _joined(self, before: Statement, turn: Turn, sentence: Sentence, earlier: tuple[Subject, ...]) -> Statement | None:
        others = {}
        people = [s for s in earlier if s.type == "person"]
        token = next((t for t in sentence.tokens if t.dep == "nsubj" and t.text.casefold() in ("he", "she")), None)
        if token is not None:
            if len({s.key for s in people}) != 1:
                return None
            others[token.start] = people[0].name
        voices = self.context.voices(turn, others)
        try:
            text = third_person(sentence, voices, self.context.dates(sentence), mentioned=voices.first in before.text)
        except UnknownAddressee:
            return None
        span = Span(turn.ref, sentence.start, sentence.end)
        frequency = {"frequency": _frequency(sentence.text)} if before.kind == "pattern" else {}
        where = before.where or self.context.place(sentence, Subject(before.subject, before.subject, before.subject_type))
        return replace(
            before,
            text=f"{before.text} {text}",
            evidence=(*before.evidence, span),
            where=where,
            details={**before.details, **frequency, "joined": True},
        )


def topic(cue: Cue, sentence: Sentence, phrases: tuple[str, ...], subject: Subject) -> str:
    """Return the topic of a statement as a key: declared, from the lexicon, or the head of what it speaks of."""
    captured = cue.captures.get("facet") or cue.captures.get("object")
    if cue.captures.get("reading") == "rescheduled":
        moved = next(
            (t.lemma for t in sentence.tokens if t.dep in ("dobj", "nsubjpass") and t.entity not in ("DATE", "TIME")), ""
        )
        return topics.key(f"{moved or subject.key} reschedule")
    if cue.topic == "object":
        return _object_key(cue.captures.get("thing", ""), sentence.text)
    if cue.topic and cue.kind in ("attribute", "fact", "preference", "habit", "configuration"):
        return topics.key(cue.topic)
    if cue.kind in ("preference", "habit", "rule", "wish"):
        inside = topics.noun_phrases(sentence, captured) if captured else ()
        heads = (topics.lexical(phrase.split()[-1]) for phrase in inside or phrases)
        found = (
            next((t for t in heads if t), None) or topics.lexical(captured or sentence.text) or topics.lexical(sentence.text)
        )
        return found or topics.key((inside or phrases or (topics.content(sentence),))[0], 3)
    if cue.kind == "pattern":
        weekday = _WEEKDAY.search(sentence.text)
        words = [weekday.group(1) if weekday else "", *(p for p in phrases[:1] if not _WEEKDAY.search(p)), "pattern"]
        return topics.key(" ".join(words))
    if subject.type not in ("person", "unknown"):
        return topics.key(subject.key, 4)
    return topics.key((phrases or (topics.content(sentence),))[0], 4)


def _refused(subject: Subject | None, sentence: Sentence, cue: Cue, context: Context, turn: Turn) -> str | None:
    """Say why a sentence with a cue still is no statement, None where it is one."""
    if subject is None:
        return "subject unclear"
    if len(sentence.text) > _MAX_SENTENCE:
        return "too long for one memory"
    if _says_little(sentence, cue):
        return "says too little by itself"
    if cue.kind in ("fact", "preference", "event", "plan", "feeling") and _points_back(sentence):
        return "refers to what was said before"
    words = {t.text.casefold() for t in sentence.tokens}
    near = bool({"i", "my", "me", "we", "our", "us"} & words)
    human = context.speakers.addressee(turn) != "the assistant"
    named = subject.type == "person" and context.is_name(subject.key)
    mine = bool({"i", "my", "me"} & words)
    reading = cue.captures.get("reading")
    tests = (
        (reading == "remember" and human and not near, "advice"),
        (
            cue.kind == "fact" and human and bool({"you", "your"} & words) and sentence.person != "first",
            "about the one spoken to",
        ),
        (reading == "relative" and not near and "told" not in words, "general remark"),
        (reading == "named" and not named and not mine, "general remark"),
    )
    return next((reason for failed, reason in tests if failed), None)


def _says_little(sentence: Sentence, cue: Cue) -> bool:
    """Say whether a sentence has hardly a word of its own, beside pronouns and the commonest verbs."""
    own = [t for t in sentence.tokens if t.pos in ("NOUN", "PROPN", "NUM", "ADJ", "VERB") and t.lemma not in _COMMON]
    if not own:
        return True
    if cue.kind in ("plan", "commitment") and not topics.noun_phrases(sentence):
        return sum(t.pos in ("ADJ", "ADV", "VERB") and t.lemma not in _COMMON for t in sentence.tokens) < 3
    verbs = any(t.tag in ("VBD", "VBP", "VBZ", "MD", "VBG", "VB") for t in sentence.tokens)
    return len(sentence.tokens) < 6 and not verbs


def _points_back(sentence: Sentence) -> bool:
    """Say whether all a sentence speaks of is "it" or "that", which stand for words said before."""
    objects = [
        t
        for t in sentence.tokens
        if t.dep in ("dobj", "pobj", "attr", "oprd", "nsubj", "xcomp") and t.text.casefold() in _VAGUE
    ]
    dangling = sentence.tokens and [t for t in sentence.tokens if t.pos != "PUNCT"][-1].tag == "TO"
    return (bool(objects) or bool(dangling)) and not topics.noun_phrases(sentence)


def _continues(before: Statement, sentence: Sentence, fired: list[Cue], context: Context) -> bool:
    """Say whether a sentence goes on telling of what the one before it began."""
    if (
        sentence.question
        or sentence.voice is not None
        or before.details.get("voice")
        or before.evidence[-1].end > sentence.start
    ):
        return False
    start = (sentence.subject or "").casefold()
    if len(before.text) + len(sentence.text) >= _MAX_JOINED:
        return False
    if before.kind == "configuration" and before.details.get("reading") != "secret":
        return start in ("it", "they")
    if any(cue.weight >= 1.6 for cue in fired):
        return False
    if before.kind == "pattern":
        return _FOR_TIME.search(sentence.text) is not None
    if context.when(sentence, None) is not None:
        return False
    if before.kind == "fact":
        return start in ("he", "she") or (start in ("it", "they") and before.subject_type == "thing")
    if before.kind not in ("event", "plan", "feeling"):
        return False
    said = context.document.turn(sentence.ref).text
    runs_on = said[before.evidence[-1].end - 1] not in ".!?…" and "\n" not in said[before.evidence[-1].end : sentence.start]
    words = set(rules.load("statements", "en").vocabulary["continuing"])
    ours = {"we", "us", "our"} & {t.text.casefold() for t in sentence.tokens}
    told = sentence.tense == "past" or (before.modality == "planned" and sentence.tense == "present")
    return told and (start in words or (sentence.tense == "past" and (bool(ours) or runs_on)))


def _frequency(text: str) -> str:
    match = _FOR_TIME.search(text)
    return match.group(0) if match else ""


def _object_key(thing: str, text: str) -> str:
    materials = rules.load("statements", "en").vocabulary["materials"]
    words = thing.casefold().split()
    noun = words[-1] if words else "thing"
    near = [w for w in words[:-1] if w in materials]
    near = near or [m for m in materials if m in text.casefold().replace("-", " ").split()][:1]
    return topics.key(" ".join([*near[:1], noun]))
