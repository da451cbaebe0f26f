from __future__ import annotations

from pathlib import Path

import pytest

from hybrid import content
from hybrid.errors import PromptError
from hybrid.prompts import Prompt, checked_examples, render, sections

NAMES = [path.name.removesuffix(".jinja") for path in content.listing("prompts", "*.v*.jinja")]


@pytest.fixture
def prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    (folder / "copy.v1.jinja").write_text("Copy it.\n---\n{% if who %}{{ who }}: {% endif %}{{ text }}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_example_is_proved_by_its_values(name: str) -> None:
    assert checked_examples(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_prompt_is_the_same_but_for_the_question(name: str) -> None:
    first, *rest = checked_examples(name)
    one, other = render(name, **first.values), render(name, **{**first.values, "text": "Egon sings."})
    assert (one.system, one.examples) == (other.system, other.examples)
    assert one.examples[0][0] == one.user
    assert len(one.examples) == 1 + len(rest)
    assert "{{" not in one.system + one.user


def test_a_prompt_is_rendered_in_three_parts(prompts: Path) -> None:
    (prompts / "copy.v1.examples.yaml").write_text(
        '- values: {who: Egon, text: "Tea é <b>."}\n  answer: {text: "Tea é <b>.", sure: true}\n', encoding="utf-8"
    )
    expected = Prompt("Copy it.", (("Egon: Tea é <b>.", '{"text":"Tea é <b>.","sure":true}'),), "Rye & malt {{ x }}")
    assert render("copy.v1", who="", text="Rye & malt {{ x }}") == expected
    assert sections("copy.v1") == ("Copy it.", "{% if who %}{{ who }}: {% endif %}{{ text }}")


def test_a_changed_file_is_read_again(prompts: Path) -> None:
    assert render("copy.v1", who="", text="a").system == "Copy it."
    (prompts / "copy.v1.jinja").write_text("Copy all of it.\n---\n{{ text }}", encoding="utf-8")
    assert render("copy.v1", text="a").system == "Copy all of it."


def test_a_prompt_may_include_a_file_of_the_folder(prompts: Path) -> None:
    (prompts / "rule.jinja").write_text("Add nothing.", encoding="utf-8")
    (prompts / "long.v1.jinja").write_text("Copy it. {% include 'rule.jinja' %}\n---\n{{ text }}", encoding="utf-8")
    assert render("long.v1", text="a").system == "Copy it. Add nothing."


@pytest.mark.parametrize(
    "source",
    [
        "Only one part",
        "---\n{{ text }}",
        "Fixed\n---\n",
        "Fixed {{ text }}\n---\n{{ text }}",
        "Fixed\n---\n{{ text",
        "Fixed\n---\n{{ missing }}",
        "Fixed\n---\n{% include 'absent.jinja' %}",
        "Fixed\n---\n{{ text.__class__.__mro__ }}",
        "Fixed\n---\n{{ text + 1 }}",
    ],
)
def test_a_broken_prompt_is_an_error_that_quotes_no_value(prompts: Path, source: str) -> None:
    (prompts / "broken.v1.jinja").write_text(source, encoding="utf-8")
    with pytest.raises(PromptError) as caught:
        render("broken.v1", text="the spare key is under the pot")
    assert "pot" not in caught.value.message + caught.value.hint


def test_a_missing_value_or_file_is_an_error(prompts: Path) -> None:
    with pytest.raises(PromptError):
        render("copy.v1", text="a")
    with pytest.raises(PromptError):
        render("absent.v1", text="a")


@pytest.mark.parametrize(
    ("values", "answer", "says"),
    [
        ("{who: '', text: 'Egon grows rye.'}", "{text: 'It is what Hilda grows.'}", "Hilda"),
        ("{who: '', text: 'Egon grows rye.'}", "{text: 'Egon grows 3 fields.'}", "3"),
        ("{who: '', text: 'Egon grows rye.'}", "{text: 'Egon whistles loudly while swimming.'}", "too few"),
        ("{who: '', text: 'Egon grows rye.'}", "{quote: 'Egon grew rye.'}", "quote"),
        ("{text: 'Egon grows rye.'}", "{text: 'Egon grows rye.'}", "does not render"),
    ],
)
def test_an_example_that_says_more_than_its_values_is_refused(prompts: Path, values: str, answer: str, says: str) -> None:
    (prompts / "copy.v1.examples.yaml").write_text(f"- values: {values}\n  answer: {answer}\n", encoding="utf-8")
    with pytest.raises(PromptError, match=says):
        checked_examples("copy.v1")


@pytest.mark.parametrize("answer", ["{text: 'Egon is growing rye.'}", "{quote: 'grows rye', text: 'Rye grows at Egon''s.'}"])
def test_an_example_that_keeps_to_its_values_passes(prompts: Path, answer: str) -> None:
    source = f"- values: {{who: '', text: 'Egon grows rye.'}}\n  answer: {answer}\n"
    (prompts / "copy.v1.examples.yaml").write_text(source, encoding="utf-8")
    assert len(checked_examples("copy.v1")) == 1


@pytest.mark.parametrize("raw", ["values: 1", "- 3", "- {values: {}}", "- {values: [], answer: {}}", "[", "\x00"])
def test_a_malformed_file_of_examples_is_an_error(prompts: Path, raw: str) -> None:
    (prompts / "copy.v1.examples.yaml").write_text(raw, encoding="utf-8")
    with pytest.raises(PromptError):
        render("copy.v1", who="", text="a")
