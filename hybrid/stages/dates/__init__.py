"""Find date expressions and say which days they mean, against the time at which they were said."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

from hybrid.config import Settings
from hybrid.data import Document, ResolvedDate
from hybrid.rules import Rule
from hybrid.stages.dates.lexicon import Lexicon, languages, lexicon
from hybrid.stages.dates.phrases import readable, with_preposition
from hybrid.stages.dates.spans import analyse
from hybrid.stages.dates.values import Atom

__all__ = ["find_dates", "languages", "matches", "readable", "run", "with_preposition"]

_PROOF_TIME = datetime(2024, 5, 15, 10, 0)


def find_dates(
    text: str,
    reference: datetime | None,
    language: str | None = None,
    weeks: str = "rolling",
    *,
    include_other: bool = False,
) -> list[ResolvedDate]:
    """Return the date expressions of a text with the inclusive range that each means, sorted, without overlap.

    `reference` is when it was said; without one only absolute expressions resolve. `language` is a code; a language without
    rule file yields nothing; without a code the rules that explain most of the text are taken. `weeks` is `rolling` or
    `calendar`. Durations, recurrences and what cannot be resolved come only with `include_other`.
    """
    naive = reference.replace(tzinfo=None) if reference is not None else None
    atoms = _atoms(text, naive, language, weeks)
    found = [_dated(text, atom, reference) for atom in atoms if atom.value.kind != "clock"]
    return [item for item in found if include_other or item.kind == "date"]


def matches(rule: Rule, text: str) -> bool:
    """Say whether a rule takes part in an expression that is found in an example."""
    return any(
        rule.id in atom.rules
        for language in (languages() if "*" in rule.languages else rule.languages)
        for known in (lexicon(language),)
        if known is not None
        for atom in analyse(text, known, _PROOF_TIME, "rolling")
    )


def run(document: Document, settings: Settings) -> Document:
    """Return the document with the dates of every turn, resolved against the turn's own time."""
    found: list[ResolvedDate] = []
    for index, turn in enumerate(document.turns):
        language = document.languages[index] if index < len(document.languages) else document.language
        if language is None:
            continue
        dates = find_dates(turn.text, turn.time, language, settings.weeks, include_other=True)
        found.extend(replace(item, ref=turn.ref) for item in dates)
    return replace(document, dates=tuple(found))


def _atoms(text: str, reference: datetime | None, language: str | None, weeks: str) -> list[Atom]:
    codes = languages() if language is None else (language,)
    known: list[Lexicon] = [found for code in codes if (found := lexicon(code)) is not None]
    tried = [analyse(text, rules, reference, weeks) for rules in known]
    return max(tried, key=lambda atoms: sum(atom.end - atom.start for atom in atoms), default=[])


def _dated(text: str, atom: Atom, reference: datetime | None) -> ResolvedDate:
    value = atom.value
    kind = value.kind if value.kind != "clock" else "unresolved"
    words = text[atom.start : atom.end]
    if value.range is None or kind != "date":
        return ResolvedDate(atom.start, atom.end, words, kind="unresolved" if kind == "date" else kind)
    first, last = (_zoned(end, reference) for end in (value.range.first, value.range.last))
    return ResolvedDate(atom.start, atom.end, words, first, last, value.range.grain)


def _zoned(moment: date | None, reference: datetime | None) -> date | None:
    """Return a moment with the zone of the reference, a day as it is."""
    if isinstance(moment, datetime) and reference is not None:
        return moment.replace(tzinfo=reference.tzinfo)
    return moment
