"""The shape of a schema: a policy made of pure functions and a tuple of checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hybrid.config import Settings
from hybrid.data import Answer, Document, Question, Rejection, Span, Statement
from hybrid.memory import Known, Memory, Operation


class SpanModel(BaseModel):
    """Mark a place in a turn, for the JSON form."""

    model_config = ConfigDict(frozen=True)

    ref: str
    start: int
    end: int


class OutputModel(BaseModel):
    """Hold what every output has beside its schema's own fields.

    The turns that prove it with the places in them, the id of the statement it was made from, and who filled each semantic
    field (rules or model).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    evidence: tuple[str, ...] = ()
    evidence_spans: tuple[SpanModel, ...] = ()
    statement: str = ""
    filled_by: dict[str, str] = Field(default_factory=dict)


Output = TypeVar("Output", bound=OutputModel)
Check = Callable[[Any, Document], Rejection | None]


@dataclass(frozen=True, slots=True)
class Schema(Generic[Output]):
    """Hold one policy over the shared statements.

    `draft` makes complete and valid outputs by rules alone. `ask` may put questions to the model, `assemble` takes the
    answers that passed. `memory` is the row an output becomes, `merge` compares rows with what is known and says what
    changes. `count_key` recognises the same statement in another conversation, where the policy counts. `document_form` is
    what the schema's requirement document asks to be printed, as a JSON value.
    """

    name: str
    draft: Callable[[Document, Known, Settings], tuple[Output, ...]]
    ask: Callable[[Document, tuple[Output, ...]], tuple[Question, ...]]
    assemble: Callable[[tuple[Output, ...], tuple[Answer | None, ...]], tuple[Output, ...]]
    merge: Callable[[tuple[Memory, ...], Known], tuple[Operation, ...]]
    memory: Callable[[Output, str], Memory]
    count_key: Callable[[Statement], str] | None
    document_form: Callable[[tuple[Output, ...]], Any]
    checks: tuple[Check, ...]


def spans(evidence: tuple[Span, ...]) -> tuple[SpanModel, ...]:
    """Return evidence for the JSON form."""
    return tuple(SpanModel(ref=span.ref, start=span.start, end=span.end) for span in evidence)
