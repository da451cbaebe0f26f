"""JSON Lines: one message a line."""

from __future__ import annotations

import pytest

from hybrid.errors import FormatError
from hybrid.readers import read_text

ONE = '{"role": "user", "name": "Mira", "content": "hi"}'
TWO = '{"role": "assistant", "content": "yo", "timestamp": "2024-05-03T10:00"}'


@pytest.mark.parametrize("text", [f"{ONE}\n{TWO}\n", f"\n{ONE}\r\n\r\n{TWO}", f"{ONE}\n\n{TWO}"])
def test_each_line_is_a_message_and_blank_lines_are_none(text: str) -> None:
    found = read_text(text)
    assert found.format == "jsonl"
    assert [(m.role, m.speaker, m.text) for m in found.turns] == [("user", "Mira", "hi"), ("assistant", None, "yo")]


def test_a_single_line_is_enough() -> None:
    assert read_text(ONE).format == "jsonl"


def test_a_malformed_line_is_named_with_its_place_in_the_file() -> None:
    with pytest.raises(FormatError, match="line 3, column 31"):
        read_text(f'{ONE}\n\n{{"role":"assistant","content":}}\n')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{ONE}\n[1]\n", "line 2 is a list"),
        (f'{ONE}\n{{"role": "wizard", "content": "x"}}', "message 2 has the unknown role"),
        ('{"a": 1}\n{"a": 2}', "message 1 has no content"),
    ],
)
def test_a_line_that_is_no_message_is_named(text: str, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text)
    assert said in caught.value.message
