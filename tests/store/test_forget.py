from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from hybrid.memory import Memory, Operation
from hybrid.store import ConversationRecord, Store

Make = Callable[..., Memory]
Record = Callable[..., ConversationRecord]
TABLES = ("conversations", "remembered", "turns", "statements", "memories", "evidence", "history", "postings", "pending")


def remains(path: Path, *words: str) -> list[tuple[str, str]]:
    """Return which files beside the database, and it, hold which of the words."""
    files = [p for p in path.parent.rglob("*") if p.is_file()]
    return [(p.name, word) for p in files for word in words if word.encode() in p.read_bytes()]


def rows(path: Path) -> dict[str, int]:
    with contextlib.closing(duckdb.connect(str(path), read_only=True)) as connection:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in TABLES}


def test_nothing_of_a_forgotten_memory_is_left(store: Store, path: Path) -> None:
    store.add("Ines keeps a capybara.", "pet", id="m1", quote="my capybara", animal="capybara")
    store.add("Ines keeps an axolotl.", "pet", id="m2")
    store.update("m1", "Ines keeps a pangolin.")
    assert remains(path, "capybara", "pangolin", "axolotl")
    assert store.forget("m1") == 1
    assert {word for _, word in remains(path, "capybara", "pangolin", "capybar", "axolotl")} == {"axolotl"}
    assert [memory.id for memory in store.list(status=None)] == ["m2"]
    assert [hit.id for hit in store.search("Ines keeps")] == ["m2"]
    assert Store(path).add("Ines keeps a newt.", "pet")


def test_a_deleted_memory_can_be_forgotten(store: Store, path: Path) -> None:
    store.add("Ines keeps a capybara.", "pet", id="m1")
    store.delete("m1")
    assert remains(path, "capybara")
    assert store.forget("m1") == 1
    assert remains(path, "capybara", "capybar") == []


def test_a_forgotten_conversation_goes_with_turns_and_statements(
    store: Store, path: Path, memory: Make, record: Record
) -> None:
    first = record("c1", "I keep a capybara.")
    store.commit(first, [Operation("add", memory("m1", "Ines keeps a capybara.", evidence=("E00000001",), quote="a capybara"))])
    store.commit(
        record("c2", "I keep an axolotl."), [Operation("add", memory("m2", "Ines keeps an axolotl.", conversation="c2"))]
    )
    assert store.forget(conversation="c1") == 1
    assert {word for _, word in remains(path, "capybara", "capybar", "axolotl")} == {"axolotl"}
    assert store.conversations() == ["c2"]
    assert rows(path) | {"postings": 0} == dict.fromkeys(TABLES, 1) | {"evidence": 0, "pending": 0, "postings": 0}


def test_forgetting_a_conversation_brings_back_what_it_changed(store: Store, path: Path, memory: Make, record: Record) -> None:
    store.commit(record("c1", "I sail."), [Operation("add", memory("m1", "Ines sails."))])
    store.commit(record("c2", "I row a gondola."), [Operation("update", memory("m1", "Ines rows a gondola."), "m1")])
    assert store.forget(conversation="c2") == 0
    assert store.get("m1").text == "Ines sails."
    assert remains(path, "gondola") == []


def test_a_memory_that_went_on_from_a_forgotten_conversation_goes_as_a_whole(
    store: Store, path: Path, memory: Make, record: Record
) -> None:
    store.commit(record("c1", "I row a gondola."), [Operation("add", memory("m1", "Ines rows a gondola."))])
    store.commit(record("c2", "I row a lot."), [Operation("update", memory("m1", "Ines rows a gondola a lot."), "m1")])
    assert store.forget(conversation="c1") == 1
    assert remains(path, "gondola") == []


def test_everything_goes_and_the_store_still_works(store: Store, path: Path, memory: Make, record: Record) -> None:
    store.commit(record("c1", "I keep a capybara."), [Operation("add", memory("m1")), Operation("add", memory("m2"))])
    assert store.forget(everything=True) == 2
    assert set(rows(path).values()) == {0}
    assert remains(path, "capybara", "Ines", "Porto") == []
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.lock", f"{path.name}.lock.turn"]
    assert store.add("Ines keeps a newt.", "pet")


@pytest.mark.parametrize("what", [{"id": "m1"}, {"conversation": "c1"}, {"everything": True}])
def test_a_dry_run_only_counts(store: Store, path: Path, memory: Make, record: Record, what: dict[str, object]) -> None:
    store.commit(record(), [Operation("add", memory("m1"))])
    before = path.read_bytes()
    assert store.forget(**what, dry_run=True) == 1  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert store.forget(**what) == 1  # type: ignore[arg-type]


def test_an_unknown_conversation_is_nothing_to_forget(store: Store) -> None:
    store.add("Ines keeps a newt.", "pet")
    assert store.forget(conversation="nobody' OR 1=1 --") == 0
    assert len(store.list()) == 1


def test_a_rewrite_that_is_owed_is_made_up_for(store: Store, path: Path) -> None:
    store.add("Ines keeps a capybara.", "pet")
    with store._database.writing() as connection:
        connection.execute("DELETE FROM memories")
        connection.execute("DELETE FROM history")
        connection.execute("DELETE FROM postings")
        connection.execute("INSERT INTO pending VALUES ('rewrite')")
    assert remains(path, "capybara")
    Store(path)
    assert remains(path, "capybara", "capybar") == []
    assert rows(path)["pending"] == 0
