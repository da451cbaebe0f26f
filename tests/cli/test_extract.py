"""`hybrid extract`: the envelope, the documents' forms, known memories, standard input and empty conversations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybrid.store import Store

Cli = Callable[..., Any]

RULES = ("--model", "none")
MEMORY_KEYS = {
    "tool", "category", "space", "uri", "routing_key", "abstract", "overview", "content", "confidence", "when", "who", "where",
    "evidence_quote", "attributed_speaker", "attribution_basis", "best_for", "optimal_params", "common_failures",
    "recommendations", "evidence",
}  # fmt: skip
FACT_KEYS = {"operation", "memory_id", "category", "text", "importance", "expires_at", "gates", "gate_reasons", "evidence"}
ENTRY_KEYS = (
    "type", "key", "content", "scope", "stability", "confidence", "evidence_count", "expires_at", "explicitly_persistent",
)  # fmt: skip
DECISION = (
    "[Vera]: We decided to keep the invoices in SQLite instead of MongoDB because backups are simpler.\n"
    "[Vera]: From now on, always answer me in short sentences.\n"
)


def decided(tmp_path: Path) -> Path:
    path = tmp_path / "decided.txt"
    path.write_text(DECISION, encoding="utf-8")
    return path


def test_json_is_the_envelope_of_the_contract(cli: Cli, talk: Path) -> None:
    found = cli("extract", talk, "--user", "Vera", "--session-time", "2024-05-14", *RULES, "--json")
    assert (found.code, found.err) == (0, "")
    envelope = found.json
    assert {"schema", "language", "outputs", "rejected", "skipped", "turns", "usage"} <= set(envelope)
    assert envelope["schema"] == "memories"
    assert envelope["language"] == "en"
    assert [t["ref"] for t in envelope["turns"]] == ["E00000001", "E00000002", "E00000003", "E00000004"]
    assert {t["speaker"] for t in envelope["turns"]} == {"Vera", "Otto"}
    assert {t["role"] for t in envelope["turns"]} == {"user"}
    assert envelope["turns"][0]["time"] == "2024-05-14T00:00:00"
    assert envelope["skipped"] == [{"ref": "E00000004", "reason": "acknowledgement"}]
    assert envelope["usage"]["model"] == "none"
    assert envelope["usage"]["model_calls"] == 0
    assert all(set(output) >= MEMORY_KEYS for output in envelope["outputs"])
    moved = next(o for o in envelope["outputs"] if o["routing_key"] == "location")
    assert (moved["category"], moved["when"]) == ("profile", "2024-04-01/2024-04-30")
    assert moved["uri"].startswith("ctx://local/users/vera/memories/profile/")
    assert all(moved[name] for name in ("evidence_quote", "attributed_speaker", "attribution_basis"))


@pytest.mark.parametrize(
    ("schema", "keys"),
    [
        ("facts", FACT_KEYS),
        ("entries", {*ENTRY_KEYS, "evidence"}),
        ("candidates", {"id", "kind", "claim", "why_useful", "staleness", "entry_refs"}),
    ],
)
def test_outputs_have_the_keys_of_their_schema(cli: Cli, tmp_path: Path, schema: str, keys: set[str]) -> None:
    envelope = cli("extract", decided(tmp_path), "--schema", schema, *RULES, "--json").json
    assert envelope["schema"] == schema
    assert envelope["outputs"]
    assert all(keys <= set(output) for output in envelope["outputs"])


def test_document_form_of_memories_is_tool_calls(cli: Cli, talk: Path) -> None:
    calls = cli("extract", talk, "--user", "Vera", *RULES, "--form", "document").json
    assert all(set(call) == {"name", "arguments"} for call in calls)
    assert all(call["name"].startswith("extract_") for call in calls)
    profile = next(call["arguments"] for call in calls if call["name"] == "extract_profile")
    assert {"evidence_quote", "attributed_speaker", "attribution_basis"} <= set(profile)
    assert not {"uri", "space", "filled_by", "statement"} & {key for call in calls for key in call["arguments"]}


def test_document_form_of_facts_is_operations(cli: Cli, tmp_path: Path) -> None:
    calls = cli("extract", decided(tmp_path), "--schema", "facts", *RULES, "--form", "document").json
    assert {call["name"] for call in calls} <= {"memory_add", "memory_update", "memory_delete"}
    added = next(call["arguments"] for call in calls if call["name"] == "memory_add")
    assert set(added) == {"facts", "category", "importance"}


def test_document_form_of_entries_is_the_bare_array_of_nine_keys(cli: Cli, tmp_path: Path) -> None:
    entries = cli("extract", decided(tmp_path), "--schema", "entries", *RULES, "--form", "document").json
    assert entries
    assert all(tuple(entry) == ENTRY_KEYS for entry in entries)


def test_document_form_of_candidates_is_staged_calls(cli: Cli, tmp_path: Path) -> None:
    calls = cli("extract", decided(tmp_path), "--schema", "candidates", *RULES, "--form", "document").json
    assert [call["name"] for call in calls][-1] == "FinishMemoryExtraction"
    assert {call["name"] for call in calls[:-1]} == {"StageMemoryCandidate"}
    assert calls[-1]["arguments"]["staged_count"] == len(calls) - 1


@pytest.mark.parametrize("schema", ["memories", "facts", "entries"])
def test_document_form_of_nothing_is_an_empty_array(cli: Cli, schema: str) -> None:
    found = cli("extract", "-", "--schema", schema, *RULES, "--form", "document", stdin=b"")
    assert (found.code, found.json) == (0, [])


def test_document_form_of_no_candidates_says_why(cli: Cli) -> None:
    calls = cli("extract", "-", "--schema", "candidates", *RULES, "--form", "document", stdin=b"Hello!").json
    assert [call["name"] for call in calls] == ["FinishMemoryExtraction"]
    assert calls[0]["arguments"]["no_candidates_reason"]


def test_standard_input_gives_the_same_as_the_file(cli: Cli, talk: Path) -> None:
    named = cli("extract", talk, *RULES, "--json").json
    piped = cli("extract", "-", *RULES, "--json", stdin=talk.read_bytes()).json
    assert piped["outputs"] == named["outputs"]
    assert piped["turns"] == named["turns"]


def test_table_in_a_pipe_is_tab_separated(cli: Cli, talk: Path) -> None:
    found = cli("extract", talk, *RULES)
    lines = found.out.splitlines()
    assert len(lines) == 4
    assert all(len(line.split("\t")) == 5 for line in lines)


@pytest.mark.parametrize(
    "content",
    [b"", b"   \n\n", b"[]", b"\xef\xbb\xbf", b'[{"role": "assistant", "content": "I can help with that."}]', b"[Vera]:\n"],
    ids=["empty", "blank", "empty list", "byte order mark", "only assistant", "a name alone"],
)
def test_conversation_that_says_nothing_is_no_error(cli: Cli, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "quiet.json"
    path.write_bytes(content)
    found = cli("extract", path, *RULES, "--json")
    assert found.code == 0
    assert found.json["outputs"] == []
    assert len(found.err.splitlines()) == 1
    assert found.err.startswith("nothing extracted")


def test_known_memories_are_not_told_again(cli: Cli, tmp_path: Path) -> None:
    path = decided(tmp_path)
    outputs = cli("extract", path, "--schema", "facts", *RULES, "--json").json["outputs"]
    assert outputs
    existing = tmp_path / "known.jsonl"
    lines = [json.dumps({"id": f"k{i}", "text": o["text"], "category": o["category"]}) for i, o in enumerate(outputs)]
    existing.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    again = cli("extract", path, "--schema", "facts", *RULES, "--existing", existing, "--json")
    assert (again.code, again.json["outputs"]) == (0, [])


def test_lines_of_our_own_export_are_known_memories(cli: Cli, tmp_path: Path) -> None:
    path, db, exported = decided(tmp_path), tmp_path / "a.duckdb", tmp_path / "export.jsonl"
    assert cli("remember", path, "--schema", "facts", *RULES, "--db", db).code == 0
    assert Store(db).list()
    assert cli("memory", "export", exported, "--db", db).code == 0
    again = cli("extract", path, "--schema", "facts", *RULES, "--existing", exported, "--json")
    assert (again.code, again.json["outputs"] if again.out else again.err) == (0, [])


def test_memories_of_a_database_are_known(cli: Cli, tmp_path: Path) -> None:
    path, db = decided(tmp_path), tmp_path / "a.duckdb"
    assert cli("remember", path, "--schema", "facts", *RULES, "--db", db).code == 0
    again = cli("extract", path, "--schema", "facts", *RULES, "--db", db, "--json")
    assert (again.code, again.json["outputs"]) == (0, [])


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ('{"id": "k1", "text": "x"}', 2, "category"),
        ('{"id": "k1", ', 5, "column"),
        ("[1]", 2, "line 2"),
    ],
)
def test_known_memories_that_are_none_are_named_by_line(cli: Cli, tmp_path: Path, line: str, code: int, says: str) -> None:
    existing = tmp_path / "known.jsonl"
    existing.write_text('{"id": "k0", "text": "User likes tea.", "category": "preference"}\n' + line, encoding="utf-8")
    found = cli("extract", decided(tmp_path), "--schema", "facts", *RULES, "--existing", existing, "--json")
    assert found.code == code
    assert says in found.error["message"]


def test_a_missing_list_of_known_memories_is_an_input_error(cli: Cli, talk: Path) -> None:
    found = cli("extract", talk, *RULES, "--existing", "nowhere.jsonl", "--json")
    assert found.code == 5
    assert found.error["type"] == "InputError"


def test_language_without_rules_is_said_and_gives_nothing(cli: Cli) -> None:
    said = "[Vera]: Ich bin letzten Monat nach Tartu gezogen und arbeite dort als Tischlerin in einer Werkstatt.\n"
    found = cli("extract", "-", *RULES, "--json", stdin=said.encode())
    assert found.code == 0
    assert found.json["language"] == "de"
    assert found.json["outputs"] == []
    assert any("de" in note for note in found.json["notes"])


def test_language_that_is_named_is_taken(cli: Cli) -> None:
    assert cli("extract", "-", *RULES, "--language", "en", "--json", stdin=b"I love kayaking.").json["language"] == "en"


def test_alias_names_the_user_too(cli: Cli, talk: Path) -> None:
    found = cli("extract", talk, "--user", "Veronika", "--alias", "Vera", *RULES, "--json").json
    assert {o["category"] for o in found["outputs"] if o["attributed_speaker"] == "Vera"} == {"profile", "preference"}
