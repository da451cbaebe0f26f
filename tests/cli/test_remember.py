"""`hybrid remember`: extract and keep, again and again, and after an interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybrid.store import Store

Cli = Callable[..., Any]

RULES = ("--model", "none")
THINGS = ("lamp", "carpet", "mirror", "desk", "clock", "vase", "sofa", "shelf", "stool", "bench", "kettle", "blanket")
ROOMS = ("kitchen", "hall", "study", "attic", "cellar", "garden")
FRIENDS = ("Rui", "Clara", "Tomas")


def long_talk(path: Path, turns: int) -> Path:
    lines = (
        f"[Ines]: I actually bought a {THINGS[i % 12]} for my {ROOMS[i // 12 % 6]} with {FRIENDS[i % 3]} yesterday."
        for i in range(turns)
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_json_says_for_each_file_what_changed(cli: Cli, talk: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("[Mila]: I work as a glassblower.\n", encoding="utf-8")
    db = tmp_path / "a.duckdb"
    found = cli("remember", talk, other, *RULES, "--db", db, "--json")
    assert found.code == 0
    first, second = found.json
    assert (first["file"], first["turns"], first["new_turns"]) == (str(talk), 4, 4)
    assert second["counts"] == {"add": 1, "update": 0, "supersede": 0, "delete": 0, "skip": 0}
    assert first["conversation"] != second["conversation"]
    assert {o["operation"] for o in first["operations"]} == {"add"}
    assert first["usage"]["model"] == "none"
    assert len(found.err.splitlines()) == 2
    assert len(Store(db).list()) == first["counts"]["add"] + 1


def test_the_same_again_adds_nothing(cli: Cli, talk: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    cli("remember", talk, talk, *RULES, "--db", db)
    before = [m.model_dump() for m in Store(db).list(status=None)]
    again = cli("remember", talk, *RULES, "--db", db, "--json")
    assert again.json[0]["new_turns"] == 0
    assert again.json[0]["operations"] == []
    assert "nothing new" in again.err
    assert [m.model_dump() for m in Store(db).list(status=None)] == before


def test_a_grown_file_adds_only_what_is_new(cli: Cli, talk: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    cli("remember", talk, *RULES, "--db", db)
    talk.write_text(talk.read_text(encoding="utf-8") + "[Otto]: I love whittling.\n", encoding="utf-8")
    grown = cli("remember", talk, *RULES, "--db", db, "--json").json[0]
    assert (grown["new_turns"], grown["counts"]["add"]) == (1, 1)


def test_standard_input_is_remembered_into_the_database_of_the_environment(cli: Cli, talk: Path) -> None:
    assert cli("remember", "-", *RULES, "--json", stdin=talk.read_bytes()).json[0]["file"] == "-"
    assert len(cli("memory", "list", "--json").json) > 0


def test_empty_conversation_is_no_error(cli: Cli) -> None:
    found = cli("remember", "-", *RULES, "--json", stdin=b"")
    assert found.code == 0
    assert found.json[0]["turns"] == 0
    assert len(found.err.splitlines()) == 1


def test_nothing_is_kept_where_one_of_the_files_cannot_be_read(cli: Cli, talk: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    assert cli("remember", talk, "nowhere.txt", *RULES, "--db", db, "--json").code == 5
    assert not db.exists() or Store(db).list() == []


def _interrupt(process: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        process.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        process.send_signal(signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="a console event would reach the test run too")
def test_interruption_keeps_what_was_stored_and_the_next_run_ends_it(gguf: Path, tmp_path: Path, cli: Cli) -> None:
    talk, db = long_talk(tmp_path / "long.txt", 16), tmp_path / "a.duckdb"
    script = Path(sys.executable).with_name("hybrid")
    call = [script, "remember", talk, "--user", "Ines", "--session-time", "2024-05-14", "--db", db, "--model", str(gguf)]
    with subprocess.Popen(
        [*map(str, call), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline and not (db.exists() and Store(db).list()):
            time.sleep(0.1)
        _interrupt(process)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert '"CancelledError"' in err
    kept = len(Store(db).list())
    assert 0 < kept < 16
    again = cli(*call[1:], "--json")
    assert again.code == 0
    assert len(Store(db).list()) == 16
    whole = tmp_path / "whole.duckdb"
    assert cli("remember", talk, "--user", "Ines", "--session-time", "2024-05-14", "--db", whole, *RULES).code == 0
    assert [(m.id, m.evidence, m.when) for m in Store(db).list()] == [(m.id, m.evidence, m.when) for m in Store(whole).list()]
