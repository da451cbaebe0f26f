"""What a date expression is while it is being worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Literal

import regex

from hybrid.rules import Rule
from hybrid.stages.dates.calendar import Range
from hybrid.stages.dates.lexicon import Lexicon


class Unanchored(Exception):
    """Say that an expression needs a reference that is not known."""


@dataclass(frozen=True, slots=True)
class Value:
    """Hold what an expression means so far.

    `dated` holds where the year was said, `weekday` where a weekday was, `clock` for a time of day without date,
    `amounts` for a length of time.
    """

    range: Range | None = None
    kind: Literal["date", "duration", "recurrence", "unresolved", "clock"] = "date"
    dated: bool = False
    weekday: int | None = None
    clock: tuple[time, time] | None = None
    amounts: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Atom:
    """Hold an expression that was found: its place in the text, its value and the rules that made it."""

    start: int
    end: int
    value: Value
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Context:
    """Hold all that a computation may look at: the match, the words of the language, the reference and the direction."""

    match: regex.Match[str]
    rule: Rule
    lexicon: Lexicon
    moment: datetime | None
    weeks: str
    direction: int
    atoms: Mapping[str, Value] = field(default_factory=dict)

    @property
    def reference(self) -> datetime:
        """Return the reference. Raises Unanchored where there is none."""
        if self.moment is None:
            raise Unanchored
        return self.moment

    @property
    def today(self) -> date:
        """Return the day of the reference. Raises Unanchored where there is none."""
        return self.reference.date()

    @property
    def sign(self) -> int:
        """Return the direction that the rule fixes."""
        return int(self.rule.values.get("sign", 1))

    def text(self, name: str) -> str | None:
        """Return what a named group matched first, None for nothing or for a group the pattern lacks."""
        found = self.texts(name)
        return found[0] if found else None

    def texts(self, name: str) -> list[str]:
        """Return all that a named group matched."""
        if name not in self.match.re.groupindex:
            return []
        return [found for found in self.match.captures(name) if found]

    def number(self, name: str) -> int | None:
        """Return a number in digits, with an ordinal ending, or in words."""
        found = self.text(name)
        if found is None:
            return None
        digits = regex.match(r"\d+", found)
        if digits is not None:
            return int(digits.group())
        for words in ("ordinal", "number"):
            if self.lexicon.knows(words, found):
                return int(self.lexicon.value(words, found))
        return None

    def word(self, words: str, name: str | None = None) -> str | None:
        """Return the value of what a group matched, from the list of words."""
        found = self.text(name or words)
        return None if found is None else str(self.lexicon.value(words, found))
