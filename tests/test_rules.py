"""Rule files: what is refused with which words, what vocabulary does, and what a proof says."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex

from hybrid import rules
from hybrid.errors import ContentError, RuleError

GOOD = """
version: 1
note: kept for the stage
vocabulary:
  boat: [punt, dinghy, "row boat"]
rules:
  - id: boats.any
    description: A boat.
    languages: [en]
    pattern: '\\b {boat} s? \\b'
    weight: 0.5
    examples: ["two Row   boats", {text: "a punt", first: 2}]
    negative_examples: ["a punter"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    (tmp_path / "rules").mkdir()
    return tmp_path / "rules"


def write(folder: Path, text: str, name: str = "boats.yaml") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def test_rule_file_is_read_whole(folder: Path) -> None:
    write(folder, GOOD)
    file = rules.load("boats")
    assert file.name == "boats.yaml"
    assert file.vocabulary == {"boat": ("punt", "dinghy", "row boat")}
    assert file.values == {"version": 1, "note": "kept for the stage"}
    (rule,) = file.rules
    assert (rule.id, rule.languages, rule.values) == ("boats.any", ("en",), {"weight": 0.5})
    assert rule.matches("Three DINGHIES and one dinghy")
    assert not rule.matches("a dinghyman")


def test_proofs_say_what_each_example_did(folder: Path) -> None:
    write(folder, GOOD.replace('["a punter"]', '["a punter", "the punt again"]'))
    proofs = rules.prove(rules.load("boats"))
    assert [(p.example, p.expected, p.found) for p in proofs] == [
        ("two Row   boats", True, True),
        ("a punt", True, True),
        ("a punter", False, False),
        ("the punt again", False, True),
    ]
    assert [p.passed for p in proofs] == [True, True, True, False]
    assert {(p.rule, p.file) for p in proofs} == {("boats.any", "boats.yaml")}


def test_proof_may_use_the_stage_s_own_matching(folder: Path) -> None:
    write(folder, GOOD)
    assert [p.passed for p in rules.prove(rules.load("boats"), lambda rule, text: False)] == [False, False, True]


def test_a_changed_file_is_read_anew(folder: Path) -> None:
    write(folder, GOOD)
    assert rules.load("boats").rules[0].description == "A boat."
    write(folder, GOOD.replace("A boat.", "Something that floats."))
    assert rules.load("boats").rules[0].description == "Something that floats."


def test_files_are_the_general_one_and_those_of_the_languages(folder: Path) -> None:
    write(folder, GOOD)
    write(folder, GOOD.replace("boats.any", "boats.de.any"), "boats.de.yaml")
    assert [file.name for file in rules.files("boats")] == ["boats.yaml", "boats.de.yaml"]
    assert rules.languages("boats") == ("de",)
    assert rules.load("boats", "de").rules[0].id == "boats.de.any"


def test_case_counts_only_where_it_is_asked_for(folder: Path) -> None:
    write(folder, GOOD.replace("    weight: 0.5", "    case: sensitive"))
    assert not rules.load("boats").rules[0].matches("A PUNT")
    write(folder, GOOD)
    assert rules.load("boats").rules[0].matches("A PUNT")


def test_blanks_count_where_patterns_are_not_verbose(folder: Path) -> None:
    write(folder, "verbose: false\n" + GOOD.replace(r"\\b {boat} s? \\b", "x").replace("'\\b {boat} s? \\b'", "'a {boat}'"))
    assert rules.load("boats").rules[0].matches("a punt")
    assert not rules.load("boats").rules[0].matches("apunt")


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "true", "2024-01-01", "[punt]"])
def test_word_that_yaml_takes_for_something_else_is_refused(folder: Path, word: str) -> None:
    write(folder, GOOD.replace("[punt,", f"[{word}, punt,"))
    with pytest.raises(RuleError, match="word list boat") as caught:
        rules.load("boats")
    assert "quotes" in caught.value.hint


def test_quoted_truth_words_and_numbers_are_words(folder: Path) -> None:
    write(folder, GOOD.replace("[punt,", '["no", "on", 7, punt,'))
    assert rules.load("boats").vocabulary["boat"][:3] == ("no", "on", "7")


@pytest.mark.parametrize("key", ["id", "description", "languages", "pattern", "examples", "negative_examples"])
def test_rule_without_a_required_key_is_refused(folder: Path, key: str) -> None:
    lines = [line for line in GOOD.splitlines() if not line.strip(" -").startswith(f"{key}:")]
    text = "\n".join(lines) if key != "id" else GOOD.replace("id: boats.any", "name: boats.any")
    write(folder, text)
    with pytest.raises(RuleError, match=f"lacks {key}"):
        rules.load("boats")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rules: [unclosed", "not YAML"),
        ("- a list", "no list of rules"),
        ("just words", "no list of rules"),
        ("rules: {boats: any}", "no list of rules"),
        ("rules: [words]", "not a mapping"),
        (GOOD.replace("{boat}", "{ship}"), "broken pattern"),
        (GOOD.replace("{boat}", "(punt"), "broken pattern"),
        (GOOD + GOOD.partition("rules:\n")[2], "twice"),
    ],
    ids=["broken YAML", "list", "text", "rules is no list", "rule is no mapping", "unknown list", "open group", "id twice"],
)
def test_broken_file_is_refused_by_name(folder: Path, text: str, says: str) -> None:
    write(folder, text)
    with pytest.raises(RuleError, match=says) as caught:
        rules.load("boats")
    assert "boats.yaml" in caught.value.message
    assert caught.value.hint


def test_file_in_another_encoding_is_refused(folder: Path) -> None:
    (folder / "boats.yaml").write_bytes("description: Fähre".encode("latin-1"))
    with pytest.raises(RuleError, match="not YAML"):
        rules.load("boats")


def test_missing_file_names_the_folders(folder: Path) -> None:
    with pytest.raises(ContentError, match=r"boats\.yaml does not exist") as caught:
        rules.load("boats")
    assert str(folder) in caught.value.hint


def test_longest_word_comes_first() -> None:

    found = regex.search(rules.expand("{boat}", {"boat": ("row", "row boat", "a.b")}), "my row  boat")
    assert found is not None
    assert found.group() == "row  boat"
    assert regex.search(rules.expand("{boat}", {"boat": ("a.b",)}), "axb") is None
