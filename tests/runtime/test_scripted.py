from __future__ import annotations

import pytest

from hybrid.errors import GrammarError, ModelError
from hybrid.prompts import Prompt
from hybrid.runtime.runtime import Runtime
from hybrid.runtime.scripted import ScriptedRuntime

SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 20}}, "required": ["text"]}
ASKED = Prompt("Copy.", (), "Leeks.")


@pytest.mark.parametrize(
    ("scripted", "values", "reason"),
    [
        ({"text": "leeks"}, {"text": "leeks"}, None),
        ('{"text":"leeks"}', {"text": "leeks"}, None),
        ("```json", None, "not JSON"),
        ({"text": "x" * 21}, None, "text: too short or too long"),
        ({"other": "x"}, None, "other keys than asked for"),
        (None, None, "deadline"),
    ],
)
def test_scripted_answers_pass_the_same_checks(
    scripted: dict[str, str] | str | None, values: object, reason: str | None
) -> None:
    done = ScriptedRuntime([scripted]).answer(ASKED, SCHEMA, max_tokens=40, deadline_s=1)
    assert (done.values, done.reason) == (values, reason)


def test_answers_come_in_order_and_questions_are_remembered() -> None:
    runtime = ScriptedRuntime([{"text": "a"}, {"text": "b"}], name="two")
    found = [runtime.answer(ASKED, SCHEMA, max_tokens=40, deadline_s=1).values for _ in range(2)]
    assert found == [{"text": "a"}, {"text": "b"}]
    assert runtime.prompts == [ASKED, ASKED]
    assert runtime.schemas == [SCHEMA, SCHEMA]
    with pytest.raises(ModelError):
        runtime.answer(ASKED, SCHEMA, max_tokens=40, deadline_s=1)


def test_answers_may_depend_on_the_prompt() -> None:
    runtime: Runtime = ScriptedRuntime(lambda prompt: {"text": prompt.user.lower()})
    assert runtime.answer(ASKED, SCHEMA, max_tokens=40, deadline_s=1).values == {"text": "leeks."}


def test_an_answer_over_the_cap_is_truncated() -> None:
    done = ScriptedRuntime(['{"text":"a b c d e f"}']).answer(ASKED, SCHEMA, max_tokens=3, deadline_s=1)
    assert (done.values, done.reason, done.finish) == (None, "truncated", "length")


def test_a_schema_outside_the_subset_is_refused() -> None:
    with pytest.raises(GrammarError):
        ScriptedRuntime([{}]).answer(ASKED, {"type": "object", "properties": {}}, max_tokens=3, deadline_s=1)


def test_scores_are_zero_or_scripted() -> None:
    assert ScriptedRuntime([]).score(ASKED, ["a", "bb"]) == (0.0, 0.0)
    assert ScriptedRuntime([], scores=lambda p, options: [-len(o) for o in options]).score(ASKED, ["a", "bb"]) == (-1, -2)
