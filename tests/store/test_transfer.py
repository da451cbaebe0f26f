from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hybrid.data import Span
from hybrid.errors import FormatError, InputError, StoreError, UsageError
from hybrid.memory import Memory, Operation
from hybrid.store import ConversationRecord, Store

Make = Callable[..., Memory]
Record = Callable[..., ConversationRecord]


@pytest.fixture
def full(store: Store, memory: Make, record: Record) -> Store:
    spans = (Span("E00000001", 2, 7), Span("E00000002", 0, 4))
    rich = memory(
        "m1", evidence=("E00000001", "E00000002"), evidence_spans=spans, quote="a\u2028b\r\n\x00“c”", fields={"x": [1, None]}
    )
    store.commit(record("c1"), [Operation("add", rich), Operation("add", memory("m2", "Ines sails.", importance=0.1 + 0.2))])
    store.commit(record("c2"), [Operation("supersede", memory("m3", "Ines rows.", conversation="c2"), "m2", "she said")])
    store.add("Ines sleeps.", "habit", id="m4")
    store.delete("m4", "wrong")
    return store


def test_export_import_export_gives_the_same_bytes(full: Store, tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert full.export(first) == 4
    other = Store(tmp_path / "other.duckdb", "key")
    assert other.import_(first) == 4
    assert other.export(str(second)) == 4
    assert first.read_bytes() == second.read_bytes()
    assert other.list(status=None, expired=True) == full.list(status=None, expired=True)
    assert [h["operation"] for h in other.history("m2")] == ["add", "supersede"]
    assert [(e["conversation"], e["ref"]) for e in other.evidence("m1")] == [("c1", "E00000001"), ("c1", "E00000002")]
    assert [hit.id for hit in other.search("rowing")] == ["m3"]


def test_importing_twice_adds_nothing(full: Store, tmp_path: Path) -> None:
    file, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    full.export(file)
    assert full.import_(file) == 0
    other = Store(tmp_path / "other.duckdb")
    assert [other.import_(file), other.import_(file)] == [4, 0]
    other.export(again)
    assert file.read_bytes() == again.read_bytes()


def test_the_newer_memory_wins_in_both_directions(full: Store, tmp_path: Path) -> None:
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    full.export(old)
    full.update("m1", "Ines moved to Braga.")
    full.export(new)
    other = Store(tmp_path / "other.duckdb")
    other.import_(old)
    assert other.import_(new) == 1
    assert other.get("m1").text == "Ines moved to Braga."
    assert [h["operation"] for h in other.history("m1")] == ["add", "update"]
    assert full.import_(old) == 0
    assert full.get("m1").text == "Ines moved to Braga."


def test_a_line_needs_only_id_text_and_category(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "few.jsonl"
    lines = [
        '\ufeff{"id": "k1", "text": "Ines sails.", "category": "habit"}',
        "",
        '{"id": "k2", "text": "Ines rows.", "category": "user", "schema": "entries", "when": "2024", "colour": "red"}',
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    assert [store.import_(file), store.import_(file)] == [2, 0]
    first, second = store.list()
    assert (first.id, first.schema, first.fields) == ("k1", "facts", {})
    assert (second.schema, second.when, second.fields) == ("entries", "2024", {"colour": "red"})
    assert [(h["operation"], h["reason"]) for h in store.history("k1")] == [("add", "imported")]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('{"id": "k2", "text": ', "line 2, column"),
        ("[1, 2]", "line 2"),
        ('{"id": "k2", "text": "Ines"}', "line 2"),
        ('{"id": 5, "text": "Ines", "category": "x"}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "first": "soon"}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "evidence_spans": [3]}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "history": [{"operation": "add"}]}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "confidence": "high"}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "confidence": NaN}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "key": null}', "line 2"),
        ('{"id": "k2", "text": "Ines", "category": "x", "status": "odd"}', "line 2"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_taken_in(untouched: Store, tmp_path: Path, line: str, place: str) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text('{"id": "k1", "text": "Ines sails.", "category": "habit"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        untouched.import_(file)
    assert place in caught.value.message
    assert "Ines" not in caught.value.message
    assert untouched.list() == []


def test_files_that_cannot_be_used_are_named(full: Store, path: Path, tmp_path: Path) -> None:
    with pytest.raises((InputError, UsageError)):
        full.import_(tmp_path / "missing.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FormatError):
        full.import_(tmp_path / "binary")
    with pytest.raises(StoreError):
        full.export(tmp_path / "no folder" / "a.jsonl")
    with pytest.raises(UsageError):
        full.export(path)
    assert len(full.list()) == 2


def test_each_line_is_one_json_object(full: Store, tmp_path: Path) -> None:
    full.export(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["id"] for line in lines] == ["m1", "m2", "m3", "m4"]
