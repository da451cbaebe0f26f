"""What goes wrong ends in one line, a hint and the right exit code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

RULES = ("--model", "none")
HOLD = """
import sys
from pathlib import Path
from hybrid.store.lock import locked
with locked(Path(sys.argv[1]), exclusive=True, timeout=5):
    print("held", flush=True)
    sys.stdin.read()
"""
# Something that a small model is asked about.
ASKED = b"[Ines]: I actually bought a lamp for my kitchen with Rui last Friday.\n"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("binary.txt", b"a\x00\xff\xfe\x00\x01", "binary"),
        ("half.json", b'[{"role": "user",\n "content": }]', "line 2, column 13"),
        ("role.json", b'[{"role": "pilot", "content": "I live in Porto."}]', "role"),
        ("lines.jsonl", b'{"role": "user", "content": "Hello"}\n{"role": \n', "line 2"),
    ],
)
def test_file_that_is_no_conversation_is_an_input_error(cli: Cli, tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for command in ("extract", "annotate", "remember"):
        found = cli(command, path, *(RULES if command != "annotate" else ()), "--json")
        assert found.code == 5
        assert says in found.error["message"]
        assert "Porto" not in found.err


def test_missing_file_is_an_input_error(cli: Cli) -> None:
    found = cli("extract", "nowhere.txt", *RULES, "--json")
    assert found.code == 5
    assert "nowhere.txt" in found.error["message"]


def test_folder_is_an_input_error(cli: Cli, tmp_path: Path) -> None:
    assert cli("extract", tmp_path, *RULES, "--json").code == 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("--session-time", "2024-02-30"),
        ("--session-time", "soon"),
        ("--schema", "diary"),
        ("--format", "papyrus"),
        ("--form", "poem"),
        ("--language", "klingonese"),
        ("--colour",),
        ("--user",),
    ],
    ids=" ".join,
)
def test_wrong_argument_is_a_usage_error(cli: Cli, talk: Path, arguments: tuple[str, ...]) -> None:
    found = cli("extract", talk, *RULES, "--json", *arguments)
    assert found.code == 2
    assert found.error["type"] == "UsageError"


def test_wrong_schema_is_said_before_the_file_is_read(cli: Cli) -> None:
    assert cli("remember", "-", "--schema", "diary", *RULES, "--json", stdin=b"I live in Porto.").code == 2


def test_unknown_command_and_missing_argument_are_usage_errors(cli: Cli) -> None:
    assert cli("ponder", "--json").code == 2
    assert cli("extract", "--json").code == 2
    assert cli("memory", "ponder", "--json").code == 2


def test_error_without_json_is_a_line_and_a_hint(cli: Cli) -> None:
    found = cli("extract", "nowhere.txt", *RULES)
    assert found.out == ""
    error, hint = found.err.splitlines()
    assert error.startswith("error: ")
    assert hint.strip().startswith("hint: ")


def test_default_model_that_is_missing_is_named_with_its_command(
    cli: Cli, talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYBRID_MODELS", str(tmp_path / "models"))
    found = cli("extract", talk, "--model", "default", "--json")
    assert found.code == 3
    assert found.error["type"] == "ModelMissingError"
    assert str(tmp_path / "models") in found.error["message"]
    assert "hybrid model install smollm2-135m-instruct" in found.error["hint"]


def test_automatic_model_that_is_missing_leaves_the_rules_and_says_so(
    cli: Cli, talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYBRID_MODELS", str(tmp_path / "models"))
    found = cli("extract", talk, "--json")
    assert found.code == 0
    assert found.json["outputs"]
    assert found.json["usage"]["model"] == "none"
    assert len(found.err.splitlines()) == 1
    assert "hybrid model install smollm2-135m-instruct" in found.err


@pytest.mark.parametrize(
    "content", [b"", b"no model at all" * 100, b"GGUF\x03\x00\x00\x00" + b"\x00" * 4000], ids=["empty", "text", "cut off"]
)
def test_damaged_model_file_is_a_model_error(cli: Cli, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(content)
    found = cli("extract", "-", "--session-time", "2024-05-14", "--model", path, "--json", stdin=ASKED)
    assert found.code == 3
    assert "damaged.gguf" in found.error["message"]


def test_damaged_file_of_a_known_model_fails_its_checksum(cli: Cli, gguf: Path, tmp_path: Path, talk: Path) -> None:
    path = tmp_path / gguf.name
    path.write_bytes(gguf.read_bytes()[:4096])
    found = cli("extract", talk, "--model", path, "--json")
    assert found.code == 3
    assert found.error["type"] == "ModelError"


def test_missing_model_file_is_a_model_error(cli: Cli, talk: Path) -> None:
    found = cli("extract", talk, "--model", "nowhere.gguf", "--json")
    assert found.code == 3
    assert "nowhere.gguf" in found.error["message"]


def test_database_that_another_process_keeps_is_a_store_error(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "kept.duckdb"
    assert cli("memory", "add", "Rui sails.", "--category", "identity", "--db", path).code == 0
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"held"
        found = cli("memory", "list", "--db", path, "--json")
        other.communicate(b"")
    assert found.code == 4
    assert found.error["type"] == "StoreLockedError"
    assert str(other.pid) in found.error["message"]
    assert len(cli("memory", "list", "--db", path, "--json").json) == 1


@pytest.mark.parametrize("command", ["list", "search", "remember"])
def test_file_that_is_no_database_is_a_store_error_and_stays(cli: Cli, tmp_path: Path, talk: Path, command: str) -> None:
    path = tmp_path / "letters.duckdb"
    path.write_bytes(b"Dear Rui, this is a letter." * 300)
    arguments = {"list": ("memory", "list"), "search": ("memory", "search", "letter"), "remember": ("remember", talk, *RULES)}
    found = cli(*arguments[command], "--db", path, "--json")
    assert found.code == 4
    assert found.error["type"] == "StoreError"
    assert path.read_bytes() == b"Dear Rui, this is a letter." * 300


@pytest.mark.parametrize(
    "arguments",
    [("get", "m0"), ("update", "m0", "Rui sails."), ("delete", "m0"), ("forget", "m0"), ("history", "m0")],
    ids=lambda a: a[0],
)
def test_unknown_memory_is_an_error(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    found = cli("memory", *arguments, "--db", tmp_path / "a.duckdb", "--json")
    assert found.code == 1
    assert found.error["type"] == "UnknownMemoryError"


def test_settings_file_with_an_unknown_name_is_a_usage_error(cli: Cli, talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_WEEKS", "lunar")
    found = cli("extract", talk, *RULES, "--json")
    assert found.code == 2
    assert "weeks" in found.error["message"]
