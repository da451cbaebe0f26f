"""The model's work in the background of live use."""

from __future__ import annotations

from pathlib import Path

import pytest

import hybrid
from hybrid.errors import UsageError

TURN = {"role": "user", "content": "I really painted the kitchen chair with my uncle.", "time": "2024-05-19T11:00"}
BETTER = {"topic": "uncle", "text": "Ilse painted the kitchen chair with their uncle."}


def test_rules_are_kept_at_once_and_the_models_words_follow(tmp_path: Path) -> None:
    store = hybrid.Store(tmp_path / "live.duckdb")
    runtime = hybrid.ScriptedRuntime([BETTER])
    live = hybrid.Extractor(store, user="Ilse", runtime=runtime, background=True)
    changes = live.observe(TURN)
    assert [o.memory.text for o in changes.operations if o.memory] == [
        "Ilse really painted the kitchen chair with their uncle."
    ]
    use = live.wait()
    (memory,) = store.list()
    assert use.accepted == 2
    assert memory.text == BETTER["text"]
    assert memory.fields["filled_by"]["content"] == "model"
    assert [step["operation"] for step in store.history(memory.id)] == ["add", "update"]


def test_memory_that_changed_in_the_meantime_stays(tmp_path: Path) -> None:
    store = hybrid.Store(tmp_path / "live.duckdb")

    def answer(prompt: object) -> dict[str, str]:
        (memory,) = store.list()
        store.update(memory.id, "Ilse painted the chair alone.")
        return BETTER

    live = hybrid.Extractor(store, user="Ilse", runtime=hybrid.ScriptedRuntime(answer), background=True)
    live.observe(TURN)
    live.wait()
    assert [m.text for m in store.list()] == ["Ilse painted the chair alone."]


def test_background_needs_a_store_and_a_runtime() -> None:
    with pytest.raises(UsageError):
        hybrid.Extractor(background=True)
