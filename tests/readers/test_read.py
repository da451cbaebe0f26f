"""Files: bytes, encodings, limits, session times."""

from __future__ import annotations

import os
import sys
import time
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from hybrid.errors import FormatError, InputError, UsageError
from hybrid.readers import FORMATS, read, read_text

TEXT = "Mira: ich hätte gern Tee\n王芳：你好\n"


def _file(folder: Path, raw: bytes) -> Path:
    path = folder / "conversation"
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.replace("\n", "\r\n").encode(),
    ],
)
def test_utf8_and_marked_utf16_are_read(tmp_path: Path, raw: bytes) -> None:
    found = read(_file(tmp_path, raw))
    assert [(m.speaker, m.text) for m in found.turns] == [("Mira", "ich hätte gern Tee"), ("王芳", "你好")]
    assert found.source == str(tmp_path / "conversation")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"Mira: ich h\xe4tte", "not UTF-8: byte at offset 11"),
        (b"\xef\xbb\xbfMira: ich h\xe4tte", "not UTF-8: byte at offset 14"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary: a null byte at offset 8"),
        (b"hi \x00 there", "binary: a null byte at offset 3"),
        (TEXT.encode("utf-16-le"), "binary: a null byte at offset 1"),
        (b"\xff\xfe\x00\x00" + TEXT.encode("utf-32-le"), "UTF-32"),
        (b"\xff\xfeM\x00\x00\xd8", "not UTF-16: byte at offset 4"),
    ],
)
def test_other_bytes_are_refused_with_the_place_of_the_first(tmp_path: Path, raw: bytes, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(_file(tmp_path, raw))
    assert said in caught.value.message
    assert "Mira" not in caught.value.message
    assert "UTF-8" in caught.value.hint


@pytest.mark.parametrize("raw", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"[]", b'{"messages": []}'])
def test_nothing_is_a_conversation_without_turns(tmp_path: Path, raw: bytes) -> None:
    found = read(_file(tmp_path, raw), session_time="2024-05-03")
    assert found.turns == ()
    assert found.session_time == datetime(2024, 5, 3)


@pytest.mark.parametrize("name", ["absent.txt", "absent/absent.txt", ".", "a\0b", "x" * 5_000])
def test_a_path_that_cannot_be_opened_is_an_input_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    assert caught.value.exit_code == 5
    assert caught.value.hint


@pytest.mark.skipif(sys.platform == "win32" or getattr(os, "geteuid", lambda: 1)() == 0, reason="needs file permissions")
def test_a_file_without_permission_is_an_input_error(tmp_path: Path) -> None:
    path = _file(tmp_path, b"hi")
    path.chmod(0)
    with pytest.raises(InputError, match="may not be read"):
        read(path)


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, b"Mira: hi\n" * 10)
    assert len(read(path, limit_bytes=90).turns) == 10
    with pytest.raises(InputError, match="larger than 89 bytes"):
        read(path, limit_bytes=89)


@pytest.mark.parametrize("unit", ["Mira: hello there, I said\nmore and more\n", "a word or two: here [x ", "[M]: ", "\n"])
def test_twice_the_text_takes_about_twice_the_time(unit: str) -> None:
    def seconds(count: int) -> float:
        begin = time.process_time()
        read_text(unit * count)
        return time.process_time() - begin

    seconds(1_000)
    assert seconds(40_000) < 0.2 + 12 * seconds(10_000)


@pytest.mark.parametrize("format", ["", "xml", "PLAIN"])
def test_an_unknown_format_is_refused_with_those_allowed(tmp_path: Path, format: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(_file(tmp_path, b"hi"), format=format)
    assert caught.value.hint == "allowed: auto, plain, messages, jsonl, locomo"


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
def test_every_format_says_how_certain_it_is(one: Any) -> None:
    texts = ["", "hi", "[", "{", "[]", "{}", "null", "[Mira]: hi", '{"role": 1}', "\ud800"]
    assert all(0 <= one.sniff(text) <= 1 for text in texts)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2023-06-09", datetime(2023, 6, 9)),
        ("2023-06-09T10:30", datetime(2023, 6, 9, 10, 30)),
        ("2023-06-09 10:30", datetime(2023, 6, 9, 10, 30)),
        ("2023-06-09T10:30+02:00", datetime(2023, 6, 9, 10, 30, tzinfo=timezone(timedelta(hours=2)))),
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56)),
        (date(2023, 6, 9), datetime(2023, 6, 9)),
        (datetime(2023, 6, 9, 10, 30), datetime(2023, 6, 9, 10, 30)),
        (None, None),
    ],
)
def test_the_session_time_is_what_the_caller_gives(given: Any, expected: datetime | None) -> None:
    assert read_text("Mira: hi", session_time=given).session_time == expected


def test_now_asks_the_clock() -> None:
    found = read_text("Mira: hi", session_time="now").session_time
    assert found is not None
    assert abs(datetime.now() - found) < timedelta(minutes=1)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "yesterday",
        "2023-02-30",
        "2023-13-01",
        "25:00",
        "0001-01-01",
        "9999-12-31",
        "1686300000",
        "13:00 pm on 8 May, 2023",
        "1:56 pm on 31 June, 2023",
    ],
)
def test_an_impossible_session_time_is_a_usage_error(given: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_text("Mira: hi", session_time=given)
    assert caught.value.exit_code == 2
    assert "2023-06-09T10:30" in caught.value.hint
    assert "now" in caught.value.hint


def test_a_null_character_in_text_is_refused() -> None:
    with pytest.raises(FormatError, match="position 2"):
        read_text("hi\0")
