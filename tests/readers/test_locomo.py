"""Numbered sessions in JSON."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from hybrid.errors import FormatError, UsageError
from hybrid.readers import read_text


def _sample(name: str, **more: Any) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Mira",
            "speaker_b": "Tom",
            "session_10_date_time": "12:05 am on 1 July, 2024",
            "session_10": [{"speaker": "Tom", "dia_id": "D10:1", "text": "Ten."}],
            "session_2_date_time": "9:30 pm on 12 June, 2024",
            "session_2": [
                {"speaker": "Mira", "dia_id": "D2:1", "text": f"Two, {name}.", "blip_caption": "a photo of a boat"},
                {"speaker": "Tom", "dia_id": "D2:2", "text": "Nice: a boat"},
            ],
            "session_11_date_time": "1:00 pm on 2 July, 2024",
            **more,
        },
    }


@pytest.mark.parametrize("value", [_sample("one"), [_sample("one"), _sample("two")], _sample("one")["conversation"]])
def test_sessions_are_read_in_the_order_of_their_numbers(value: Any) -> None:
    found = read_text(json.dumps(value))
    assert found.format == "locomo"
    assert [(m.session, m.speaker, m.role, m.time) for m in found.turns] == [
        ("session_2", "Mira", "user", datetime(2024, 6, 12, 21, 30)),
        ("session_2", "Tom", "user", datetime(2024, 6, 12, 21, 30)),
        ("session_10", "Tom", "user", datetime(2024, 7, 1, 0, 5)),
    ]
    assert found.session_time == datetime(2024, 6, 12, 21, 30)
    assert found.participants == ("Mira", "Tom")


def test_the_text_is_as_it_was_said_without_the_caption_of_a_picture() -> None:
    assert read_text(json.dumps(_sample("one"))).turns[0].text == "Two, one."


@pytest.mark.parametrize("sample", ["two", 1])
def test_one_sample_of_several_is_chosen_by_id_or_place(sample: str | int) -> None:
    found = read_text(json.dumps([_sample("one"), _sample("two")]), sample=sample)
    assert found.turns[0].text == "Two, two."


def test_an_unknown_sample_is_refused_with_those_allowed() -> None:
    with pytest.raises(UsageError) as caught:
        read_text(json.dumps([_sample("one"), _sample("two")]), sample="three")
    assert caught.value.hint == "allowed: one, two"


def test_other_formats_have_no_samples() -> None:
    with pytest.raises(UsageError):
        read_text("Mira: hi", sample="one")


def test_a_caller_gives_the_session_time_and_the_messages_keep_theirs() -> None:
    found = read_text(json.dumps(_sample("one")), session_time="2020-01-02")
    assert found.session_time == datetime(2020, 1, 2)
    assert found.turns[0].time == datetime(2024, 6, 12, 21, 30)


def test_a_session_time_that_is_none_is_noted() -> None:
    found = read_text(json.dumps(_sample("one", session_2_date_time="in spring")))
    assert found.turns[0].time is None
    assert found.notes == ("1 session times could not be read",)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"session_2": ["hi"]}, "session_2, message 1 is a text"),
        ({"session_2": [{"speaker": "Mira", "text": 5}]}, "session_2, message 1 is an object"),
        ({"session_2": [{"speaker": 5, "text": "hi"}]}, "the speaker of session_2, message 1 is a number"),
    ],
)
def test_a_session_that_holds_no_messages_says_where(more: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(json.dumps(_sample("one", **more)))
    assert said in caught.value.message


@pytest.mark.parametrize("value", [[], [1], {"conversation": 5}, {"conversation": {"a": 1}}])
def test_json_without_sessions_is_refused_when_the_format_is_named(value: Any) -> None:
    with pytest.raises(FormatError):
        read_text(json.dumps(value), format="locomo")
