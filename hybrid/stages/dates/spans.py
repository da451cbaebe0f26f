"""Find date expressions by declared rules, in two levels, and have them worked out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

import regex

from hybrid.rules import Rule
from hybrid.stages.dates.compose import COMPOSERS, NoFit
from hybrid.stages.dates.lexicon import Lexicon
from hybrid.stages.dates.resolve import RESOLVERS
from hybrid.stages.dates.values import Atom, Context, Unanchored, Value

_SYMBOLS: Final = {"date": "\ue000", "unresolved": "\ue000", "clock": "\ue001", "duration": "\ue002", "recurrence": "\ue003"}
_QUOTES: Final = {ord("’"): "'", ord("‘"): "'", ord("`"): "'", ord("\u00a0"): " ", **{ord(s): " " for s in _SYMBOLS.values()}}
_BLANKS: Final = regex.compile(r"\s+")
_SENTENCE_END: Final = regex.compile(r"[.!?;]\s|\n")
_PASSES: Final = 4
_WINDOW: Final = 240


def analyse(text: str, lexicon: Lexicon, reference: datetime | None, weeks: str) -> list[Atom]:
    """Return the expressions in a text, sorted, without overlap; offsets count in the text."""
    present = lexicon.present(text)
    rules = [rule for rule in lexicon.levels[0] if _may_match(rule, present)]
    if not rules:
        return []
    normal, offsets = _normalised(text)
    atoms = list(_first_level(normal, rules, lexicon, reference, weeks))
    if not atoms:
        return []
    atoms = _second_level(normal, atoms, lexicon, reference, weeks)
    return [replace(atom, start=offsets[atom.start], end=offsets[atom.end - 1] + 1) for atom in atoms]


def _may_match(rule: Rule, present: frozenset[str]) -> bool:
    return all(any(name in present for name in str(need).split("|")) for need in rule.values.get("needs", ()))


def _normalised(text: str) -> tuple[str, list[int]]:
    """Return the text with straight quotes and single blanks, and the offset that each of its characters had."""
    straight = text.translate(_QUOTES)
    pieces: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in _BLANKS.finditer(straight):
        pieces.append(straight[at : match.start()])
        offsets.extend(range(at, match.start()))
        pieces.append("\n" if "\n" in match.group() and match.group().count("\n") > 1 else " ")
        offsets.append(match.start())
        at = match.end()
    pieces.append(straight[at:])
    offsets.extend(range(at, len(straight)))
    return "".join(pieces), offsets


def _first_level(text: str, rules: Iterable[Rule], lexicon: Lexicon, reference: datetime | None, weeks: str) -> Iterator[Atom]:
    found = [(match, rule) for rule in rules for match in rule.pattern.finditer(text) if match.end() > match.start()]
    found.sort(key=lambda item: (item[0].start(), -item[0].end()))
    at = 0
    for match, rule in found:
        if match.start() < at:
            continue
        context = Context(match, rule, lexicon, reference, weeks, direction(text, match.start(), match.end(), lexicon))
        value = _worked_out(context)
        if value is not None:
            yield Atom(match.start(), match.end(), value, frozenset((rule.id,)))
            at = match.end()


def _worked_out(context: Context) -> Value | None:
    """Return the value of a match; unresolved without a reference, None where the calendar has no such day."""
    name = str(context.rule.values.get("resolve"))
    try:
        resolver = RESOLVERS.get(name) or COMPOSERS[name]
        value = resolver(context)
    except Unanchored:
        return Value(kind="unresolved")
    except (ValueError, OverflowError, KeyError, NoFit):
        return None
    found = value.range
    if found is not None and found.first is not None and found.last is not None and found.first > found.last:
        return None
    return value


def direction(text: str, start: int, end: int, lexicon: Lexicon) -> int:
    """Return -1, 1 or 0: whether the sentence around a span looks back, ahead, or neither."""
    left, right = max(0, start - _WINDOW), min(len(text), end + _WINDOW)
    opened = max((m.end() for m in _SENTENCE_END.finditer(text, left, start)), default=left)
    closing = _SENTENCE_END.search(text, end, right)
    before = text[opened:start]
    after = text[end : closing.start() if closing else right]
    for piece, last in ((before, True), (after, False)):
        past = [m.start() for m in lexicon.past.finditer(piece)]
        future = [m.start() for m in lexicon.future.finditer(piece)]
        if past or future:
            pick = max if last else min
            nearest = pick(past + future)
            return 1 if nearest in future and nearest not in past else -1
    return 0


def _second_level(text: str, atoms: list[Atom], lexicon: Lexicon, reference: datetime | None, weeks: str) -> list[Atom]:
    for _ in range(_PASSES):
        line, starts = _reduced(text, atoms)
        joined = list(_joins(line, starts, atoms, lexicon, (text, reference, weeks)))
        if not joined:
            break
        taken = {index for indices, _ in joined for index in indices}
        kept = [atom for index, atom in enumerate(atoms) if index not in taken]
        atoms = sorted([*kept, *(atom for _, atom in joined)], key=lambda atom: atom.start)
    return atoms


def _reduced(text: str, atoms: list[Atom]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with a symbol for each expression, and the original span of each of its characters."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    at = 0
    for atom in atoms:
        pieces.append(text[at : atom.start])
        spans.extend((n, n + 1) for n in range(at, atom.start))
        pieces.append(_SYMBOLS[atom.value.kind])
        spans.append((atom.start, atom.end))
        at = atom.end
    pieces.append(text[at:])
    spans.extend((n, n + 1) for n in range(at, len(text)))
    return "".join(pieces), spans


def _joins(
    line: str,
    spans: list[tuple[int, int]],
    atoms: list[Atom],
    lexicon: Lexicon,
    situation: tuple[str, datetime | None, str],
) -> Iterator[tuple[list[int], Atom]]:
    text, reference, weeks = situation
    by_start = {atom.start: index for index, atom in enumerate(atoms)}
    found = [(m, rule) for rule in lexicon.levels[1] for m in rule.pattern.finditer(line)]
    order = {rule.id: number for number, rule in enumerate(lexicon.levels[1])}
    found.sort(key=lambda item: (order[item[1].id], item[0].start()))
    used: set[int] = set()
    for match, rule in found:
        inside = [by_start[spans[n][0]] for n in range(match.start(), match.end()) if line[n] in "\ue000\ue001\ue002\ue003"]
        atom = _joined(match, rule, [atoms[i] for i in inside], spans)
        if used.intersection(inside) or any(rule.id in atoms[i].rules for i in inside) or atom is None:
            continue
        named = _named(match, spans, atoms, by_start)
        way = direction(text, atom.start, atom.end, lexicon)
        value = _worked_out(Context(match, rule, lexicon, reference, weeks, way, named))
        if value is not None:
            used.update(inside)
            yield inside, replace(atom, value=value)


def _joined(match: regex.Match[str], rule: Rule, inside: list[Atom], spans: list[tuple[int, int]]) -> Atom | None:
    if not inside:
        return None
    made = frozenset((rule.id,)).union(*(atom.rules for atom in inside))
    return Atom(spans[match.start()][0], spans[match.end() - 1][1], Value(), made)


def _named(
    match: regex.Match[str], spans: list[tuple[int, int]], atoms: list[Atom], by_start: dict[int, int]
) -> dict[str, Value]:
    named: dict[str, Value] = {}
    for name in ("a", "b", "c", "s", "t"):
        if name in match.re.groupindex and match.start(name) >= 0:
            named[name] = atoms[by_start[spans[match.start(name)][0]]].value
    return named
