"""What every runtime offers: a prompt and a JSON Schema in, an answer that fits the schema or the reason why not out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hybrid.manifests import Manifest
from hybrid.prompts import Prompt

Finish = Literal["stop", "length", "deadline", "loop", "stuck"]


@dataclass(frozen=True, slots=True)
class Completion:
    """Hold what a model wrote: raw text, the parsed values, or None and the reason.

    Reasons: `truncated` (the token cap), `deadline`, `loop`, `stuck` (no token fits the grammar), and what `parsed` of the
    grammar module says. `cached_tokens` of the `prompt_tokens` were in the context already.
    """

    text: str
    values: Mapping[str, Any] | None
    reason: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    finish: Finish = "stop"


class Runtime(Protocol):
    """Answer prompts under a JSON Schema, at temperature 0; safe to call from several threads."""

    @property
    def name(self) -> str:
        """Name the model: the manifest's id, or the file's name."""
        ...

    @property
    def manifest(self) -> Manifest | None:
        """Return what is known of the model; None for a GGUF that has no manifest."""
        ...

    @property
    def strategy(self) -> str:
        """Say how to use the model: `refine` or `compose`."""
        ...

    @property
    def context(self) -> int:
        """Return how many tokens prompt and answer may have together."""
        ...

    def count(self, prompt: Prompt) -> int:
        """Return how many tokens the prompt has, marks included."""
        ...

    def answer(self, prompt: Prompt, schema: Mapping[str, Any], *, max_tokens: int, deadline_s: float) -> Completion:
        """Return the model's answer. Raises PromptTooLongError, GrammarError, ModelError."""
        ...

    def score(self, prompt: Prompt, options: Sequence[str]) -> tuple[float, ...]:
        """Return for each option how likely it is as the whole answer: a log-probability, higher is likelier."""
        ...

    def close(self) -> None:
        """Free the model."""
        ...
