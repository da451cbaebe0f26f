"""The loop over the stages: order checked before anything runs, and a way out between stages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message
from hybrid.errors import CancelledError, PipelineError
from hybrid.pipeline import STAGES, Stage, check, run

TALK = Document(Conversation((Message("user", "[Vera]: I moved to Tartu. [Otto]: I love kayaking."),)))


def noted(name: str, requires: tuple[str, ...], assigns: tuple[str, ...]) -> Stage:
    return Stage(name, lambda document, settings: replace(document, notes=(*document.notes, name)), requires, assigns)


def test_stages_run_in_the_order_of_the_design() -> None:
    assert [stage.name for stage in STAGES] == ["secrets", "speakers", "dates", "linguistics", "cues", "statements"]


def test_each_stage_returns_a_new_document_and_leaves_the_old_one() -> None:
    before = TALK
    for stage in STAGES:
        after = stage.run(before, Settings())
        changed = {n for n in Document.__dataclass_fields__ if getattr(after, n) is not getattr(before, n)}
        assert changed <= {*stage.assigns, "aliases", "notes", "rejected", "skipped", "conversation"}, stage.name
        before = after
    assert TALK.turns == ()
    assert len(before.turns) == 2
    assert before.statements


def test_two_runs_give_equal_documents() -> None:
    assert run(TALK, Settings()) == run(TALK, Settings())


def test_stage_whose_need_is_not_met_is_named_before_anything_runs() -> None:
    ran = []

    def first(document: Document, settings: Settings) -> Document:
        ran.append("first")
        return document

    stages = (Stage("first", first, ("conversation",), ("turns",)), noted("second", ("turns", "dates"), ()))
    with pytest.raises(PipelineError, match="stage second needs dates") as caught:
        run(TALK, Settings(), stages)
    assert ran == []
    assert "turns" in caught.value.hint


@pytest.mark.parametrize("left_out", [stage.name for stage in STAGES[:-1]])
def test_pipeline_without_one_of_its_stages_is_refused(left_out: str) -> None:
    with pytest.raises(PipelineError):
        check(stage for stage in STAGES if stage.name != left_out)


def test_pipeline_turned_round_is_refused() -> None:
    with pytest.raises(PipelineError):
        check(reversed(STAGES))


def test_own_stages_run_in_their_order() -> None:
    stages = (noted("a", ("conversation",), ("turns",)), noted("b", ("turns",), ()))
    assert run(TALK, Settings(), stages).notes == ("a", "b")


def test_cancel_is_asked_between_stages() -> None:
    asked = iter([False, False, True])
    with pytest.raises(CancelledError, match="before stage dates"):
        run(TALK, Settings(), cancelled=lambda: next(asked))
