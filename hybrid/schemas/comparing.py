"""Decide whether a text is known, a changed form of something known, or new."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hybrid import rules
from hybrid.memory import Memory, normalized


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold the verdict, the memory it rests on, and whether the new text says all that the old one says."""

    verdict: Literal["new", "known", "changed"]
    memory: Memory | None = None
    covers: bool = False
    reason: str = "nothing like it is known"


def compared(text: str, known: Iterable[Memory], limits: Mapping[str, Any], subject: str = "") -> Comparison:
    """Compare the words of a text with each known memory; the closest one decides.

    The subject's own name says nothing: two facts about one person are not the same. Known: hardly a word of the text is
    missing in the memory. Changed: much is shared and something is added.
    """
    names = frozenset(_stem(w) for w in normalized(f"{subject} user").split())
    words = _words(text, limits["same"]) - names
    best, score = None, 0.0
    for memory in known:
        shared = _similarity(words, _words(memory.text, limits["same"]) - names)
        if shared > score:
            best, score = memory, shared
    if best is None or score < limits["changed"]:
        return Comparison("new")
    old = _words(best.text, limits["same"]) - names
    if len(words & old) / max(1, len(words)) >= limits["known"]:
        return Comparison("known", best, False, "known and not materially changed")
    return Comparison("changed", best, len(words & old) / max(1, len(old)) >= limits["known"], "adds to what is known")


def _similarity(new: frozenset[str], old: frozenset[str]) -> float:
    return len(new & old) / max(1, min(len(new), len(old)))


def _words(text: str, same: Iterable[Iterable[str]]) -> frozenset[str]:
    empty = set(rules.load("checks", "en").vocabulary["function"])
    classes = {_stem(word): f"={number}" for number, group in enumerate(same) for word in group}
    plain = re.sub(r"\bas of \d{4}-\d{2}-\d{2}:?|\(date unknown\)", " ", text.casefold())
    return frozenset(classes.get(_stem(w), _stem(w)) for w in normalized(plain).split() if w not in empty)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")
