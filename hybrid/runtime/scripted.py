"""Give answers that were written beforehand, where a test or a demonstration needs a certain answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hybrid.errors import ModelError
from hybrid.manifests import Manifest
from hybrid.prompts import Prompt
from hybrid.runtime.grammar import grammar, parsed
from hybrid.runtime.runtime import Completion

Scripted = Mapping[str, Any] | str | None
Scorer = Callable[[Prompt, Sequence[str]], Sequence[float]]


class ScriptedRuntime:
    """Answer from a sequence, in order, or from a function of the prompt; remember what was asked.

    A mapping stands for its JSON. Text is taken as the model's raw words, so that broken answers can be played too. None is
    an answer that ran past its deadline. Every schema is turned into a grammar, and every answer checked, as with a real
    model. A sequence that has run out raises ModelError.
    """

    def __init__(
        self,
        answers: Sequence[Scripted] | Callable[[Prompt], Scripted],
        name: str = "scripted",
        strategy: str = "refine",
        scores: Scorer | None = None,
        context: int = 4096,
    ) -> None:
        """Take the answers; `scores` gives log-probabilities for options, without it all are zero."""
        self._answers = answers
        self._scores = scores
        self._lock = threading.Lock()
        self.name = name
        self.strategy = strategy
        self.context = context
        self.manifest: Manifest | None = None
        self.prompts: list[Prompt] = []
        self.schemas: list[Mapping[str, Any]] = []

    def count(self, prompt: Prompt) -> int:
        """Return how many words the prompt has."""
        shown = (text for pair in prompt.examples for text in pair)
        return sum(len(text.split()) for text in (prompt.system, *shown, prompt.user))

    def answer(self, prompt: Prompt, schema: Mapping[str, Any], *, max_tokens: int, deadline_s: float) -> Completion:
        """Return the next answer, parsed and checked. Raises GrammarError, and ModelError where no answer is left."""
        grammar(schema)
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(prompt)
            self.schemas.append(schema)
        scripted = self._answers(prompt) if callable(self._answers) else self._numbered(self._answers, number)
        asked = self.count(prompt)
        if scripted is None:
            return Completion("", None, "deadline", asked, finish="deadline")
        compact = not isinstance(scripted, str)
        text = json.dumps(scripted, ensure_ascii=False, separators=(",", ":")) if compact else str(scripted)
        written = len(text.split())
        if written > max_tokens:
            return Completion(text, None, "truncated", asked, max_tokens, finish="length")
        values, reason = parsed(text, schema)
        return Completion(text, values, reason, asked, written)

    def score(self, prompt: Prompt, options: Sequence[str]) -> tuple[float, ...]:
        """Return the scripted score of each option."""
        return tuple(self._scores(prompt, options)) if self._scores else (0.0,) * len(options)

    def close(self) -> None:
        """Do nothing; there is no model to free."""

    def _numbered(self, answers: Sequence[Scripted], number: int) -> Scripted:
        if number >= len(answers):
            raise ModelError(f"the script has {len(answers)} answers and was asked for one more", "write more answers")
        return answers[number]
