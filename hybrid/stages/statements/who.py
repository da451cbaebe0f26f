"""Decide who speaks, who is spoken to, and who or what a sentence is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hybrid import rules
from hybrid.data import Document, Mention, Sentence, Token, Turn
from hybrid.memory import name_key

Attribution = Literal["self_first_person", "self_named", "other_named", "observed"]
PRONOUNS = {
    "he",
    "she",
    "they",
    "it",
    "this",
    "that",
    "these",
    "those",
    "there",
    "who",
    "which",
    "what",
    "one",
    "everyone",
    "everybody",
    "someone",
    "nobody",
    "his",
    "her",
}
_OWNING = {"my", "our", "a", "an", "one", "his", "her", "their"}
_PERSONAL = {"he", "she"}


@dataclass(frozen=True, slots=True)
class Subject:
    """Name who or what a sentence is about: `name` as it is shown, `key` as it is compared, person or thing."""

    name: str
    key: str
    type: str
    kin: bool = False


@dataclass(frozen=True, slots=True)
class Speakers:
    """Know the people of a document: names shown, the user's name, the other one in a talk of two."""

    document: Document
    introduced: str | None = None

    def user(self) -> str:
        """Return the user's name, or the role word where nobody knows it."""
        return self.document.user or self.introduced or "User"

    def name(self, turn: Turn) -> str:
        """Return the name of the one who speaks a turn."""
        if turn.role != "user":
            return turn.speaker or "the assistant"
        return turn.speaker or self.user()

    def is_user(self, turn: Turn) -> bool:
        """Say whether the person behind the account speaks this turn; in doubt not."""
        if turn.role != "user":
            return False
        if turn.speaker is None:
            return True
        anchors = [self.document.user, *self.document.aliases] if self.document.user else []
        return any(name_key(turn.speaker) == name_key(name) for name in anchors if name)

    def addressee(self, turn: Turn) -> str | None:
        """Return who "you" is: the other one of two people, the assistant, or None where nobody can tell."""
        others = [
            name for name in self.document.participants if turn.speaker is None or name_key(name) != name_key(turn.speaker)
        ]
        assistant = any(t.role == "assistant" for t in self.document.turns)
        if turn.role == "assistant":
            return self.user()
        if len(others) == 1 and not assistant:
            return others[0]
        return "the assistant" if not others else None

    def attribution(self, turn: Turn, voice: str | None) -> Attribution:
        """Say on what it rests that the words are the user's own."""
        if voice is not None:
            return "other_named"
        if turn.speaker is None:
            return "self_first_person"
        if not self.is_user(turn):
            return "other_named"
        prefixed = turn.start > 0 or self.document.conversation.format == "plain"
        return "self_named" if prefixed else "self_first_person"


def introduced(document: Document) -> str | None:
    """Return the name that an unnamed user gives for themselves, or None."""
    if document.user is not None:
        return None
    for cue in document.cues:
        if cue.captures.get("attribute") == "name" and document.turn(cue.ref).speaker is None:
            return cue.captures.get("value")
    return None


def third_subject(sentence: Sentence, speaker: str, mentions: tuple[Mention, ...]) -> Subject | None:
    """Return the subject of a third-person sentence, None where it is a pronoun or missing."""
    index = next(
        (i for i, t in enumerate(sentence.tokens) if t.dep in ("nsubj", "nsubjpass") and sentence.tokens[t.head].dep == "ROOT"),
        None,
    )
    if index is None:
        return _owned(sentence, speaker)
    token = sentence.tokens[index]
    if token.text.casefold() in PRONOUNS or token.pos == "PRON":
        return None
    kin = set(rules.load("statements", "en").vocabulary["kin"])
    children = [t for t in sentence.tokens if t.head == index]
    if token.lemma in kin and any(t.dep in ("poss", "det") and t.text.casefold() in _OWNING for t in children):
        named = next((t for t in children if t.dep == "appos" and t.pos == "PROPN"), None)
        if named is not None:
            return Subject(named.text, named.text, "person", kin=True)
        return Subject(f"{speaker}'s {token.lemma}", token.lemma, "person", kin=True)
    if token.lemma in rules.load("statements", "en").vocabulary["groups"]:
        return Subject(token.text, token.lemma, "group")
    own = next((t for t in children if t.dep == "appos" and t.pos == "PROPN"), None)
    if token.pos == "PROPN":
        name = _full_name(sentence.tokens, index)
        compound_kin = any(t.lemma in kin for t in children if t.dep == "compound")
        animate = sentence.tokens[token.head].lemma in rules.load("statements", "en").vocabulary["animate"]
        article = any(t.dep == "det" for t in children)
        return Subject(name, name, "thing" if article else _type(token, mentions, compound_kin or animate))
    if own is not None and own.entity == "PERSON":
        return Subject(own.text, own.text, "person")
    words = [
        t.text
        for i, t in enumerate(sentence.tokens)
        if t.head == index and i < index and t.dep in ("compound", "amod", "nummod")
    ]
    phrase = " ".join([*words, token.text])
    owned = any(t.dep == "poss" and t.text.casefold() in ("my", "our") for t in children)
    return Subject(f"{speaker}'s {phrase}" if owned else phrase, phrase, "thing")


def _owned(sentence: Sentence, speaker: str) -> Subject | None:
    """Return the relative that opens a sentence whose verb the parser took for a noun."""
    words = [t for t in sentence.tokens[:5] if t.pos != "ADJ"]
    kin = set(rules.load("statements", "en").vocabulary["kin"])
    if len(words) < 3 or words[0].text.casefold() not in ("my", "our") or words[1].text.casefold() not in kin:
        return None
    if words[2].text[:1].isupper():
        return Subject(words[2].text, words[2].text, "person", kin=True)
    return Subject(f"{speaker}'s {words[1].text}", words[1].text.casefold(), "person", kin=True)


def pronoun_subject(sentence: Sentence, earlier: tuple[Subject, ...], named: str | None) -> tuple[Token, Subject] | None:
    """Resolve he or she to the one person spoken of in the same turn, else to `named`, else None."""
    subjects = (t for t in sentence.tokens if t.dep in ("nsubj", "nsubjpass"))
    token = next((t for t in subjects if t.text.casefold() in _PERSONAL), None)
    people = list({s.key: s for s in earlier if s.type == "person"}.values())
    if token is None or len(people) > 1:
        return None
    if people:
        return token, people[0]
    return (token, Subject(named, named, "person")) if named is not None else None


def _full_name(tokens: tuple[Token, ...], head: int) -> str:
    parts = [i for i, t in enumerate(tokens) if t.head == head and i < head and t.dep == "compound" and t.pos == "PROPN"]
    return " ".join(tokens[i].text for i in [*parts, head])


def _type(token: Token, mentions: tuple[Mention, ...], acts: bool) -> str:
    """Return what a name stands for: a person where it does what people do, else what the parser takes it for."""
    if acts:
        return "person"
    found = next((m.type for m in mentions if m.start <= token.start < m.end), "unknown")
    return found if found in ("person", "place", "organisation") else "thing"
