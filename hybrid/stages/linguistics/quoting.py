"""Find words that a speaker quotes from somebody else, so that their first person is not taken for the speaker's."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid import rules


@dataclass(frozen=True, slots=True)
class Quotation:
    """Mark quoted words; `name` is the person who said them, `opening` where the words that introduce them begin."""

    start: int
    end: int
    name: str
    opening: int


def quotations(text: str, language: str) -> tuple[Quotation, ...]:
    """Return the quoted words of other people in a text, with the name or noun that the text gives them."""
    if not any(mark in text for mark in "\"'“‘«"):
        return ()
    found: dict[int, Quotation] = {}
    for rule in rules.load("linguistics").rules:
        if language not in rule.languages:
            continue
        for match in rule.pattern.finditer(text):
            name = match.groupdict().get("name") or match.group("who")
            start, end = match.span("quote")
            quote = Quotation(start, end, name, match.start())
            found.setdefault(quote.start, quote)
    return tuple(found[start] for start in sorted(found))
