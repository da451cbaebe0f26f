"""Name what a sentence is about: a topic from the lexicon, else the head of its object."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from anyascii import anyascii

from hybrid import rules
from hybrid.data import Sentence, Token

_NOT_TOPICS = {
    "i",
    "me",
    "it",
    "that",
    "this",
    "thing",
    "lot",
    "bit",
    "way",
    "one",
    "time",
    "day",
    "stuff",
    "something",
    "anything",
    "everything",
    "year",
    "week",
    "month",
    "kind",
    "sort",
    "people",
    "course",
    "thank",
    "thanks",
}
_EMPTY = {
    "be",
    "have",
    "do",
    "get",
    "go",
    "make",
    "so",
    "very",
    "really",
    "just",
    "too",
    "also",
    "not",
    "never",
    "now",
    "then",
    "again",
}
_HEADS = (
    "dobj",
    "attr",
    "pobj",
    "oprd",
    "nsubj",
    "nsubjpass",
    "conj",
    "ROOT",
    "xcomp",
    "pcomp",
    "ccomp",
    "appos",
    "dative",
    "acomp",
)


def key(text: str, words: int = 5) -> str:
    """Return a snake_case ASCII key of at most so many words; other scripts are transliterated."""
    folded = anyascii(text).casefold()
    return "_".join(re.findall(r"[a-z0-9]+", folded)[:words])[:60].strip("_")


def lexical(text: str, lemmas: Iterable[str] = ()) -> str | None:
    """Return the lexicon's topic for the first word of the text that belongs to one, or None."""
    single, phrases = _lexicon()
    folded = text.casefold()
    for phrase, topic in phrases:
        if phrase in folded:
            return topic
    for word in [*re.findall(r"[\w'-]+", folded), *lemmas]:
        found = single.get(word) or single.get(word.rstrip("s"))
        if found:
            return found
    return None


@functools.lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    topics = rules.load("statements", "en").values["topics"]
    words = [(str(word), str(topic)) for topic, listed in topics.items() for word in listed]
    return {w: t for w, t in reversed(words) if " " not in w}, tuple((w, t) for w, t in words if " " in w)


def noun_phrases(sentence: Sentence, within: str | None = None) -> tuple[str, ...]:
    """Return the noun phrases of a sentence without determiners, objects first, in lemmas for plural heads."""
    found: list[tuple[int, int, str]] = []
    tokens = sentence.tokens
    for i, token in enumerate(tokens):
        gerund = token.tag == "VBG" and token.dep in ("xcomp", "pcomp", "dobj")
        if not (token.pos in ("NOUN", "PROPN") or gerund) or token.dep == "compound":
            continue
        if token.lemma in _NOT_TOPICS or token.entity in ("DATE", "TIME", "CARDINAL", "ORDINAL"):
            continue
        phrase = _phrase(tokens, i)
        if not any(c.isalnum() for c in phrase) or "█" in phrase:
            continue
        if within is not None and token.text.casefold() not in within.casefold():
            continue
        rank = _HEADS.index(token.dep) if token.dep in _HEADS else len(_HEADS)
        found.append((rank, i, phrase))
    return tuple(dict.fromkeys(phrase for _, _, phrase in sorted(found)))


def content(sentence: Sentence) -> str:
    """Return the first words of a sentence that carry its sense, for a sentence without nouns."""
    own = [t.lemma for t in sentence.tokens if t.pos in ("ADJ", "VERB", "ADV") and t.lemma not in _EMPTY and t.lemma.isalpha()]
    return " ".join(own[:2]) or sentence.text


def _phrase(tokens: Sequence[Token], head: int) -> str:
    words = [
        t.text
        for i, t in enumerate(tokens)
        if t.head == head and i < head and t.dep in ("compound", "amod") and t.entity not in ("DATE", "TIME")
    ]
    token = tokens[head]
    last = token.text if token.pos == "PROPN" or token.tag == "VBG" else token.lemma
    return " ".join([*words, last])
