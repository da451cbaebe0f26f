"""Rewrite an English sentence into the third person, with names for pronouns and calendar dates for relative ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hybrid import rules
from hybrid.data import ResolvedDate, Sentence, Token
from hybrid.memory import name_key
from hybrid.stages.dates import readable, with_preposition
from hybrid.stages.statements.inflection import plural, singular

_FIRST = {"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"}
_SECOND = {"you", "your", "yours", "yourself", "ya", "u"}
_LATER = {
    "i": "they",
    "me": "them",
    "my": "their",
    "mine": "theirs",
    "myself": "themselves",
    "we": "they",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
}
_IS = {"gon", "going", "planning", "hoping", "thinking", "looking", "trying", "considering", "excited", "working"}
_STATIVE = ("love", "hate", "prefer", "enjoy", "like", "need", "want", "miss")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;:!?)]|['’]s\b|n['’]t\b)")
# "Just yesterday" is no nearer once it is a date.
_JUST = re.compile(r"\b(?:just|only) ((?:on|in) (?:the \w+ of )?\d)")
_AFTERTHOUGHT = re.compile(
    r",\s+(?:by the way|btw|though|lol|haha|you know|tbh|to be honest|I guess|right|actually)\W*$", re.IGNORECASE
)
_TWICE = re.compile(r"\b(the|in|on|a)\s+\1\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Voices:
    """Say what pronouns mean: the first person's name, the second's (None: unknown), and what other words stand for.

    `participants` are the names that are dropped where they only address somebody; `others` maps the offset of a
    third-person pronoun to the name it stands for.
    """

    first: str
    second: str | None = None
    participants: tuple[str, ...] = ()
    others: Mapping[int, str] = field(default_factory=dict)


class UnknownAddressee(Exception):
    """Say that the sentence speaks of "you" and nobody knows who that is."""


def third_person(
    sentence: Sentence, voices: Voices, dates: Sequence[ResolvedDate] = (), begin: int = 0, mentioned: bool = False
) -> str:
    """Return the sentence as a statement about named people.

    `begin` leaves out what stands before that offset of the turn. `mentioned` says that the first person's name stands
    already in the text before, so that "they" is clear. Raises UnknownAddressee.
    """
    tokens = _plain(_opened([t for t in sentence.tokens if t.start >= begin], voices))
    if not tokens:
        return ""
    edits = _dated(tokens, dates)
    writer = _Writer(sentence, voices, mentioned)
    words: list[str] = []
    if begin == 0 and not mentioned:
        words.append(writer.missing_subject(tokens, sentence))
    for number, token in enumerate(tokens):
        text = edits[token.start] if token.start in edits else writer.word(token)
        if number == 0 and words[-1:] != [""] and words and token.pos in ("VERB", "AUX", "ADV"):
            # A name stands before what was the first word.
            text = f"{text[:1].lower()}{text[1:]}"
        words.append(text + (" " if token.space else ""))
    return finished("".join(words))


def finished(text: str) -> str:
    """Return the text with clean blanks, a capital first letter and a full stop."""
    text = _SPACES.sub(" ", text).strip(" \t\n,;:-–—")
    text = _JUST.sub(r"\1", _BEFORE_MARK.sub(r"\1", _TWICE.sub(r"\1", text)))
    text = _AFTERTHOUGHT.sub("", text)
    while text and (
        unicodedata.category(text[-1]) in ("So", "Sk", "Mn", "Cf") or (text[-1] in " !?.…,;~:)(" and not _closes(text))
    ):
        text = text[:-1]
    return text[:1].upper() + text[1:] + "." if text else ""


def _closes(text: str) -> bool:
    return text.endswith(")") and "(" in text and text.count("(") == text.count(")")


def _opened(tokens: list[Token], voices: Voices) -> list[Token]:
    """Leave out interjections and names that only address somebody, at both ends."""
    vocabulary = rules.load("statements", "en").vocabulary
    fillers = set(vocabulary["fillers"])
    names = {name_key(name) for name in voices.participants} | {
        name_key(n.split()[0]) for n in voices.participants if n.split()
    }
    while tokens:
        size = next((n for n in (4, 3, 2) if " ".join(t.text.casefold() for t in tokens[:n]) in fillers), 0)
        if size and len(tokens) > size + 1:
            tokens = tokens[size:]
            continue
        word = tokens[0].text.casefold()
        follows = tokens[1].text if len(tokens) > 1 else ""
        marked = follows in (",", "!", "-", "–", ".", ":", "...") or name_key(follows) in names or follows.casefold() in fillers
        linking = word in ("and", "but", "so", "also", "plus", "then", "well", "actually") and tokens[0].dep in (
            "cc",
            "advmod",
            "intj",
        )
        if tokens[0].pos == "PUNCT" or linking or ((word in fillers or name_key(word) in names) and marked):
            tokens = tokens[1:]
            continue
        break
    ends = [i for i, t in enumerate(tokens) if name_key(t.text) in names and i > 1 and tokens[i - 1].text == ","]
    if ends and all(t.pos in ("PUNCT", "SYM") or t.text in "!?." for t in tokens[ends[-1] + 1 :]):
        tokens = tokens[: ends[-1] - 1]
    return tokens


def _plain(tokens: list[Token]) -> list[Token]:
    """Leave out what is only put in between commas: ", you know,"."""
    fillers = set(rules.load("statements", "en").vocabulary["fillers"])
    kept = list(tokens)
    for i in range(len(kept) - 3, 0, -1):
        words = " ".join(t.text.casefold() for t in kept[i : i + 2])
        if words in fillers and kept[i - 1].text == "," and i + 2 < len(kept) and kept[i + 2].text == ",":
            del kept[i - 1 : i + 3]
            kept[i - 2] = replace(kept[i - 2], space=True)
    return kept


def _dated(tokens: Sequence[Token], dates: Sequence[ResolvedDate]) -> dict[int, str]:
    """Say what replaces each token of a resolved date: its calendar form at the first, nothing at the others."""
    prepositions = set(rules.load("statements", "en").vocabulary["prepositions"])
    edits: dict[int, str] = {}
    for date in dates:
        inside = [i for i, t in enumerate(tokens) if t.start >= date.start and t.end <= date.end]
        if not inside or date.kind != "date" or date.interval is None:
            continue
        first = inside[0]
        before = tokens[first - 1].text.casefold() if first else ""
        after = tokens[inside[-1] + 1].text if inside[-1] + 1 < len(tokens) else ""
        own = tokens[first].text.casefold() in prepositions
        subject = any(tokens[i].dep in ("nsubj", "nsubjpass", "attr", "poss") for i in inside)
        bare = not own and (before in prepositions or subject or after in ("'s", "’s"))
        for i in inside:
            edits[tokens[i].start] = ""
        edits[tokens[first].start] = _bounded(date, readable(date) if bare else with_preposition(date))
    return edits


def _bounded(date: ResolvedDate, words: str) -> str:
    """Return the words of a date with the preposition that was said: "by Friday" is no "until Friday"."""
    said = date.text.split()[0].casefold() if date.text.split() else ""
    return f"{said}{words.removeprefix('until')}" if words.startswith("until ") and said in ("by", "before") else words


class _Writer:
    """Rewrite the tokens of one sentence in order, remembering whose name has been written."""

    def __init__(self, sentence: Sentence, voices: Voices, mentioned: bool) -> None:
        tokens = sentence.tokens
        self._past = sentence.tense == "past"
        self._voices = voices
        self._mentioned = mentioned
        self._addressed = False
        self._verbs = _verbs(tokens)
        self._tokens = tokens
        self._index = {t.start: i for i, t in enumerate(tokens)}
        self._number: dict[int, str] = {}

    def word(self, token: Token) -> str:
        """Return what a token becomes."""
        lower = token.text.casefold()
        if token.start in self._voices.others:
            return self._others(token)
        if lower in _FIRST and token.pos in ("PRON", "DET", "PROPN", "NOUN", "ADJ") and self._whole(token):
            return self._first(token, lower)
        if lower in _SECOND and token.pos in ("PRON", "DET", "NOUN", "PROPN"):
            return self._second(token, lower)
        if token.tag == "VBZ" and lower in ("'s", "’s") and self._after_replaced(token):
            verb = self._tokens[token.head]
            return " has" if verb.tag == "VBN" and token.dep == "aux" else " is"
        if lower == "gon":
            return "going "
        number = self._number.get(self._index[token.start])
        if number:
            return self._agreeing(token, number)
        if lower in ("na", "ta") and self._index[token.start] and self._tokens[self._index[token.start] - 1].end == token.start:
            return "to"
        return token.text

    def _after_replaced(self, token: Token) -> bool:
        """Say whether the token follows a pronoun that a name stands for now."""
        place = self._index[token.start]
        return place > 0 and self._tokens[place - 1].start in self._voices.others

    def _whole(self, token: Token) -> bool:
        """Say whether the token is a word of its own: the parser cuts "id" into a pronoun and a rest."""
        place = self._index[token.start] + 1
        rest = self._tokens[place].text if not token.space and place < len(self._tokens) else ""
        return not rest[:1].isalpha()

    def missing_subject(self, tokens: Sequence[Token], sentence: Sentence) -> str:
        """Return the name, and a verb where one is missing, for a sentence told without its subject."""
        if sentence.subject is not None or any(t.text.casefold() in _FIRST for t in tokens[:2]):
            return ""
        first = tokens[0]
        lower = first.text.casefold()
        if lower in _IS:
            self._mentioned = True
            return f"{self._voices.first} is "
        if first.pos not in ("VERB", "AUX") or (first.tag == "VB" and lower not in _STATIVE):
            return ""
        self._mentioned = True
        if lower == "been":
            return f"{self._voices.first} has "
        if first.tag in ("VBP", "VB"):
            self._number[self._index[first.start]] = "singular"
        return f"{self._voices.first} "

    def _first(self, token: Token, lower: str) -> str:
        if self._mentioned and lower == "i" and token.dep == "conj":
            return self._voices.first
        if self._mentioned:
            if lower in ("i", "we"):
                self._agree(token, "plural")
            return _LATER[lower]
        self._mentioned = True
        name = self._voices.first
        if lower == "i":
            joined = any(t.head == self._index[token.start] and t.dep == "conj" for t in self._tokens) or token.dep == "conj"
            if not joined:
                self._agree(token, "singular")
            return name
        if lower in ("my", "our", "mine", "ours"):
            return f"{name}'s"
        if lower == "we":
            self._agree(token, "plural")
        return f"{name} and others" if lower in ("we", "us") else name

    def _second(self, token: Token, lower: str) -> str:
        name = self._voices.second
        if name is None:
            raise UnknownAddressee
        if name == self._voices.first:
            subject = token.dep in ("nsubj", "nsubjpass")
            return self._first(
                token, {"your": "my", "yours": "mine", "yourself": "myself"}.get(lower, "i" if subject else "me")
            )
        if lower in ("you", "ya", "u"):
            if token.dep in ("nsubj", "nsubjpass"):
                self._agree(token, "singular")
            return name
        if lower == "yourself":
            return "themselves"
        return f"{name}'s"

    def _others(self, token: Token) -> str:
        name = self._voices.others[token.start]
        if token.tag == "PRP$":
            return f"{name}'s"
        if token.text.casefold() == "they":
            self._agree(token, "singular")
        return name

    def _agree(self, pronoun: Token, number: str) -> None:
        for verb in self._verbs.get(self._index[pronoun.start], ()):
            self._number[verb] = number

    def _agreeing(self, token: Token, number: str) -> str:
        lower = token.text.casefold().replace("’", "'")
        if lower == "'d":
            head = self._tokens[token.head]
            return (
                " had" if head.tag == "VBN" or "better" in [t.text for t in self._tokens if t.head == token.head] else " would"
            )
        if number == "plural":
            return plural(token.text)
        return singular(
            token.text,
            (not self._past and token.tag in ("VBP", "VB", "VBZ", "NN", "NNP", "MD"))
            or (not self._past and lower in ("do", "have")),
        )


def _verbs(tokens: Sequence[Token]) -> dict[int, tuple[int, ...]]:
    """Map each pronoun subject to the finite verbs that agree with it."""
    agreeing: dict[int, tuple[int, ...]] = {}
    for i, token in enumerate(tokens):
        if token.dep not in ("nsubj", "nsubjpass") or token.pos not in ("PRON", "PROPN", "NOUN"):
            continue
        if (
            tokens[token.head].tag == "VB"
            and tokens[token.head].dep in ("ccomp", "xcomp")
            and _finite(tokens, token.head) == token.head
        ):
            # "Help you reach": the infinitive stays.
            continue
        verbs = [_finite(tokens, token.head)]
        modal = tokens[verbs[0]].tag == "MD" or (verbs[0] != token.head and tokens[verbs[0]].lemma == "do")
        verbs.extend(v for v in _joined(tokens, token.head) if not (modal and tokens[v].tag == "VB"))
        agreeing[i] = tuple(verbs)
    return agreeing


def _finite(tokens: Sequence[Token], verb: int) -> int:
    return next(
        (i for i, t in enumerate(tokens) if t.head == verb and t.dep in ("aux", "auxpass") and t.tag != "TO" and i != verb),
        verb,
    )


def _joined(tokens: Sequence[Token], verb: int) -> list[int]:
    """Return the finite verbs that share the subject of this one."""
    found = []
    for i, token in enumerate(tokens):
        if token.dep == "conj" and token.head == verb and i != verb and token.pos in ("VERB", "AUX"):
            if any(t.head == i and t.dep in ("nsubj", "nsubjpass", "expl") for t in tokens):
                continue
            finite = _finite(tokens, i)
            if tokens[finite].tag in ("VBP", "VB", "MD") or tokens[finite].text.casefold() in ("was", "'m", "’m"):
                found.append(finite)
            found.extend(_joined(tokens, i))
    return found
