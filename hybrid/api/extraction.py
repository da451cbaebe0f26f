"""Turn a conversation into the outputs of one schema, and account for every turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hybrid import pipeline
from hybrid.checks import check_evidence, check_quote, grounded_share
from hybrid.config import Settings
from hybrid.data import Answer, Conversation, Document, Rejection, Skipped, to_json
from hybrid.errors import PromptTooLongError, UsageError
from hybrid.memory import Known, Memory
from hybrid.prompts import render
from hybrid.refine import ModelUse, refine
from hybrid.runtime.runtime import Runtime
from hybrid.schemas import OutputModel, Schema, named
from hybrid.stages.secrets import find_secrets, mask

Progress = Callable[[int, int], None]
Cancel = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Usage:
    """Say what an extraction cost and what became of the model's proposals."""

    model: str = "none"
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    accepted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """Hold the outputs of one schema, and what became of everything else."""

    schema: str
    outputs: tuple[Any, ...]
    rejected: tuple[Rejection, ...]
    skipped: tuple[Skipped, ...]
    document: Document
    usage: Usage

    def model_dump(self, mode: str = "json") -> dict[str, Any]:
        """Return the extraction as the command line prints it."""
        turns = [
            {"ref": t.ref, "role": t.role, "speaker": t.speaker, "time": to_json(t.time), "text": t.text}
            for t in self.document.turns
        ]
        return {
            "schema": self.schema,
            "language": self.document.language,
            "outputs": [output.model_dump(mode="json") for output in self.outputs],
            "rejected": to_json(self.rejected),
            "skipped": to_json(self.skipped),
            "turns": turns,
            "usage": to_json(self.usage),
            "notes": [*self.document.conversation.notes, *self.document.notes],
        }

    def document_form(self) -> Any:
        """Return what the schema's requirement document asks to be printed."""
        return named(self.schema).document_form(self.outputs)


def annotate(
    conversation: Conversation,
    settings: Settings | None = None,
    *,
    user: str | None = None,
    previous: Document | None = None,
    cancel: Cancel | None = None,
) -> Document:
    """Run the stages without a model: turns, secrets, dates, sentences, cues and statements.

    `previous` is the document of the same conversation before it grew; its parses are used again.
    """
    settings = with_user(settings or Settings(), user)
    document = Document(conversation, aliases=settings.aliases)
    if previous is not None:
        document = replace(document, sentences=previous.sentences, mentions=previous.mentions)
    return pipeline.run(document, settings, cancelled=cancel)


def extract(
    conversation: Conversation,
    schema: str = "memories",
    user: str | None = None,
    runtime: Runtime | None = None,
    known: Iterable[Memory | Mapping[str, Any]] = (),
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Extraction:
    """Return the outputs of a schema for a conversation; `runtime=None` means rules alone.

    `known` are memories to compare with. `progress` gets (done, total) statements. Raises UsageError, CancelledError.
    """
    started = time.perf_counter()
    settings = with_user(settings or Settings(), user)
    chosen = named(schema)
    document = annotate(conversation, settings, cancel=cancel)
    use = ModelUse()
    if runtime is not None:
        document, use = refine(document, runtime, deadline_s=settings.deadline_s, progress=progress, cancel=cancel)
    known_memories = Known(tuple(_memory(m, schema) for m in known))
    made, rejected, asked = outputs(chosen, document, known_memories, settings, runtime)
    return accounted(chosen, document, made, rejected, usage_of(runtime, use.plus(asked), started))


def outputs(
    schema: Schema[Any], document: Document, known: Known, settings: Settings, runtime: Runtime | None
) -> tuple[tuple[OutputModel, ...], tuple[Rejection, ...], ModelUse]:
    """Draft, check, and let the model fill what the schema asks for."""
    kept, rejected = _checked(schema, schema.draft(document, known, settings), document)
    if runtime is None:
        return kept, rejected, ModelUse()
    answers, use = _answers(schema, document, kept, runtime, settings.deadline_s)
    better, refused = _checked(schema, schema.assemble(kept, answers), document)
    # An answer that fails a check costs the answer, never the draft.
    return (better if not refused else kept), rejected, use


def _checked(
    schema: Schema[Any], outputs: tuple[OutputModel, ...], document: Document
) -> tuple[tuple[OutputModel, ...], tuple[Rejection, ...]]:
    kept, rejected = [], []
    for output in outputs:
        found = (check(output, document) for check in (check_evidence, check_quote, *schema.checks))
        refusal = next((rejection for rejection in found if rejection is not None), None)
        if refusal is None:
            kept.append(output)
        else:
            rejected.append(refusal)
    return tuple(kept), tuple(rejected)


def _answers(
    schema: Schema[Any], document: Document, outputs: tuple[OutputModel, ...], runtime: Runtime, deadline_s: float
) -> tuple[tuple[Answer | None, ...], ModelUse]:
    answers: list[Answer | None] = []
    use = ModelUse()
    for question in schema.ask(document, outputs):
        try:
            prompt = render(question.prompt, **question.values)
            done = runtime.answer(prompt, question.schema, max_tokens=question.max_tokens, deadline_s=deadline_s)
        except PromptTooLongError:
            use = use.plus(ModelUse(refused={"prompt too long": 1}))
            answers.append(None)
            continue
        use = use.plus(ModelUse(1, done.prompt_tokens, done.completion_tokens))
        reason = done.reason or _ungrounded(done.values, question.values)
        if reason is None:
            use = use.plus(ModelUse(accepted=1))
            answers.append(Answer(question.id, done.values))
        else:
            use = use.plus(ModelUse(refused={reason: 1}))
            answers.append(None)
    return tuple(answers), use


def _ungrounded(values: Mapping[str, Any] | None, given: Mapping[str, Any]) -> str | None:
    """Say why an answer may not be used: it names people or numbers that its question does not hold."""
    if not values:
        return "unusable"
    text = " ".join(str(v) for v in values.values())
    if len(text) < 12 or not text.rstrip().endswith("."):
        return "cut off"
    return None if grounded_share(text, [str(v) for v in given.values()]) == 1 else "name not in the evidence"


def accounted(
    schema: Schema[Any], document: Document, outputs: tuple[Any, ...], rejected: tuple[Rejection, ...], usage: Usage
) -> Extraction:
    """Account for every turn: evidence of an output, rejected, or skipped with a reason."""
    cited = {ref for output in outputs for ref in output.evidence}
    refused = {ref for rejection in (*rejected, *document.rejected) for ref in rejection.evidence}
    skipped = [s for s in document.skipped if s.ref not in cited]
    said = {s.ref for s in skipped}
    unused: dict[str, str] = {}
    for statement in document.statements:
        for ref in statement.refs:
            if ref not in cited | refused | said:
                unused.setdefault(ref, f"{statement.kind}: not kept by {schema.name}")
    skipped.extend(Skipped(ref, reason) for ref, reason in unused.items())
    silent = [t.ref for t in document.turns if t.ref not in cited | refused | said | set(unused)]
    skipped.extend(Skipped(ref, "nothing that lasts") for ref in silent)
    ordered = tuple(sorted(skipped, key=lambda s: s.ref))
    return Extraction(schema.name, outputs, (*document.rejected, *rejected), ordered, document, usage)


def _memory(known: Memory | Mapping[str, Any], schema: str) -> Memory:
    if isinstance(known, Memory):
        return replace(known, text=_masked(known.text))
    missing = [name for name in ("id", "text", "category") if not known.get(name)]
    if missing:
        raise UsageError(f"a known memory lacks {missing[0]}", "id, text and category are required")
    return Memory(
        id=str(known["id"]),
        schema=str(known.get("schema") or schema),
        category=str(known["category"]),
        text=_masked(str(known["text"])),
        key=str(known.get("key") or ""),
        when=known.get("when"),
        expires_at=known.get("expires_at"),
    )


def _masked(text: str) -> str:
    """Return a known text without credentials: a fact that adds to it would bring them into an output."""
    return mask(text, find_secrets(text))


def with_user(settings: Settings, user: str | None) -> Settings:
    """Return the settings with the user that a call names."""
    return settings if user is None else replace(settings, user=user)


def usage_of(runtime: Runtime | None, use: ModelUse, started: float) -> Usage:
    """Return what a call cost."""
    return Usage(
        model=runtime.name if runtime is not None else "none",
        model_calls=use.calls,
        prompt_tokens=use.prompt_tokens,
        completion_tokens=use.completion_tokens,
        accepted=use.accepted,
        refused=use.refused,
        seconds=round(time.perf_counter() - started, 3),
    )
