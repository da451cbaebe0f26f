from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hybrid.memory import Memory, Operation
from hybrid.store import ConversationRecord, Store, statement_key, turn_hash

Make = Callable[..., Memory]
Record = Callable[..., ConversationRecord]


def test_a_conversation_comes_back_with_its_turns_in_order(store: Store, memory: Make, record: Record) -> None:
    made = record("c1", *(f"I saw bird number {n}." for n in range(1, 13)))
    store.commit(made, [Operation("add", memory("m1")), Operation("add", memory("m2"))])
    store.commit(replace(made, schema="facts"), [Operation("add", memory("f1", schema="facts"))])
    found = store.conversation("c1")
    assert found is not None
    assert (found.source, found.format, found.session_time, found.user) == ("talk.txt", "text", made.session_time, None)
    assert found.participants == ("Ines",)
    assert found.added_at.tzinfo is UTC
    assert list(found.turns.items()) == [(turn.ref, turn_hash(turn)) for turn in made.turns]
    assert found.schemas == ("facts", "memories")
    assert found.memories == {"memories": ("m1", "m2"), "facts": ("f1",)}
    assert store.turns("c1") == made.turns
    assert store.conversations() == ["c1"]


def test_an_unknown_conversation_is_none(store: Store) -> None:
    assert store.conversation("nothing' OR 1=1 --") is None
    assert store.turns("nothing") == ()


@pytest.mark.parametrize(
    "time", [None, datetime(2024, 6, 3), datetime(2024, 6, 3, 9, 30, 1, 500, tzinfo=timezone(timedelta(hours=5, minutes=30)))]
)
def test_the_times_of_turns_keep_their_offset(store: Store, record: Record, time: datetime | None) -> None:
    made = record()
    made = replace(made, session_time=time, turns=tuple(replace(turn, time=time) for turn in made.turns))
    store.commit(made, [])
    assert [turn.time for turn in store.turns("c1")] == [time, time]
    found = store.conversation("c1")
    assert found is not None
    assert found.session_time == time


def test_turns_may_come_one_by_one(store: Store, record: Record) -> None:
    made = record("c1", "I sail.", "I bake.", "I sing.")
    for turn in made.turns:
        store.commit(replace(made, turns=(turn,), statements=()), [])
    assert store.turns("c1") == made.turns


def test_an_edited_turn_replaces_its_older_form(store: Store, record: Record) -> None:
    store.commit(record("c1", "I sail.", "I bake."), [])
    edited = record("c1", "I sail.", "I bake bread.")
    store.commit(edited, [])
    assert store.turns("c1") == edited.turns


@pytest.mark.parametrize(
    ("change", "same"),
    [({}, True), ({"text": "I row."}, False), ({"speaker": "Rui"}, False), ({"time": None}, False), ({"message": 7}, True)],
)
def test_a_hash_changes_with_what_was_said(record: Record, change: dict[str, object], same: bool) -> None:
    turn = record().turns[0]
    assert (turn_hash(replace(turn, **change)) == turn_hash(turn)) is same  # type: ignore[arg-type]


def test_statements_are_counted_once_a_conversation(store: Store, record: Record) -> None:
    store.commit(record("c1", "I sail.", "I sail."), [])
    store.commit(record("c2", "I SAIL!", "I bake."), [])
    store.commit(record("c3", "I sail.", user="somebody"), [])
    sail, bake = (statement_key(statement) for statement in record("c9", "I sail.", "I bake.").statements)
    assert store.known("facts", None).counts == {sail: 2, bake: 1}
    assert store.known("facts", None, besides="c2").counts == {sail: 1}
    assert store.known("facts", "somebody").counts == {sail: 1}


def test_a_caller_may_give_the_keys_of_statements(store: Store, record: Record) -> None:
    store.commit(replace(record("c1"), keys={"c1-s1": "home", "c1-s2": "pets"}), [])
    store.commit(replace(record("c2"), keys={"c2-s1": "home", "c2-s2": "pets"}), [])
    assert store.known("memories", None).counts == {"home": 2, "pets": 2}


def test_statements_go_with_the_last_schema_that_remembers_them(store: Store, record: Record) -> None:
    made = record()
    store.commit(made, [])
    store.commit(replace(made, schema="facts"), [])
    store.retract("c1", "memories")
    assert len(store.known("facts", None).counts) == 2
    store.retract("c1", "facts")
    assert store.known("facts", None).counts == {}
    assert store.turns("c1") == made.turns


def test_evidence_shows_the_turns_and_the_places(store: Store, memory: Make, record: Record) -> None:
    made = record()
    spans = tuple(span for statement in made.statements for span in statement.evidence)
    proven = memory("m1", evidence=("E00000001", "E00000002", "E00000099"), evidence_spans=spans)
    store.commit(made, [Operation("add", proven)])
    first, second, missing = store.evidence("m1")
    assert (first["conversation"], first["ref"], first["speaker"], first["role"]) == ("c1", "E00000001", "Ines", "user")
    assert (first["time"], first["text"], first["spans"]) == ("2024-06-03T09:30:00", "I moved to Porto in May.", [[0, 24]])
    assert second["spans"] == [[0, 21]]
    assert (missing["ref"], missing["text"], missing["spans"]) == ("E00000099", None, [])
