"""`hybrid memory`: add, get, list, search, update, delete, history, forget, export and import."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

RULES = ("--model", "none")


@pytest.fixture
def db(cli: Cli, talk: Path, tmp_path: Path) -> Path:
    path = tmp_path / "a.duckdb"
    assert cli("remember", talk, "--user", "Vera", "--session-time", "2024-05-14", *RULES, "--db", path).code == 0
    return path


def test_list_prints_an_array_of_memories(cli: Cli, db: Path) -> None:
    found = cli("memory", "list", "--db", db, "--json")
    assert (found.code, found.err) == (0, "")
    keys = {"id", "schema", "category", "text", "subject", "speaker", "when", "evidence", "fields", "status"}
    assert all(keys <= set(memory) for memory in found.json)
    assert {m["category"] for m in found.json} == {"profile", "preference", "entity"}
    moved = next(m for m in found.json if m["key"] == "location")
    assert (moved["when"], moved["evidence"], moved["speaker"]) == ("2024-04-01/2024-04-30", ["E00000001"], "Vera")


def test_list_can_be_narrowed(cli: Cli, db: Path) -> None:
    everything = cli("memory", "list", "--db", db, "--json").json
    assert len(cli("memory", "list", "--db", db, "--limit", "1", "--json").json) == 1
    assert {m["category"] for m in cli("memory", "list", "--db", db, "--category", "entity", "--json").json} == {"entity"}
    assert cli("memory", "list", "--db", db, "--schema", "facts", "--json").json == []
    assert len(cli("memory", "list", "--db", db, "--subject", "vera", "--json").json) < len(everything)


def test_search_adds_score_and_why(cli: Cli, db: Path) -> None:
    hits = cli("memory", "search", "who is allergic to walnuts?", "--db", db, "--json").json
    assert "walnuts" in hits[0]["text"]
    assert hits[0]["score"] > 0
    assert hits[0]["why"]
    assert len(cli("memory", "search", "Vera", "-k", "1", "--db", db, "--json").json) == 1
    nothing = cli("memory", "search", "submarine", "--db", db, "--json")
    assert (nothing.code, nothing.json, nothing.err.strip()) == (0, [], "no hits")


def test_tables_in_a_pipe_are_tab_separated(cli: Cli, db: Path) -> None:
    for arguments in (("list",), ("search", "walnuts")):
        lines = cli("memory", *arguments, "--db", db).out.splitlines()
        assert lines
        assert all(len(line.split("\t")) == 6 for line in lines)


def test_get_shows_the_words_that_prove_it(cli: Cli, db: Path) -> None:
    wanted = cli("memory", "search", "walnuts", "--db", db, "--json").json[0]["id"]
    assert cli("memory", "get", wanted, "--db", db, "--json").json["id"] == wanted
    assert "I'm allergic to walnuts. I love kayaking." in cli("memory", "get", wanted, "--db", db).out


def test_a_memory_lives_from_add_to_forget(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "b.duckdb"
    added = cli("memory", "add", "Rui plays the oboe.", "--category", "identity", "--db", db, "--json").json
    assert (added["schema"], added["category"], added["text"]) == ("facts", "identity", "Rui plays the oboe.")
    wanted = added["id"]
    changed = cli("memory", "update", wanted, "Rui plays the bassoon.", "--db", db, "--json").json
    assert (changed["id"], changed["text"]) == (wanted, "Rui plays the bassoon.")
    assert cli("memory", "search", "oboe", "--db", db, "--json").json == []
    assert cli("memory", "delete", wanted, "--db", db, "--json").json["status"] == "deleted"
    assert cli("memory", "list", "--db", db, "--json").json == []
    assert cli("memory", "get", wanted, "--db", db, "--json").code == 1
    steps = cli("memory", "history", wanted, "--db", db, "--json").json
    assert [step["operation"] for step in steps] == ["add", "update", "delete"]
    assert steps[1]["before"]["text"] == "Rui plays the oboe."
    assert cli("memory", "forget", wanted, "--dry-run", "--db", db, "--json").json == {"forgotten": 1, "dry_run": True}
    assert cli("memory", "history", wanted, "--db", db).code == 0
    assert cli("memory", "forget", wanted, "--db", db, "--json").json == {"forgotten": 1, "dry_run": False}
    assert cli("memory", "history", wanted, "--db", db).code == 1
    assert b"bassoon" not in db.read_bytes()


def test_without_json_a_change_prints_the_id(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "b.duckdb"
    wanted = cli("memory", "add", "Rui plays the oboe.", "--category", "identity", "--db", db).out.strip()
    assert cli("memory", "update", wanted, "Rui plays the bassoon.", "--db", db).out.strip() == wanted
    assert cli("memory", "delete", wanted, "--db", db).out.strip() == wanted


@pytest.mark.parametrize("arguments", [(), ("m1", "--everything")])
def test_forget_needs_one_aim(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert cli("memory", "forget", *arguments, "--db", tmp_path / "b.duckdb", "--json").code == 2


def test_forgetting_everything_empties_the_file(cli: Cli, db: Path) -> None:
    assert cli("memory", "forget", "--everything", "--db", db, "--json").json["forgotten"] > 0
    empty = cli("memory", "list", "--db", db, "--json")
    assert (empty.json, empty.err.strip()) == ([], "no memories")
    assert b"walnuts" not in db.read_bytes()


def test_blank_text_is_a_usage_error(cli: Cli, tmp_path: Path) -> None:
    assert cli("memory", "add", "  ", "--category", "identity", "--db", tmp_path / "b.duckdb", "--json").code == 2


def test_export_comes_back_through_import(cli: Cli, db: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "export.jsonl", tmp_path / "other.duckdb"
    count = len(cli("memory", "list", "--db", db, "--json").json)
    assert cli("memory", "export", path, "--db", db, "--json").json == {"exported": count, "path": str(path)}
    assert cli("memory", "import", path, "--db", other, "--json").json == {"imported": count}
    assert cli("memory", "import", path, "--db", other, "--json").json == {"imported": 0}
    texts = [[m["text"] for m in cli("memory", "list", "--db", file, "--json").json] for file in (db, other)]
    assert texts[0] == texts[1]
    piped = cli("memory", "export", "-", "--db", db).out
    assert sorted(json.loads(line)["text"] for line in piped.splitlines()) == sorted(texts[0])


def test_import_of_broken_lines_names_the_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text("{\n", encoding="utf-8")
    found = cli("memory", "import", path, "--db", tmp_path / "b.duckdb", "--json")
    assert found.code == 5
    assert "line 1" in found.error["message"]


def test_import_of_a_missing_file_names_it(cli: Cli, tmp_path: Path) -> None:
    found = cli("memory", "import", tmp_path / "nowhere.jsonl", "--db", tmp_path / "b.duckdb", "--json")
    assert found.code in (2, 5)
    assert "nowhere.jsonl" in found.error["message"]
