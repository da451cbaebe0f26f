"""Put together what one sentence cannot say: a problem and its solution, a procedure's steps, a tool's numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hybrid.data import Cue, Sentence, Span, Turn

_STEP = re.compile(r"(?:^|(?<=[\s:;,(]))(?:step\s+)?(?:\d{1,2}[.):]|(?:one|two|three|four|five|six)[.):])\s+", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:^|(?<=[\s,.;:]))(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|then|next|after that|finally|lastly)\b,?\s*", re.IGNORECASE
)
_RATE = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*(?:%|percent)", re.IGNORECASE)
_FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*(?:[= ]\d+)?)")
_PURPOSE = re.compile(
    r"\b(?:for|to|when)\s+((?:find|search|check|fetch|test|scan|look|read|convert|compare|list|count|format|clean|correct"
    r"|download|resiz|pars|track)\w*\b[^,.;!?]*)",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"[^.;!?]*\b(?:common (?:issue|problem|failure)s?|come out|fail\w*|times? out|breaks?|crash\w*|chokes?|struggle\w*"
    r"|does(?:n't| not) work|error\w*|skips?|misses)\b[^.;!?]*",
    re.IGNORECASE,
)
_SUCCESS = re.compile(
    r"[^.;!?]*\b(?:work(?:s|ed)? (?:best|well|great|fine)|best (?:for|when|used|with|if)|great for|ideal for|helped|helps)"
    r"\b[^.;!?]*",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"[^.!?]*\b(?:done when|finished when|complete when|until (?:it|all|every|the)|only when)\b[^.!?]*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Composite:
    """Hold a statement made of several places: its kind, their spans, and the pieces by name."""

    kind: str
    cue: Cue
    spans: tuple[Span, ...]
    details: dict[str, Any] = field(default_factory=dict)


def case(parts: Sequence[tuple[Cue, Sentence]]) -> Composite | None:
    """Return a case where both a problem and a solution were told, else None: half a pair is no case."""
    pieces: dict[str, list[Sentence]] = {}
    for cue, sentence in parts:
        pieces.setdefault(cue.captures["part"], []).append(sentence)
    solutions = pieces.get("solution", [])
    ended = pieces.get("outcome", [])
    problems = [s for s in pieces.get("problem", []) if s not in solutions and s not in ended] or [
        s for s in pieces.get("problem", []) if len(s.text) > 60
    ]
    if not problems or not solutions:
        return None
    causes = [s for s in pieces.get("cause", []) if s not in problems[:2] and s not in solutions]
    outcomes = [s for s in pieces.get("outcome", []) if s not in problems[:2] and s not in solutions]
    outcomes = outcomes or [s for s in pieces.get("outcome", []) if s in solutions]
    chosen = {"problem": problems[:2], "cause": causes[:2], "solution": solutions[:3], "outcome": outcomes[:2]}
    sentences = sorted({(s.ref, s.start, s.end) for listed in chosen.values() for s in listed})
    spans = tuple(Span(*place) for place in sentences)
    return Composite("case", parts[0][0], spans, {name: listed for name, listed in chosen.items() if listed})


def procedure(cue: Cue, turn: Turn) -> Composite | None:
    """Return the ordered steps of a turn with what they are for, None for fewer than two steps."""
    marks = list(_STEP.finditer(turn.text))
    if len(marks) < 2:
        marks = list(_ORDER.finditer(turn.text))
    if len(marks) < 2:
        return None
    ends = [m.start() for m in marks[1:]] + [len(turn.text)]
    steps = [turn.text[m.end() : end].strip(" \n\t,;.-") for m, end in zip(marks, ends, strict=True)]
    head = turn.text[: marks[0].start()].strip(" \n\t:,;.-")
    last, closing = _closing(steps[-1])
    steps[-1] = last
    steps = [step for step in steps if step]
    done = _DONE.search(turn.text)
    details: dict[str, Any] = {"steps": steps, "purpose": _last_sentence(head)}
    if done or closing:
        details["completion"] = (done.group(0) if done else closing).strip(" ,.")
    return Composite("procedure", cue, (Span(turn.ref, 0, len(turn.text)),), details) if len(steps) >= 2 else None


def tool_use(cue: Cue, turn: Turn) -> Composite | None:
    """Return what was learnt about a tool: calls, rate, flags, purpose, failures; None where the tool is no name."""
    tool = cue.captures.get("tool", "")
    if not tool or tool.casefold() in (
        "it",
        "that",
        "this",
        "them",
        "the",
        "a",
        "i",
        "he",
        "she",
        "they",
        "what",
        "everything",
        "we",
        "you",
    ):
        return None
    rate = _RATE.search(turn.text)
    details: dict[str, Any] = {"tool": tool}
    if cue.captures.get("calls"):
        details["calls"] = cue.captures["calls"]
    if rate:
        details["rate"] = f"{rate.group(1)}%"
    flags = list(dict.fromkeys(_FLAG.findall(turn.text)))
    if flags:
        details["optimal_params"] = ", ".join(flags)
    for name, pattern in (("best_for", _SUCCESS), ("best_for", _PURPOSE), ("common_failures", _FAILURE)):
        match = pattern.search(turn.text)
        if match and name not in details:
            details[name] = (match.group(1) if match.groups() else match.group(0)).strip(" ,.-—")
    return Composite("tool_use", cue, (Span(turn.ref, 0, len(turn.text)),), details)


def _closing(step: str) -> tuple[str, str]:
    """Cut what follows the last step in the same breath."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n+", step, maxsplit=1)
    return parts[0].strip(" .,"), parts[1].strip() if len(parts) > 1 else ""


def _last_sentence(text: str) -> str:
    pieces = [p.strip() for p in re.split(r"(?<=[.!?])\s+|\n+", text) if p.strip()]
    return pieces[-1] if pieces else ""
