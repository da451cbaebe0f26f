"""The model's part that every schema shares: better wording and a better topic for one statement at a time.

The statement exists first as the rules made it. What the model answers replaces a field only where it passes the checks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hybrid import rules
from hybrid.checks import refusal
from hybrid.data import Document, Statement
from hybrid.errors import CancelledError, PromptTooLongError
from hybrid.prompts import render
from hybrid.runtime.runtime import Runtime
from hybrid.stages.statements.topics import key

PROMPT = "refine.v1"
# A longer text is not for a small model: what it repeats, it also loses.
_MAX_TEXT = 260
# A word as the grammar takes it: without the marks around it.
_WORD = re.compile(r"[^\s,.;:!?\"()\[\]“”]+")
_WORDABLE = (
    "event",
    "plan",
    "fact",
    "preference",
    "habit",
    "feeling",
    "commitment",
    "decision",
    "lesson",
    "constraint",
    "attribute",
)
_TOPICAL = ("event", "plan", "feeling", "commitment", "preference", "habit")


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Count what the model was asked, what it wrote, and what became of it."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    accepted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)

    def plus(self, other: ModelUse) -> ModelUse:
        """Return the sum of two counts."""
        return ModelUse(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.accepted + other.accepted,
            dict(Counter(self.refused) + Counter(other.refused)),
        )


def refine(
    document: Document,
    runtime: Runtime,
    *,
    deadline_s: float = 20.0,
    wanted: Callable[[Statement], bool] = lambda _: True,
    progress: Callable[[int, int], None] | None = None,
    cancel: Callable[[], bool] | None = None,
) -> tuple[Document, ModelUse]:
    """Return the document with its statements better said, and what the model cost.

    `progress` gets (done, total) after each statement. Raises CancelledError where `cancel` says so.
    """
    use = ModelUse()
    refined: list[Statement] = []
    total = len(document.statements)
    for number, statement in enumerate(document.statements, 1):
        if cancel is not None and cancel():
            raise CancelledError("stopped by the caller", "what was stored before is kept")
        better, spent = statement, ModelUse()
        if statement.kind in _WORDABLE and statement.language == "en" and wanted(statement):
            better, spent = _one(statement, runtime, deadline_s)
        use = use.plus(spent)
        refined.append(better)
        if progress is not None:
            progress(number, total)
    return replace(document, statements=tuple(refined)), use


def _one(statement: Statement, runtime: Runtime, deadline_s: float) -> tuple[Statement, ModelUse]:
    topics, wordable = _topics(statement), _wordable(statement)
    if not topics and not wordable:
        return statement, ModelUse()
    prompt = render(PROMPT, text=statement.text, topics=topics)
    schema = _schema(statement, topics, wordable)
    try:
        completion = runtime.answer(prompt, schema, max_tokens=_budget(statement), deadline_s=deadline_s)
    except PromptTooLongError:
        # The statement stays as the rules made it; nothing of it is cut to make it fit.
        return statement, ModelUse(refused={"prompt too long": 1})
    use = ModelUse(1, completion.prompt_tokens, completion.completion_tokens)
    if completion.values is None:
        return statement, use.plus(ModelUse(refused={completion.reason or "unusable": 1}))
    return _applied(statement, completion.values, topics, use)


def _applied(
    statement: Statement, values: Mapping[str, Any], topics: tuple[str, ...], use: ModelUse
) -> tuple[Statement, ModelUse]:
    if "text" in values:
        text = str(values["text"]).strip()
        reason = refusal(text, statement)
        if reason is None:
            statement = replace(statement, text=text, filled_by={**statement.filled_by, "text": "model"})
            use = use.plus(ModelUse(accepted=1))
        else:
            use = use.plus(ModelUse(refused={reason: 1}))
    topic = values.get("topic")
    if isinstance(topic, str) and topic in topics and len(topics) > 1:
        statement = replace(statement, topic=key(topic, 4), filled_by={**statement.filled_by, "topic": "model"})
        use = use.plus(ModelUse(accepted=1))
    return statement, use


def _topics(statement: Statement) -> tuple[str, ...]:
    """Return the topics to choose from: what the rules found, where they took no better one from a rule or the lexicon."""
    found = tuple(dict.fromkeys(t for t in statement.topics if t))
    generic = bool(found) and statement.topic == key(found[0], 4)
    return found[:4] if generic and len(found) > 1 and statement.kind in _TOPICAL else ()


def _wordable(statement: Statement) -> bool:
    """Say whether the wording leaves something to clean up: padding of speech, or several sentences joined."""
    padding = set(rules.load("checks", "en").vocabulary["padding"])
    words = {word.casefold() for word in _WORD.findall(statement.text)}
    return bool(words & padding) and len(statement.text) <= _MAX_TEXT


def _schema(statement: Statement, topics: tuple[str, ...], wordable: bool) -> dict[str, Any]:
    """Return the shape of the answer: a topic among the rules' topics, a text of the statement's own and common words."""
    properties: dict[str, Any] = {}
    if topics:
        properties["topic"] = {"enum": list(topics)}
    if wordable:
        words = dict.fromkeys((*_WORD.findall(statement.text), *rules.load("checks", "en").vocabulary["writing"]))
        most = min(400, int(len(statement.text) * 1.25) + 20)
        properties["text"] = {"type": "string", "maxLength": most, "x-words": list(words)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _budget(statement: Statement) -> int:
    return min(160, 24 + len(statement.text) // 3)
