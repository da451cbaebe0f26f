"""The stages in their order, what each needs and gives, and the loop that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hybrid.config import Settings
from hybrid.data import Document
from hybrid.errors import CancelledError, PipelineError
from hybrid.stages import cues, dates, linguistics, secrets, speakers, statements

StageRun = Callable[[Document, Settings], Document]


@dataclass(frozen=True, slots=True)
class Stage:
    """Name a function from Document to Document with the fields it reads and the fields it fills."""

    name: str
    run: StageRun
    requires: tuple[str, ...]
    assigns: tuple[str, ...]


STAGES: tuple[Stage, ...] = (
    Stage("secrets", secrets.run, ("conversation",), ("conversation", "secrets")),
    Stage("speakers", speakers.run, ("secrets",), ("turns", "participants", "user", "language", "languages")),
    Stage("dates", dates.run, ("turns", "languages"), ("dates",)),
    Stage("linguistics", linguistics.run, ("turns", "languages", "participants"), ("sentences", "mentions")),
    Stage("cues", cues.run, ("sentences", "mentions", "dates"), ("cues", "skipped")),
    Stage("statements", statements.run, ("cues", "sentences", "mentions", "dates", "user"), ("statements", "rejected")),
)


def check(stages: Iterable[Stage]) -> None:
    """Raise PipelineError where a stage needs a field that no earlier stage fills."""
    have = {"conversation"}
    for stage in stages:
        missing = sorted(set(stage.requires) - have)
        if missing:
            raise PipelineError(
                f"stage {stage.name} needs {missing[0]}, which no earlier stage fills",
                f"filled so far: {', '.join(sorted(have))}",
            )
        have.update(stage.assigns)


def run(
    document: Document,
    settings: Settings,
    stages: tuple[Stage, ...] = STAGES,
    cancelled: Callable[[], bool] | None = None,
) -> Document:
    """Return the document after all stages. Raises PipelineError before anything runs, CancelledError between stages."""
    check(stages)
    for stage in stages:
        if cancelled is not None and cancelled():
            raise CancelledError(f"stopped before stage {stage.name}", "nothing was stored by this call")
        document = stage.run(document, settings)
    return document
