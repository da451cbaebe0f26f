"""Plain text: which lines begin a message, and whose."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hybrid.readers import read_text

TRANSCRIPTS = [
    ("Mira: I sold the boat.", [("Mira", "I sold the boat.")]),
    ("[Mira]: I sold the boat.\n[Tom]: No!", [("Mira", "I sold the boat."), ("Tom", "No!")]),
    ("**Mira:** I sold it.\n\n**Tom**: No!", [("Mira", "I sold it."), ("Tom", "No!")]),
    (
        "Mira: two things\n- rope\n- the mast: broken\nTom: ok",
        [("Mira", "two things\n- rope\n- the mast: broken"), ("Tom", "ok")],
    ),
    ("Mira:\nI sold it.\nTom:\nNo!", [("Mira", "I sold it."), ("Tom", "No!")]),
    ("Dr. Lena Ortiz: hi\nLudwig van der Berg: hello", [("Dr. Lena Ortiz", "hi"), ("Ludwig van der Berg", "hello")]),
    ("Lea: hi\nLeander: hello\nLea: bye", [("Lea", "hi"), ("Leander", "hello"), ("Lea", "bye")]),
    ("🐙 Otto: hi\n+44 20 7946 0000: new number", [("🐙 Otto", "hi"), ("+44 20 7946 0000", "new number")]),
    ("王芳：你好\n山田太郎：はい", [("王芳", "你好"), ("山田太郎", "はい")]),
    (
        "Kim (work): Note: I moved.\nTom: see https://a.example/x:y",
        [("Kim (work)", "Note: I moved."), ("Tom", "see https://a.example/x:y")],
    ),
    ("mira: hi there\ntom: hello\nmira: bye", [("mira", "hi there"), ("tom", "hello"), ("mira", "bye")]),
    ("Mira: hi\r\nTom: yo\rMira: bye", [("Mira", "hi"), ("Tom", "yo"), ("Mira", "bye")]),
    (
        "Friday on the pier\nMira: hi\nTom: yo\nMira: bye",
        [(None, "Friday on the pier"), ("Mira", "hi"), ("Tom", "yo"), ("Mira", "bye")],
    ),
    (
        "Mira: she said\n> Tom: never\n  Tom: never ever\nTom: well",
        [("Mira", "she said\n> Tom: never\n  Tom: never ever"), ("Tom", "well")],
    ),
    (
        'Mira: he wrote\nTom: "we are moving"\nreally\nTom: so?',
        [("Mira", 'he wrote\nTom: "we are moving"\nreally'), ("Tom", "so?")],
    ),
    (
        "Mira: one\n\nTom: he said\nMira: three\n\nMira: four\n\nTom: five",
        [("Mira", "one"), ("Tom", "he said\nMira: three"), ("Mira", "four"), ("Tom", "five")],
    ),
    ("[Mira]: he said\nTom: three\n[Tom]: five", [("Mira", "he said\nTom: three"), ("Tom", "five")]),
    (
        "Mira: what?\nTom: this.\nRigging:\n- rope\nMira: ok",
        [("Mira", "what?"), ("Tom", "this.\nRigging:\n- rope"), ("Mira", "ok")],
    ),
    (
        "Mira: what?\n**Hull:** oak\n**Mast:** pine\nMira: ok",
        [("Mira", "what?\n**Hull:** oak\n**Mast:** pine"), ("Mira", "ok")],
    ),
    ("Speaker 1: hi\nSpeaker 2: yo", [("Speaker 1", "hi"), ("Speaker 2", "yo")]),
]

PROSE = [
    "I sold the boat in spring.",
    "I sold it.\nNote: it rained.\nStep 1: pack\nStep 2: leave",
    "Agenda: boats\nTODO: rope\nPS: bring cake",
    "Subject: boats\nFrom: Mira\nTo: Tom",
    "Pros: cheap\nCons: slow",
    "Groceries:\n- rope",
    "https://a.example is down\n10:30: nothing yet",
    "I asked him. He said this: never.\nBest: Mira",
    "AI is everywhere.\nAI: the future",
    "  Mira: indented",
    "> Mira: quoted",
    "[ ] buy rope\n[x] sell boat",
    "{smiles} hi",
    "Q: when?\nA: then",
    "M\u202eira: hi",
    "[M\u202eira]: hi",
    "M" * 10_000 + ": hi",
    "[" + "M" * 10_000 + "]: hi",
]

ROLES = [
    ("User: I like tea\nAssistant: Nice!", [("user", None, "I like tea"), ("assistant", None, "Nice!")]),
    (
        "Human: hi\n\nAI: hello\n\nSystem: be kind\n\nTool: 42",
        [("user", None, "hi"), ("assistant", None, "hello"), ("system", None, "be kind"), ("tool", None, "42")],
    ),
    (
        "User: a plan?\nAssistant: Sure.\nAdditional Tips:\nANDY: walk in\n**Hull:** oak\nUser: ok",
        [
            ("user", None, "a plan?"),
            ("assistant", None, "Sure.\nAdditional Tips:\nANDY: walk in\n**Hull:** oak"),
            ("user", None, "ok"),
        ],
    ),
    ("Me: hi\nTom: yo", [("user", None, "hi"), ("user", "Tom", "yo")]),
    ("User: [Mira]: I sail. [Tom]: I row.", [("user", None, "[Mira]: I sail. [Tom]: I row.")]),
    ("[Mira]: hi\nAssistant: hello", [("user", "Mira", "hi"), ("assistant", None, "hello")]),
]

STAMPED = [
    ("2024-03-08T09:41:07Z Mira: hi\n2024-03-08T09:42:00Z Tom: yo", datetime(2024, 3, 8, 9, 41, 7, tzinfo=UTC)),
    ("[2024-03-08, 09:41] Mira: hi\n[2024-03-08, 09:42] Tom: yo", datetime(2024, 3, 8, 9, 41)),
    ("09:41 Mira: hi\n09:42 Tom: yo", None),
    ("08.03.24, 09:41 - Mira: hi\n08.03.24, 09:42 - Tom: yo", None),
]


@pytest.mark.parametrize(("text", "expected"), TRANSCRIPTS)
def test_each_header_line_begins_a_message_of_its_speaker(text: str, expected: list[tuple[str | None, str]]) -> None:
    found = read_text(text)
    assert [(message.speaker, message.text) for message in found.turns] == expected
    assert {message.role for message in found.turns} == {"user"}
    assert found.format == "plain"


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_one_message_of_a_user_without_name(text: str) -> None:
    found = read_text(text)
    assert [(message.role, message.speaker, message.text) for message in found.turns] == [("user", None, text.strip())]
    assert found.participants == ()


@pytest.mark.parametrize(("text", "expected"), ROLES)
def test_role_words_set_the_role_and_no_name(text: str, expected: list[tuple[str, str | None, str]]) -> None:
    assert [(message.role, message.speaker, message.text) for message in read_text(text).turns] == expected


@pytest.mark.parametrize(("text", "first"), STAMPED)
def test_a_time_before_the_name_is_read_only_where_its_date_is_certain(text: str, first: datetime | None) -> None:
    found = read_text(text)
    assert [(message.speaker, message.text) for message in found.turns] == [("Mira", "hi"), ("Tom", "yo")]
    assert found.turns[0].time == first
    assert bool(found.notes) == (first is None)


def test_lines_with_times_and_no_known_speaker_are_noted() -> None:
    found = read_text("[09:41] <mira> hi\n[09:42] <tom> yo\n[09:43] <mira> bye")
    assert len(found.turns) == 1
    assert found.notes == ("3 lines begin with a time, but no speaker was recognised",)


def test_participants_are_the_people_in_order_of_appearance() -> None:
    assert read_text("Tom: hi\nMira: yo\nTom: ok\nAssistant: hello").participants == ("Tom", "Mira")


def test_a_named_format_wins_over_what_the_text_looks_like() -> None:
    found = read_text('[{"role": "user", "content": "hi"}]', format="plain")
    assert [message.text for message in found.turns] == ['[{"role": "user", "content": "hi"}]']
