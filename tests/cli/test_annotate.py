"""`hybrid annotate`: the stages alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]
# Put together here, so that no scanner takes this file for a leak.
CREDENTIAL = "ghp_" + "Z7kQ2mVx" * 4 + "b3Ye"


def test_json_is_the_document(cli: Cli, talk: Path) -> None:
    found = cli("annotate", talk, "--session-time", "2024-05-14T09:30", "--json")
    assert (found.code, found.err) == (0, "")
    document = found.json
    assert {"turns", "dates", "secrets", "cues", "statements", "skipped", "language", "participants"} <= set(document)
    assert document["session_time"] == "2024-05-14T09:30:00"
    assert document["participants"] == ["Vera", "Otto"]
    assert {d["text"] for d in document["dates"]} == {"last month", "yesterday"}
    assert {(d["first"], d["last"]) for d in document["dates"]} == {("2024-04-01", "2024-04-30"), ("2024-05-13", "2024-05-13")}
    assert document["statements"]


def test_credential_is_masked_and_its_kind_named(cli: Cli) -> None:
    said = f"[Vera]: My GitHub token is {CREDENTIAL}."
    found = cli("annotate", "-", "--json", stdin=said.encode())
    assert CREDENTIAL not in found.out + found.err
    assert "█" * len(CREDENTIAL) in found.json["turns"][0]["text"]
    assert len(found.json["secrets"]) == 1
    assert set(found.json["secrets"][0]) == {"start", "end", "kind", "message"}


def test_table_has_a_line_for_each_turn(cli: Cli, talk: Path) -> None:
    found = cli("annotate", talk)
    assert [line.split("\t")[0] for line in found.out.splitlines()] == [f"E0000000{i}" for i in range(1, 5)]


def test_empty_conversation_is_no_error(cli: Cli) -> None:
    found = cli("annotate", "-", stdin=b"")
    assert (found.code, found.out) == (0, "")
    assert len(found.err.splitlines()) == 1
