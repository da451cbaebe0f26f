from __future__ import annotations

import stat
import sys
import threading
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from hybrid.data import Span
from hybrid.errors import HybridError, StoreError, UnknownMemoryError, UsageError
from hybrid.memory import Memory
from hybrid.store import Hit, Store

EVERYTHING = {
    "key": "ines/home",
    "subject": "Inês",
    "speaker": "Rui",
    "when": "2024-05-02/2024-05-09",
    "first": date(2024, 5, 2),
    "last": datetime(2024, 5, 9, 18, 30),
    "confidence": 0.85,
    "importance": 0.1 + 0.2,
    "expires_at": "2999-01-31",
    "immutable": True,
    "conversation": "c7",
    "user": "ines",
    "agent": "desk",
    "evidence": ("E00000002", "E00000005"),
    "evidence_spans": (Span("E00000002", 3, 9), Span("E00000002", 12, 20), Span("E00000005", 0, 4)),
    "quote": "we moved\n“up north” \x00 🐢 家",
    "fields": {"scope": "private", "steps": ["pack", "drive"], "deep": {"n": 1, "none": None}},
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Give a store with five memories to tests that only read: three that hold, a deleted and an expired one."""
    store = Store(tmp_path_factory.mktemp("kept") / "memories.duckdb")
    store.add("Ines moved.", "event", id="a", schema="memories", subject="Ines", conversation="c1")
    store.add("Rui moved.", "event", id="b", subject="Rui ⛵")
    store.add("Ana moved.", "habit", id="c", user="ines", evidence=["E00000001"], conversation="c1")
    store.add("Eva moved.", "habit", id="gone")
    store.add("Leo moved.", "habit", id="old", expires_at=(date.today() - timedelta(days=1)).isoformat())
    store.delete("gone")
    return store


def test_every_column_comes_back_as_it_went_in(store: Store) -> None:
    added = store.add("Inês moved to Porto 🏠.", "event", schema="memories", id="m-own", **EVERYTHING)
    found = store.get("m-own")
    assert found == added
    assert {name: getattr(found, name) for name in EVERYTHING} == EVERYTHING
    assert (found.schema, found.category, found.text, found.status) == (
        "memories",
        "event",
        "Inês moved to Porto 🏠.",
        "current",
    )
    assert found.created_at is not None
    assert found.created_at == found.updated_at
    assert found.created_at.tzinfo is UTC
    untested = {f.name for f in fields(Memory)} - set(EVERYTHING) - {"id", "schema", "category", "text", "status"}
    assert untested == {"superseded_by", "created_at", "updated_at"}


def test_adding_twice_makes_two_memories_in_order(store: Store) -> None:
    first, second = store.add("Rui bakes bread.", "preference"), store.add("Rui bakes bread.", "preference")
    assert first.id != second.id
    assert [memory.id for memory in store.list()] == [first.id, second.id]
    assert [memory.id for memory in store.list(1)] == [first.id]
    assert store.list(0) == []


def test_unknown_names_become_fields_and_when_gives_the_days(store: Store) -> None:
    memory = store.add("Rui ran a race.", "event", when="2024-05-02/2024-05-09", mood="proud", fields={"place": "Braga"})
    assert memory.fields == {"place": "Braga", "mood": "proud"}
    assert (memory.first, memory.last) == (date(2024, 5, 2), date(2024, 5, 9))
    assert store.add("Rui sails.", "event", when="2024-05-01/..").last is None
    assert store.add("Rui sails.", "event", when="some day").first is None


@pytest.mark.parametrize(
    ("text", "category", "values"),
    [
        ("", "event", {}),
        (" \n", "event", {}),
        ("Rui sails.", " ", {}),
        ("Rui sails.", "event", {"schema": ""}),
        ("Rui sails.", "event", {"first": "in spring"}),
        ("Rui sails.", "event", {"expires_at": "soon"}),
        ("Rui sails.", "event", {"evidence_spans": [{"ref": "E00000001"}]}),
        ("Rui sails.", "event", {"evidence": 3}),
        ("Rui sails.", "event", {"evidence": [3]}),
        ("Rui sails.", "event", {"confidence": float("nan")}),
        ("Rui sails.", "event", {"confidence": True}),
        ("Rui sails.", "event", {"status": "odd"}),
        ("Rui sails.", "event", {"subject": 5}),
        ("Rui sails.", "event", {"id": 5}),
    ],
)
def test_what_cannot_be_a_memory_is_refused(untouched: Store, text: str, category: str, values: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        untouched.add(text, category, **values)
    assert caught.value.hint
    assert untouched.list() == []


def test_a_taken_id_is_refused(store: Store) -> None:
    store.add("Rui sails.", "event", id="m1")
    with pytest.raises(UsageError, match="taken"):
        store.add("Rui swims.", "event", id="m1")
    assert store.get("m1").text == "Rui sails."


def test_update_keeps_the_place_and_writes_history(store: Store) -> None:
    first = store.add("Rui sails.", "event", id="m1", mood="calm")
    store.add("Rui swims.", "event", id="m2")
    changed = store.update("m1", "Rui sails at night.", reason="he said so", category="habit", importance=0.9, wind="north")
    assert (changed.text, changed.category, changed.importance) == ("Rui sails at night.", "habit", 0.9)
    assert changed.fields == {"mood": "calm", "wind": "north"}
    assert changed.created_at == first.created_at
    assert [memory.id for memory in store.list()] == ["m1", "m2"]
    added, updated = store.history("m1")
    assert (added["operation"], added["before"], added["after"]["text"]) == ("add", None, "Rui sails.")
    assert (updated["operation"], updated["reason"]) == ("update", "he said so")
    assert updated["before"] == first.model_dump()
    assert updated["after"] == changed.model_dump()
    assert [hit.id for hit in store.search("night")] == ["m1"]


@pytest.mark.parametrize("name", ["id", "schema", "status", "superseded_by", "created_at", "updated_at"])
def test_update_leaves_what_identifies_a_memory(store: Store, name: str) -> None:
    store.add("Rui sails.", "event", id="m1")
    with pytest.raises(UsageError, match=name):
        store.update("m1", "Rui swims.", **{name: "x"})


def test_an_immutable_memory_can_be_deleted_but_not_changed(store: Store) -> None:
    store.add("Rui is called Rui.", "identity", id="m1", immutable=True)
    with pytest.raises(UsageError, match="immutable"):
        store.update("m1", "Rui is called Ana.")
    assert store.get("m1").text == "Rui is called Rui."
    assert store.delete("m1").status == "deleted"


def test_a_deleted_memory_leaves_only_its_history(store: Store) -> None:
    store.add("Rui sails.", "event", id="m1")
    deleted = store.delete("m1", "asked to")
    assert deleted.status == "deleted"
    assert store.list() == []
    assert store.search("sails") == []
    assert [memory.id for memory in store.list(status="deleted")] == ["m1"]
    assert [(h["operation"], h["reason"]) for h in store.history("m1")] == [("add", "added"), ("delete", "asked to")]
    for call in (store.get, store.delete, lambda wanted: store.update(wanted, "Rui swims.")):
        with pytest.raises(UnknownMemoryError):
            call("m1")


@pytest.mark.parametrize("call", ["get", "delete", "history", "evidence", "forget"])
@pytest.mark.parametrize("wanted", ["nobody", "'; DROP TABLE memories; --", "a\x00", "\ud800"])
def test_an_unknown_id_is_named_as_such(kept: Store, call: str, wanted: str) -> None:
    with pytest.raises(UnknownMemoryError) as caught:
        getattr(kept, call)(wanted)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["a", "b", "c"]),
        ({"schema": "memories"}, ["a"]),
        ({"category": "event"}, ["a", "b"]),
        ({"subject": "rui"}, ["b"]),
        ({"subject": "Ru"}, []),
        ({"user": "ines"}, ["c"]),
        ({"conversation": "c1"}, ["a", "c"]),
        ({"category": "event", "conversation": "c1"}, ["a"]),
        ({"category": "' OR 1=1 --"}, []),
        ({"status": None}, ["a", "b", "c", "gone", "old"]),
        ({"status": "deleted"}, ["gone"]),
        ({"expired": True}, ["a", "b", "c", "old"]),
        ({"status": None, "schema": None, "category": None}, ["a", "b", "c", "gone", "old"]),
    ],
)
def test_filters_admit_what_they_name(kept: Store, filters: dict[str, object], expected: list[str]) -> None:
    if filters.get("status", "") is None:
        filters = {**filters, "expired": True}
    assert [memory.id for memory in kept.list(**filters)] == expected  # type: ignore[arg-type]
    assert sorted(hit.id for hit in kept.search("moved", **filters)) == sorted(expected)  # type: ignore[arg-type]


def test_the_last_day_still_counts(store: Store) -> None:
    store.add("The sale is on.", "event", expires_at=date.today().isoformat())
    assert len(store.list()) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.list(-1),
        lambda store: store.search("x", -1),
        lambda store: store.list(status="old"),
        lambda store: store.list(colour="red"),
        lambda store: store.forget(),
        lambda store: store.forget("m1", everything=True),
    ],
)
def test_arguments_that_are_not_allowed_say_what_is(untouched: Store, call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError) as caught:
        call(untouched)
    assert caught.value.hint


def test_a_hit_has_everything_of_its_memory(store: Store) -> None:
    memory = store.add("Rui sails.", "event", subject="Rui")
    (hit,) = store.search("sail")
    assert isinstance(hit, Hit)
    assert hit.memory == memory
    assert (hit.id, hit.text, hit.category, hit.subject, hit.evidence) == (memory.id, "Rui sails.", "event", "Rui", ())
    dumped = hit.model_dump(mode="json")
    assert set(dumped) == set(memory.model_dump()) | {"score", "why"}
    assert dumped["score"] == pytest.approx(sum(dumped["why"].values()))
    with pytest.raises(AttributeError):
        _ = hit.colour


def test_eight_threads_lose_nothing(store: Store, path: Path) -> None:
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            own = store if number % 2 else Store(path)
            own.add(f"Person {number} sails.", "event", id=f"m{number}")
            assert own.get(f"m{number}").text == f"Person {number} sails."
            assert own.search(f"person {number}")
        except (HybridError, AssertionError) as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {memory.id for memory in store.list()} == {f"m{number}" for number in range(8)}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights elsewhere")
def test_the_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "memories.duckdb"
    store = Store(path)
    store.add("Rui sails.", "event")
    store.export(path.with_name("out.jsonl"))
    store.forget(everything=True)
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    assert {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()} == {
        "memories.duckdb": 0o600,
        "memories.duckdb.lock": 0o600,
        "memories.duckdb.lock.turn": 0o600,
        "out.jsonl": 0o600,
    }


def test_paths_with_quotes_and_other_scripts_work(tmp_path: Path) -> None:
    path = tmp_path / "o'neil; -- [x]*" / "記憶 'db'.duckdb"
    store = Store(str(path))
    store.add("Rui sails.", "event")
    store.forget(everything=True)
    assert Store(path).list() == []
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.lock", f"{path.name}.lock.turn"]


def test_text_that_looks_like_sql_is_only_text(store: Store) -> None:
    text = "'); DROP TABLE memories; SELECT ('\"$1 ? {where} %s"
    memory = store.add(text, "event'; --", id="x'; --", **{"weird'; --": text})
    assert store.get("x'; --") == memory
    assert store.search(text)[0].text == text
    assert store.search("'; DROP TABLE postings; --")[0].id == "x'; --"
    assert store.forget("x'; --") == 1


def test_half_a_surrogate_pair_is_stored_as_a_replacement(store: Store) -> None:
    assert store.add("Rui \ud83d sails.", "event").text == "Rui \ufffd sails."


def test_a_file_that_vanished_is_an_error_not_a_new_file(store: Store, path: Path) -> None:
    path.unlink()
    for call in (store.list, lambda: store.add("Rui sails.", "event"), lambda: store.forget(everything=True)):
        with pytest.raises(StoreError, match="not there"):
            call()
    assert not path.exists()


def test_an_embedder_is_kept_and_not_called(path: Path) -> None:
    def embedder(texts: list[str]) -> list[list[float]]:
        raise AssertionError(texts)

    store = Store(path, embedder=embedder)
    store.add("Rui sails.", "event")
    assert store.embedder is embedder
    assert len(store.search("sails")) == 1
