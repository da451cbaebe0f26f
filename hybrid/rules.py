"""Load the declared rules of a stage and prove them on their own examples.

A rule file is `rules/<stage>.yaml` or `rules/<stage>.<language>.yaml`:

    version: 1
    verbose: true                          blanks in patterns are layout (the default), or false: blanks count
    include: [people.en]                   optional files whose word lists are taken over
    vocabulary: {name: [word, …]}          optional word lists, used in patterns as {name}
    rules:
      - id: cues.en.like                   never reused
        description: one line
        languages: [en]
        pattern: 'regular expression'      case-insensitive unless `case: sensitive`
        examples: ["text where it must match"]
        negative_examples: ["text where it must not"]
        ...                                further keys belong to the stage

`examples` may also be mappings whose `text` is matched; a stage proves what else they hold.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import regex
import yaml

from hybrid import content
from hybrid.errors import RuleError

_REQUIRED = ("id", "description", "languages", "pattern", "examples", "negative_examples")


@dataclass(frozen=True, slots=True)
class Rule:
    """Hold one declared rule; `values` are the keys that belong to the stage."""

    id: str
    description: str
    languages: tuple[str, ...]
    pattern: regex.Pattern[str]
    examples: tuple[Any, ...]
    negative_examples: tuple[Any, ...]
    values: Mapping[str, Any] = field(default_factory=dict)

    def matches(self, text: str) -> bool:
        """Say whether the pattern occurs in the text."""
        return self.pattern.search(text) is not None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """Hold one file of rules with its vocabulary."""

    name: str
    rules: tuple[Rule, ...]
    vocabulary: Mapping[str, tuple[str, ...]]
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Proof:
    """Say how a rule did on one of its examples."""

    rule: str
    file: str
    example: str
    expected: bool
    found: bool

    @property
    def passed(self) -> bool:
        """Say whether the rule did what its example asks."""
        return self.expected == self.found


def files(stage: str) -> tuple[RuleFile, ...]:
    """Return the rule files of a stage: the general one and those of its languages. Raises RuleError, ContentError."""
    paths = content.listing("rules", f"{stage}.yaml") + content.listing("rules", f"{stage}.*.yaml")
    return tuple(_load(path, path.stat().st_mtime_ns) for path in paths)


def load(stage: str, language: str | None = None) -> RuleFile:
    """Return one rule file, `<stage>.<language>.yaml` or `<stage>.yaml`. Raises RuleError, ContentError."""
    path = content.find("rules", f"{stage}.{language}.yaml" if language else f"{stage}.yaml")
    return _load(path, path.stat().st_mtime_ns)


def languages(stage: str) -> tuple[str, ...]:
    """Return the languages for which a stage has a rule file of its own."""
    return tuple(path.name.split(".")[1] for path in content.listing("rules", f"{stage}.*.yaml"))


def prove(file: RuleFile, matches: Callable[[Rule, str], bool] = Rule.matches) -> tuple[Proof, ...]:
    """Try every rule of a file on its own examples."""
    return tuple(
        Proof(rule.id, file.name, text, expected, matches(rule, text))
        for rule in file.rules
        for expected, examples in ((True, rule.examples), (False, rule.negative_examples))
        for text in (str(e["text"]) if isinstance(e, Mapping) else str(e) for e in examples)
    )


@functools.lru_cache(maxsize=128)
def _load(path: Path, _mtime: int) -> RuleFile:
    try:
        # The C loader reads the same safe subset, many times as fast.
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RuleError(f"{path.name} is not YAML: {error}", "correct the file") from error
    if not isinstance(raw, Mapping) or not isinstance(raw.get("rules", []), list):
        raise RuleError(f"{path.name} has no list of rules", "a rule file is a mapping with the key rules")
    vocabulary: dict[str, tuple[str, ...]] = {}
    for other in raw.get("include") or ():
        shared = content.find("rules", f"{other}.yaml")
        vocabulary.update(_load(shared, shared.stat().st_mtime_ns).vocabulary)
    vocabulary.update(_vocabulary(path.name, raw.get("vocabulary") or {}))
    rules = tuple(_rule(path.name, entry, vocabulary, bool(raw.get("verbose", True))) for entry in raw.get("rules", []))
    ids = [rule.id for rule in rules]
    if len(set(ids)) != len(ids):
        raise RuleError(f"{path.name} uses a rule id twice", "each id stands once and is never reused")
    values = {k: v for k, v in raw.items() if k not in ("rules", "vocabulary", "include")}
    return RuleFile(path.name, rules, vocabulary, values)


def _vocabulary(name: str, raw: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the word lists. YAML takes a bare yes, no, on or off for a truth value, which would drop the word."""
    for key, words in raw.items():
        wrong = [word for word in words if not isinstance(word, (str, int, float)) or isinstance(word, bool)]
        if wrong:
            raise RuleError(
                f"{name}: the word list {key} holds {wrong[0]!r}", "put words such as yes, no, on and off in quotes"
            )
    return {str(key): tuple(str(word) for word in words) for key, words in raw.items()}


def _rule(name: str, entry: Any, vocabulary: Mapping[str, tuple[str, ...]], verbose: bool) -> Rule:
    if not isinstance(entry, Mapping):
        raise RuleError(f"{name} holds a rule that is not a mapping", f"each rule needs {', '.join(_REQUIRED)}")
    missing = [key for key in _REQUIRED if key not in entry]
    if missing:
        raise RuleError(f"{name}: rule {entry.get('id', '?')} lacks {missing[0]}", f"each rule needs {', '.join(_REQUIRED)}")
    flags = regex.VERSION1 | (regex.VERBOSE if verbose else 0)
    if entry.get("case") != "sensitive":
        flags |= regex.IGNORECASE
    try:
        compiled = regex.compile(expand(str(entry["pattern"]), vocabulary), flags)
    except (regex.error, KeyError) as error:
        raise RuleError(f"{name}: rule {entry['id']} has a broken pattern: {error}", "correct the pattern") from error
    rest = {k: v for k, v in entry.items() if k not in _REQUIRED}
    return Rule(
        str(entry["id"]),
        str(entry["description"]),
        tuple(entry["languages"]),
        compiled,
        tuple(entry["examples"]),
        tuple(entry["negative_examples"]),
        rest,
    )


def expand(pattern: str, vocabulary: Mapping[str, tuple[str, ...]]) -> str:
    """Return the pattern with each `{name}` of the vocabulary replaced by an alternation, longest word first."""

    def alternation(match: regex.Match[str]) -> str:
        words = sorted(vocabulary[match.group(1)], key=len, reverse=True)
        return "(?:" + "|".join(regex.escape(w, special_only=True).replace("\\ ", r"\s+") for w in words) + ")"

    return str(regex.sub(r"\{([a-z][a-z_]*)\}", alternation, pattern))
