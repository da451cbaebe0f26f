"""Mark which sentences are worth keeping and what they suggest, by declared rules; say why the others are passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Cue, Document, Sentence, Skipped, Turn
from hybrid.rules import Rule

NO_RULES = "no cues for this language"
NOTHING = "nothing that lasts"
QUESTION = "question"
_ROLES = {"assistant": "assistant turn", "system": "system turn", "tool": "tool output"}


def run(document: Document, settings: Settings) -> Document:
    """Return the document with cues, and a skip with its reason for every turn that has none."""
    known = set(rules.languages("cues"))
    by_ref: dict[str, list[Sentence]] = {}
    for sentence in document.sentences:
        by_ref.setdefault(sentence.ref, []).append(sentence)
    cues: list[Cue] = []
    skipped: list[Skipped] = []
    for turn, language in zip(document.turns, document.languages, strict=True):
        if language not in known:
            skipped.append(Skipped(turn.ref, NO_RULES))
            continue
        found, reason = _read(turn, by_ref.get(turn.ref, []), rules.load("cues", language).rules)
        cues.extend(found)
        if not found:
            skipped.append(Skipped(turn.ref, reason))
    return replace(document, cues=tuple(cues), skipped=tuple(skipped))


@dataclass(frozen=True, slots=True)
class Match:
    """Hold a rule that applies, where, and what its groups caught."""

    rule: Rule
    start: int
    end: int
    groups: dict[str, str]

    @property
    def weight(self) -> float:
        """Return the rule's weight."""
        return float(self.rule.values.get("weight", 1.0))


def matches(rule: Rule, turn: Turn, sentences: Iterable[Sentence]) -> Iterator[Match]:
    """Yield where a rule applies in a turn, its conditions on role, person, tense and question included."""
    if turn.role not in rule.values.get("roles", ("user",)):
        return
    needs = rule.values.get("needs")
    if needs and not any(word in turn.text.casefold() for word in needs):
        return
    if rule.values.get("scope") == "turn":
        match = rule.pattern.search(_plain(turn.text))
        if match:
            yield Match(rule, 0, len(turn.text), _groups(match.groupdict()))
        return
    for sentence in sentences:
        if not _fits(rule, sentence):
            continue
        match = rule.pattern.search(_plain(sentence.text))
        if match:
            yield Match(rule, sentence.start, sentence.end, _groups(match.groupdict()))


def _fits(rule: Rule, sentence: Sentence) -> bool:
    question = rule.values.get("question", False)
    return (
        (question == "any" or question is sentence.question)
        and sentence.person in rule.values.get("person", (sentence.person,))
        and sentence.tense in rule.values.get("tense", (sentence.tense,))
    )


def _read(turn: Turn, sentences: list[Sentence], declared: Iterable[Rule]) -> tuple[list[Cue], str]:
    if turn.role in ("system", "tool"):
        return [], _ROLES[turn.role]
    found = [match for rule in declared for match in matches(rule, turn, sentences)]
    whole = [match for match in found if match.rule.values.get("scope") == "turn"]
    banned = next((match for match in whole if "skip" in match.rule.values), None)
    if banned is not None:
        return [], str(banned.rule.values["skip"])
    cues = [_cue(match, turn) for match in whole]
    reasons = []
    for sentence in sentences:
        kept, reason = _weighed([m for m in found if (m.start, m.end) == (sentence.start, sentence.end) and m not in whole])
        cues.extend(_cue(match, turn) for match in kept)
        if not kept:
            reasons.append(reason or (QUESTION if sentence.question else NOTHING))
    fallback = _ROLES.get(turn.role) or (reasons[0] if len(set(reasons)) == 1 else _first_telling(reasons))
    return cues, fallback


def _weighed(found: list[Match]) -> tuple[list[Match], str | None]:
    """Keep what outweighs the strongest reason to pass over: each attribute, parts of a case, and the best other cue."""
    skips = sorted((m for m in found if "skip" in m.rule.values), key=lambda m: -m.weight)
    floor = skips[0].weight if skips else 0.0
    kept = [m for m in found if "kind" in m.rule.values and m.weight > floor]
    parts = [m for m in kept if m.rule.values.get("part")]
    attributes = [m for m in kept if m.rule.values["kind"] == "attribute"]
    others = sorted((m for m in kept if m not in parts and m not in attributes), key=lambda m: -m.weight)
    best = others[:1] if others and (not attributes or others[0].weight > max(a.weight for a in attributes)) else []
    chosen = [*_one_each(attributes), *best, *parts]
    return chosen, None if chosen or not skips else str(skips[0].rule.values["skip"])


def _one_each(attributes: list[Match]) -> list[Match]:
    """Keep the strongest match for each attribute."""
    chosen: dict[str, Match] = {}
    for match in sorted(attributes, key=lambda m: -m.weight):
        chosen.setdefault(str(match.rule.values["attribute"]), match)
    return [m for m in attributes if m in chosen.values()]


def _first_telling(reasons: list[str]) -> str:
    return next((reason for reason in reasons if reason != NOTHING), NOTHING)


def _cue(match: Match, turn: Turn) -> Cue:
    values = match.rule.values
    captures = dict(match.groups)
    for key in ("part", "attribute", "claim", "reading", "polarity"):
        if key in values:
            captures[key] = str(values[key])
    for flag in ("changeable", "features"):
        if values.get(flag):
            captures[flag] = ",".join(values[flag]) if isinstance(values[flag], list) else "true"
    topic = values.get("topic") or values.get("attribute")
    return Cue(match.rule.id, turn.ref, match.start, match.end, values["kind"], topic, match.weight, captures)


def _groups(groups: dict[str, str | None]) -> dict[str, str]:
    return {name: value.strip(" .,;:!") for name, value in groups.items() if value and value.strip(" .,;:!")}


def _plain(text: str) -> str:
    """Return the text with typewriter apostrophes, at equal length."""
    return text.replace("’", "'").replace("‘", "'")
