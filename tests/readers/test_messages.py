"""JSON messages: roles, names, times, parts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from hybrid.errors import FormatError
from hybrid.readers import read_text


def _read(value: Any) -> Any:
    return read_text(json.dumps(value))


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("user", "user"),
        ("Human", "user"),
        ("assistant", "assistant"),
        ("ai", "assistant"),
        ("bot", "assistant"),
        ("model", "assistant"),
        ("agent", "assistant"),
        ("system", "system"),
        ("developer", "system"),
        ("tool", "tool"),
        ("function", "tool"),
    ],
)
def test_roles_and_their_synonyms_are_read(word: str, role: str) -> None:
    found = _read([{"role": word, "content": "hi"}])
    assert (found.format, found.turns[0].role) == ("messages", role)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("timestamp", "2024-05-03T10:00:00", datetime(2024, 5, 3, 10)),
        ("time", "2024-05-03", datetime(2024, 5, 3)),
        ("created_at", "2024-05-03T10:00:00Z", datetime(2024, 5, 3, 10, tzinfo=UTC)),
        ("timestamp", 1714730400, datetime(2024, 5, 3, 10, tzinfo=UTC)),
        ("timestamp", 1714730400000, datetime(2024, 5, 3, 10, tzinfo=UTC)),
        ("timestamp", "1714730400", datetime(2024, 5, 3, 10, tzinfo=UTC)),
        ("time", "2024/05/03 (Fri) 10:00", datetime(2024, 5, 3, 10)),
    ],
)
def test_message_times_are_read(key: str, value: Any, expected: datetime) -> None:
    found = _read([{"role": "user", "content": "hi", key: value}])
    assert found.turns[0].time == expected
    assert found.notes == ()


@pytest.mark.parametrize(
    "value", ["soon", "2024-02-30", -5, True, 0, "0001-01-01", 1e30, 10**400, float("inf"), float("nan"), [], {"a": 1}]
)
def test_a_time_that_is_none_is_left_out_and_noted(value: Any) -> None:
    found = _read([{"role": "user", "content": "hi", "timestamp": value}])
    assert found.turns[0].time is None
    assert found.notes == ("1 message times could not be read",)


@pytest.mark.parametrize(
    ("content", "text", "notes"),
    [
        ("as it is ", "as it is ", 0),
        (
            [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "two"}],
            "one\ntwo",
            1,
        ),
        (["one", "two"], "one\ntwo", 0),
        ({"parts": ["one"]}, "one", 0),
        ({"text": "one"}, "one", 0),
        (None, "", 0),
        ("", "", 0),
        ("a\ud800b\0c", "a\ufffdb\ufffdc", 1),
    ],
)
def test_content_may_be_text_parts_or_nothing(content: Any, text: str, notes: int) -> None:
    found = _read([{"role": "user", "content": content}])
    assert found.turns[0].text == text
    assert len(found.notes) == notes


@pytest.mark.parametrize(
    ("item", "speaker"),
    [
        ({"role": "user", "content": "hi", "name": "Mira"}, "Mira"),
        ({"speaker": "Mira", "text": "hi"}, "Mira"),
        ({"role": "user", "content": "hi", "name": "  "}, None),
        ({"role": "user", "content": "hi", "name": 7}, None),
        ({"role": "user", "content": "hi", "name": "Mi\u202era\n\0"}, "Mi ra"),
        ({"role": "user", "content": "hi", "name": "M" * 10_000}, "M" * 80),
        ({"role": "user", "content": "hi", "name": "👩‍🚀 Mira"}, "👩‍🚀 Mira"),
    ],
)
def test_the_name_is_the_speaker(item: dict[str, Any], speaker: str | None) -> None:
    found = _read([item])
    assert found.turns[0].speaker == speaker
    assert found.participants == ((speaker,) if speaker else ())


def test_an_object_may_hold_the_messages_and_their_date() -> None:
    found = _read({"session_time": "2024-05-03T10:00", "messages": [{"role": "user", "content": "hi"}]})
    assert found.session_time == datetime(2024, 5, 3, 10)
    assert found.turns[0].time is None


def test_a_date_of_the_file_that_is_none_is_noted() -> None:
    found = _read({"date": "someday", "messages": [{"role": "user", "content": "hi"}]})
    assert found.session_time is None
    assert found.notes == ("the session time in the file could not be read",)


@pytest.mark.parametrize("value", [[], {"messages": []}])
def test_no_messages_are_a_conversation_without_turns(value: Any) -> None:
    assert _read(value).turns == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": 1, "b": 2}, "an object with 2 keys, not a conversation"),
        ({}, "an object with 0 keys"),
        ([1, 2], "message 1 is a number"),
        (["hi"], "message 1 is a text"),
        ([{"role": "user", "content": "hi"}, {"role": "wizard", "content": "hi"}], "message 2 has the unknown role 'wizard'"),
        ([{"role": "the key is 1234", "content": "hi"}], "message 1 has the unknown role 'the…'"),
        ([{"role": ["user"], "content": "hi"}], "message 1 has the unknown role (a list"),
        ([{"content": "hi"}], "message 1 has no role"),
        ([{"role": "user"}], "message 1 has no content"),
        ([{"role": "user", "content": 5}], "the content of message 1 is a number"),
    ],
)
def test_json_that_is_no_conversation_says_what_was_found(value: Any, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        _read(value)
    assert said in caught.value.message
    assert caught.value.hint.startswith(("accepted", "allowed"))
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[{"role": "user", "content": "hi"},\n {"role": }]', "line 2, column 11"),
        ('[{"role": "user", "content": "hi"}', "line 1, column 35"),
        ('{"messages": [{"role": "user"\n', "line 2, column 1"),
        ('[{"role": "user", "content": "a secret \\x"}]', "line 1, column 40"),
    ],
)
def test_malformed_json_says_line_and_column_and_no_content(text: str, place: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text)
    assert place in caught.value.message
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("text", ["[" * 100_000, '[{"role": "user", "content": ' + "9" * 5_000 + "}]"])
def test_json_made_to_break_a_parser_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_text(text, format="messages")
