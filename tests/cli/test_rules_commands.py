"""`hybrid rules`: what is declared, and whether it does what its examples say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

BROKEN = """
version: 1
rules:
  - id: secrets.own
    description: An invented badge number.
    languages: [en]
    kind: badge
    pattern: '(?P<secret>BADGE-[0-9]{4})'
    examples: ["my badge is BADGE-12"]
    negative_examples: ["my badge is blue"]
"""


def test_list_names_every_rule(cli: Cli) -> None:
    found = cli("rules", "list", "--json").json
    assert all(set(rule) == {"id", "file", "languages", "description"} for rule in found)
    ids = [rule["id"] for rule in found]
    assert len(ids) == len(set(ids)) > 100
    assert len(cli("rules", "list").out.splitlines()) == len(ids)


def test_list_of_one_stage(cli: Cli) -> None:
    assert {rule["file"] for rule in cli("rules", "list", "--stage", "secrets", "--json").json} == {"secrets.yaml"}


def test_check_of_one_stage_passes(cli: Cli) -> None:
    found = cli("rules", "check", "--stage", "speakers", "--json")
    assert found.code == 0
    assert found.json["proofs"] > 0
    assert found.json["failed"] == []


def test_rule_that_fails_its_example_is_named(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "rules").mkdir(parents=True)
    (tmp_path / "own" / "rules" / "secrets.yaml").write_text(BROKEN, encoding="utf-8")
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path / "own"))
    found = cli("rules", "check", "--stage", "secrets", "--json")
    assert found.code == 1
    assert found.error["type"] == "RuleError"
    assert "secrets.own" in found.error["message"]


@pytest.mark.parametrize("command", ["list", "check"])
def test_unknown_stage_is_a_usage_error(cli: Cli, command: str) -> None:
    found = cli("rules", command, "--stage", "dreams", "--json")
    assert found.code == 2
    assert "secrets" in found.error["hint"]
