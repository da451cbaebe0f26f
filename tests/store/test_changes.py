from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid.data import Span
from hybrid.errors import UnknownMemoryError, UsageError
from hybrid.memory import Memory, Operation, apply
from hybrid.store import ConversationRecord, Store
from hybrid.store.changes import planned

Make = Callable[..., Memory]
Record = Callable[..., ConversationRecord]


def plain(memories: object) -> list[Memory]:
    """Return the memories without the times that the store sets, by id."""
    return sorted((replace(m, created_at=None, updated_at=None) for m in memories), key=lambda m: m.id)  # type: ignore[attr-defined]


def everything(store: Store) -> list[Memory]:
    return store.list(status=None, expired=True)


def state(store: Store) -> dict[str, object]:
    """Return all that the store holds of memories, without the times that its clock gave."""
    file = store.path.with_suffix(".jsonl")
    store.export(file)
    return {
        "memories": re.sub(r'"(created_at|updated_at|at)":"[^"]*"', "", file.read_text(encoding="utf-8")),
        "found": [(hit.id, round(hit.score, 4)) for hit in store.search("Ines Porto tortoise")],
    }


def test_commit_does_what_apply_does(store: Store, memory: Make, record: Record) -> None:
    operations = [
        Operation("add", memory("m1")),
        Operation("add", memory("m2", "Ines keeps two tortoises.", evidence=("E00000002",), fields={"a": [1, 2]})),
        Operation("update", memory("m1", "Ines moved to Porto in May."), "m1", "more exact"),
        Operation("supersede", memory("m3", "Ines moved to Braga."), "m1", "she moved on"),
        Operation("delete", None, "m2", "no longer so"),
        Operation("skip", None, "m3", "nothing new"),
    ]
    store.commit(record(), operations)
    assert plain(everything(store)) == plain(apply((), operations))
    assert [m.id for m in store.list()] == ["m3"]
    assert store.get("m1").superseded_by == "m3"
    assert [(h["operation"], h["reason"]) for h in store.history("m1")] == [
        ("add", ""),
        ("update", "more exact"),
        ("supersede", "she moved on"),
    ]
    assert [(h["operation"], h["reason"], h["conversation"]) for h in store.history("m3")] == [("add", "she moved on", "c1")]
    assert [hit.id for hit in store.search("tortoise", status=None)] == ["m2"]


IDS = st.sampled_from(["m1", "m2", "m3", "m4"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "update", "supersede", "delete", "skip"]), IDS, IDS, st.sampled_from(["sails", "bakes"])),
    max_size=7,
)


@settings(max_examples=200, deadline=None)
@given(steps=STEPS)
def test_any_operations_are_planned_as_apply_applies_them(steps: list[tuple[str, str, str, str]]) -> None:
    operations: list[Operation] = []
    known: set[str] = set()
    for kind, own, target, word in steps:
        memory = Memory(own if kind != "update" else target, "facts", "habit", f"Rui {word}.")
        if kind in ("update", "supersede", "delete") and target not in known:
            continue
        operations.append(Operation(kind, None if kind in ("delete", "skip") else memory, target))  # type: ignore[arg-type]
        if kind in ("add", "supersede"):
            known.add(own)
    final = {change.memory.id: change.memory for change in planned(operations, pytest.fail)}
    assert plain(final.values()) == plain(apply((), operations))


def test_the_same_commit_twice_changes_nothing(store: Store, memory: Make, record: Record) -> None:
    operations = [Operation("add", memory("m1")), Operation("add", memory("m2", "Ines keeps tortoises."))]
    store.commit(record(), operations)
    before = (state(store), store.conversation("c1"), store.turns("c1"), store.known("memories", None).counts)
    store.commit(record(), operations)
    assert (state(store), store.conversation("c1"), store.turns("c1"), store.known("memories", None).counts) == before


@pytest.mark.parametrize("kind", ["update", "supersede", "delete"])
def test_a_broken_operation_leaves_nothing_of_the_commit(store: Store, memory: Make, record: Record, kind: str) -> None:
    with pytest.raises(UnknownMemoryError):
        store.commit(record(), [Operation("add", memory("m1")), Operation(kind, memory("m2"), "nobody")])  # type: ignore[arg-type]
    assert everything(store) == []
    assert store.conversation("c1") is None
    assert store.turns("c1") == ()


@pytest.mark.parametrize("kind", ["update", "supersede"])
def test_an_immutable_memory_is_not_changed_by_a_conversation(store: Store, memory: Make, record: Record, kind: str) -> None:
    store.commit(record(), [Operation("add", memory("m1", immutable=True))])
    with pytest.raises(UsageError, match="immutable"):
        store.commit(record("c2"), [Operation(kind, memory("m2", "Ines is Rui."), "m1")])  # type: ignore[arg-type]
    assert store.conversation("c2") is None


def test_retract_and_commit_give_the_same_state_as_the_first_time(store: Store, memory: Make, record: Record) -> None:
    store.commit(
        record("c0"), [Operation("add", memory("m0", "Ines lives in Faro.", conversation="c0", evidence=("E00000001",)))]
    )
    alone = state(store)
    operations = [
        Operation("add", memory("m1", evidence=("E00000001",), evidence_spans=(Span("E00000001", 0, 7),))),
        Operation("update", memory("m1", "Ines moved to Porto in May."), "m1"),
        Operation("supersede", memory("m2", "Ines lives in Porto.", evidence=("E00000001",)), "m0", "she moved"),
    ]
    store.commit(record(), operations)
    first = state(store)
    assert store.retract("c1", "memories") == 3
    assert state(store) == alone
    assert store.get("m0").status == "current"
    store.commit(record(), operations)
    assert state(store) == first


def test_retract_of_another_schema_or_conversation_touches_nothing(store: Store, memory: Make, record: Record) -> None:
    store.commit(record(), [Operation("add", memory("m1"))])
    before = state(store)
    assert store.retract("c1", "facts") == 0
    assert store.retract("c2", "memories") == 0
    assert store.retract("'; --", "memories") == 0
    assert state(store) == before


def test_an_update_is_taken_back_to_the_image_before_it(store: Store, memory: Make, record: Record) -> None:
    store.commit(record("c1"), [Operation("add", memory("m1", evidence=("E00000001",)))])
    before = state(store)
    more = memory("m1", "Ines moved to Porto in May.", evidence=("E00000001", "E00000002"))
    store.commit(record("c2"), [Operation("update", more, "m1")])
    assert [(e["conversation"], e["ref"]) for e in store.evidence("m1")] == [("c1", "E00000001"), ("c2", "E00000002")]
    assert store.retract("c2", "memories") == 1
    assert state(store) == before
    assert [(e["conversation"], e["ref"]) for e in store.evidence("m1")] == [("c1", "E00000001")]


def test_what_the_user_did_afterwards_is_kept(store: Store, memory: Make, record: Record) -> None:
    operations = [Operation("add", memory("m1")), Operation("add", memory("m2", "Ines sails.")), Operation("add", memory("m3"))]
    store.commit(record(), operations)
    store.update("m1", "Ines moved to Aveiro.")
    store.delete("m2")
    assert store.retract("c1", "memories") == 1
    assert [m.id for m in everything(store)] == ["m1", "m2"]
    store.commit(record(), operations)
    assert store.get("m1").text == "Ines moved to Aveiro."
    assert [m.id for m in store.list()] == ["m1", "m3"]


def test_a_superseded_memory_stays_so_while_the_newer_one_stays(store: Store, memory: Make, record: Record) -> None:
    store.commit(record("c0"), [Operation("add", memory("m0", "Ines lives in Faro.", conversation="c0"))])
    store.commit(record("c1"), [Operation("supersede", memory("m1"), "m0")])
    store.update("m1", "Ines lives in Porto now.")
    assert store.retract("c1", "memories") == 0
    assert [m.id for m in store.list()] == ["m1"]


def test_known_holds_current_and_superseded_of_one_schema_and_user(store: Store, memory: Make, record: Record) -> None:
    store.commit(record("c1", user="ines"), [Operation("add", memory("m1", user="ines")), Operation("add", memory("m4"))])
    store.commit(record("c2", user="ines"), [Operation("supersede", memory("m2", user="ines"), "m1")])
    store.commit(record("c3", schema="facts"), [Operation("add", memory("m3", user="ines", schema="facts"))])
    store.commit(record("c4", user="ines"), [Operation("add", memory("m5", user="ines"))])
    store.delete("m5")
    assert [m.id for m in store.known("memories", "ines").memories] == ["m1", "m2"]
    assert [m.id for m in store.known("memories", None).memories] == ["m4"]
    assert [m.id for m in store.known("memories", "ines").current()] == ["m2"]
