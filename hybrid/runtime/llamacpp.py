"""Run any GGUF in process through llama.cpp, at temperature 0, under a grammar."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from hybrid.errors import ModelError, PromptTooLongError
from hybrid.manifests import Manifest, ModelSettings, Template, recognised, verify
from hybrid.prompts import Prompt
from hybrid.runtime.binding import Constraint, Model, check_header
from hybrid.runtime.grammar import grammar, parsed
from hybrid.runtime.runtime import Completion, Finish

MOST_CONTEXT = 4096
_LOOP = 6
_ROUNDS = 3


class LlamaCppRuntime:
    """Answer prompts with one GGUF file.

    The file is checked and loaded when it is first needed, or by `load`. One lock guards the model, so that threads take
    turns. System text and examples that a prompt shares with the one before it are not evaluated again; the answer is the same
    either way. llama.cpp's log is silenced for
    the whole process; standard output and error are never redirected.
    """

    def __init__(self, path: Path, manifest: Manifest | None = None) -> None:
        """Take a file, and what is known of it. Raises ModelError for a file that is no GGUF."""
        check_header(path)
        self._path = path
        self._manifest = manifest
        self._lock = threading.RLock()
        self._model: Model | None = None
        self._template: Template | None = manifest.template if manifest else None

    def __enter__(self) -> LlamaCppRuntime:
        """Return the runtime itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Free the model."""
        self.close()

    @property
    def name(self) -> str:
        """Name the model: the manifest's id, or the file's name."""
        return self._manifest.id if self._manifest else self._path.stem

    @property
    def path(self) -> Path:
        """Return the file."""
        return self._path

    @property
    def manifest(self) -> Manifest | None:
        """Return what is known of the model; None for a GGUF that has no manifest."""
        return self._manifest

    @property
    def strategy(self) -> str:
        """Say how to use the model: as the manifest says, `refine` without one."""
        return self._manifest.strategy if self._manifest else "refine"

    @property
    def context(self) -> int:
        """Return how many tokens prompt and answer may have together; loads a model that has no manifest."""
        return self._manifest.context if self._manifest else self._loaded().context

    def load(self) -> None:
        """Check and load the file now. Raises ModelError for a wrong checksum and for what llama.cpp cannot load."""
        self._loaded()

    def _loaded(self) -> Model:
        with self._lock:
            if self._model is None:
                if self._manifest:
                    verify(self._path, self._manifest, cached=True)
                settings = self._manifest.settings if self._manifest else ModelSettings()
                context = self._manifest.context if self._manifest else None
                model = Model(self._path, context, MOST_CONTEXT, settings)
                self._template = self._template or recognised(model.chat_template)
                self._model = model
            return self._model

    def close(self) -> None:
        """Free the model; a later call loads it again."""
        with self._lock:
            if self._model is not None:
                self._model.close()
                self._model = None

    def count(self, prompt: Prompt) -> int:
        """Return how many tokens the prompt has, marks included."""
        with self._lock:
            return len(self._tokens(self._loaded(), prompt)[0])

    def answer(self, prompt: Prompt, schema: Mapping[str, Any], *, max_tokens: int, deadline_s: float) -> Completion:
        """Return the model's answer; what is wrong with it is its `reason`, never an exception.

        `max_tokens` caps the answer, `deadline_s` the seconds from now. Raises PromptTooLongError before anything is
        evaluated, GrammarError for a schema outside the subset, ModelError where the model cannot be used.
        """
        until = time.monotonic() + deadline_s
        rules = grammar(schema)
        with self._lock:
            model = self._loaded()
            tokens, border = self._tokens(model, prompt)
            _check_room(len(tokens), max_tokens, model.context)
            with model.constraint(rules) as constraint:
                cached = model.hold(tokens, border)
                in_time = _evaluated(model, tokens[cached:border], until) and _evaluated(model, tokens[border:], until)
                written, finish = _written(model, constraint, max_tokens, until) if in_time else ([], "deadline")
            text = b"".join(model.piece(token) for token in written).decode("utf-8", "replace")
        return _completion(text, finish, schema, (len(tokens), len(written), cached))

    def score(self, prompt: Prompt, options: Sequence[str]) -> tuple[float, ...]:
        """Return for each option its log-probability as the whole answer, the end of the turn included.

        The prompt is evaluated once. Raises PromptTooLongError before anything is evaluated.
        """
        with self._lock:
            model = self._loaded()
            tokens, border = self._tokens(model, prompt)
            end = model.tokenize(self._marks().assistant_end, marks=True)[:1]
            wanted = [model.tokenize(option, marks=False) + end for option in options]
            _check_room(len(tokens), max((len(w) for w in wanted), default=0), model.context)
            return tuple(_log_probabilities(model, tokens, border, wanted))

    def _marks(self) -> Template:
        if self._template is None:
            raise ModelError("the model is not loaded", "call load first")
        return self._template

    def _tokens(self, model: Model, prompt: Prompt) -> tuple[list[int], int]:
        """Return the prompt's tokens, and how many of them are the same in every call.

        Marks may be control tokens; everything that was written is plain text.
        """
        marks = self._marks()
        tokens = list(model.opening)
        pieces: list[tuple[str, bool]] = []
        head = [(marks.system_begin, True), (prompt.system, False), (marks.system_end, True)]
        begin = (marks.user_begin, True)
        pieces += [begin, *head] if marks.merge_system else [*head, begin]
        for user, assistant in prompt.examples:
            pieces += [(user, False), (marks.user_end + marks.assistant_begin, True)]
            pieces += [(assistant, False), (marks.assistant_end + marks.user_begin, True)]
        for text, special in pieces:
            tokens += model.tokenize(text, marks=special) if text else []
        border = len(tokens)
        tokens += model.tokenize(prompt.user, marks=False)
        tokens += model.tokenize(marks.user_end + marks.assistant_begin, marks=True)
        return tokens, border


def _check_room(prompt: int, budget: int, context: int) -> None:
    if prompt + budget > context:
        raise PromptTooLongError(
            f"the prompt has {prompt} tokens and its answer may have {budget}; the context holds {context}",
            "ask about less at a time, or use a model with a larger context",
        )


def _evaluated(model: Model, tokens: Sequence[int], until: float) -> bool:
    """Evaluate tokens; False where the time is up, what was evaluated so far is kept for the next call."""
    return all(time.monotonic() < until for _ in model.batches(tokens))


def _written(model: Model, constraint: Constraint, max_tokens: int, until: float) -> tuple[list[int], Finish]:
    written: list[int] = []
    text = b""
    grams: Counter[tuple[int, ...]] = Counter()
    since = 0
    while len(written) < max_tokens:
        token = constraint.best(model.logits())
        if token is None:
            return written, "stuck"
        if model.ends(token):
            return written, "stop"
        constraint.accept(token)
        written.append(token)
        piece = model.piece(token)
        text += piece
        if piece.rstrip().endswith(b"}") and _complete(text):
            return written, "stop"
        if b'"' in piece:
            # JSON's own marks repeat in every list; only the words of one string may not.
            since, grams = len(written), Counter()
        elif len(written) - since >= _LOOP:
            gram = tuple(written[-_LOOP:])
            grams[gram] += 1
            if grams[gram] >= _ROUNDS:
                return written, "loop"
        if time.monotonic() >= until:
            return written, "deadline"
        if len(written) < max_tokens:
            _evaluated(model, [token], until)
    return written, "length"


def _complete(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _completion(text: str, finish: Finish, schema: Mapping[str, Any], counts: tuple[int, int, int]) -> Completion:
    values, reason = parsed(text, schema) if finish == "stop" else (None, "truncated" if finish == "length" else finish)
    return Completion(text, values, reason, *counts, finish)


def _log_probabilities(model: Model, prompt: list[int], border: int, continuations: Sequence[Sequence[int]]) -> Iterator[float]:
    """Yield the sum of each continuation's log-probabilities; the prompt is evaluated once."""
    import numpy

    kept = model.hold(prompt, border)
    _evaluated(model, prompt[kept:border], math.inf)
    _evaluated(model, prompt[border:], math.inf)
    first = numpy.array(model.logits(), dtype=numpy.float64)
    for continuation in continuations:
        _evaluated(model, prompt[model.rewind(len(prompt)) :], math.inf)
        rows = [first]
        for count in model.batches(continuation[:-1], every=True):
            rows += [numpy.array(model.logits(row), dtype=numpy.float64) for row in range(count)]
        shifted = [row - row.max() for row in rows]
        yield sum(float(row[token] - numpy.log(numpy.exp(row).sum())) for row, token in zip(shifted, continuation, strict=True))
