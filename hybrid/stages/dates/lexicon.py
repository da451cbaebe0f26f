"""The rules and words of one language, ready for matching."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import regex

from hybrid import rules
from hybrid.rules import Rule

STAGE: Final = "dates"
_WORD: Final = regex.compile(r"[\p{L}\p{M}]+(?:'[\p{L}]+)?")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Hold the rules of a language by level, its words with their values, and its cues of direction."""

    levels: tuple[tuple[Rule, ...], tuple[Rule, ...]]
    words: Mapping[str, Mapping[str, Any]]
    triggers: Mapping[str, frozenset[str]]
    past: regex.Pattern[str]
    future: regex.Pattern[str]

    def value(self, name: str, text: str) -> Any:
        """Return the value of a word of a list. Raises KeyError for a word that the list lacks."""
        return self.words[name][text.lower().strip()]

    def knows(self, name: str, text: str) -> bool:
        """Say whether a list holds a word."""
        return text.lower().strip() in self.words.get(name, {})

    def present(self, text: str) -> frozenset[str]:
        """Return the lists of which the text holds a word, and `digit` where it holds a digit."""
        tokens = set(_WORD.findall(text.lower()))
        tokens.update([word.split("'")[0] for word in tokens])
        found = {name for name, words in self.triggers.items() if not words.isdisjoint(tokens)}
        if any(c.isdigit() for c in text):
            found.add("digit")
        return frozenset(found)


def languages() -> tuple[str, ...]:
    """Return the languages that have a file of date rules."""
    return rules.languages(STAGE)


def lexicon(language: str) -> Lexicon | None:
    """Return the lexicon of a language; None for one that has no rule file."""
    if language not in languages():
        return None
    return _build(_Holder(rules.load(STAGE, language)))


class _Holder:
    """Carry a rule file through the cache: its mappings cannot be hashed."""

    def __init__(self, file: rules.RuleFile) -> None:
        self.file = file

    def __hash__(self) -> int:
        return id(self.file)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Holder) and self.file is other.file


@functools.lru_cache(maxsize=16)
def _build(holder: _Holder) -> Lexicon:
    file = holder.file
    words: dict[str, dict[str, Any]] = {
        str(name): {str(word).lower(): value for word, value in (entries or {}).items()}
        for name, entries in (file.values.get("words") or {}).items()
    }
    triggers = {name: frozenset(t for word in entries for t in _last_words(word)) for name, entries in words.items()}
    cues = file.values.get("cues") or {}
    levels = tuple(tuple(r for r in file.rules if int(r.values.get("level", 1)) == level) for level in (1, 2))
    return Lexicon((levels[0], levels[1]), words, triggers, _cue(cues.get("past")), _cue(cues.get("future")))


def _last_words(phrase: str) -> tuple[str, ...]:
    found = _WORD.findall(phrase)
    return (found[-1], found[-1].split("'")[0]) if found else (phrase,)


def _cue(pattern: str | None) -> regex.Pattern[str]:
    return regex.compile(rf"(?:\b|(?='))(?:{pattern})\b" if pattern else r"(?!)", regex.IGNORECASE)
