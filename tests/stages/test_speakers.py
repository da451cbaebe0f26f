"""Who speaks: parts of messages, the user, and the language of each turn."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import ROLES, Conversation, Document, Message
from hybrid.stages import speakers

AUTO = Settings()


def _run(*messages: Message, using: Settings = AUTO, **more: Any) -> Document:
    return speakers.run(Document(Conversation(messages, **more)), using)


def _said(document: Document) -> list[tuple[str | None, str]]:
    return [(turn.speaker, turn.text) for turn in document.turns]


PARTS = [
    ("[Mira]: I sail. [Tom]: I row.", [("Mira", "I sail."), ("Tom", "I row.")]),
    ("[Mira]: I sail.\n[Tom]: I row.\nOften.", [("Mira", "I sail."), ("Tom", "I row.\nOften.")]),
    ("They met. [Mira]: hi [Tom]: yo", [(None, "They met."), ("Mira", "hi"), ("Tom", "yo")]),
    ("[Mira]: hi [Tom]: [Mira]: bye", [("Mira", "hi"), ("Mira", "bye")]),
    ("[mira]:hi", [("mira", "hi")]),
    ("[王芳]：你好 [小明]：早", [("王芳", "你好"), ("小明", "早")]),
    (
        "[Dr. Lena Ortiz]: hi [🐙]: yo [+44 20 7946 0000]: hm",
        [("Dr. Lena Ortiz", "hi"), ("🐙", "yo"), ("+44 20 7946 0000", "hm")],
    ),
    ("[Lea]: hi [Leander]: yo", [("Lea", "hi"), ("Leander", "yo")]),
    ("[Mira]: a [Note]: b [1]: c [x]: d [link]: e", [("Mira", "a [Note]: b [1]: c [x]: d [link]: e")]),
    ("see a[Mira]: hi", [(None, "see a[Mira]: hi")]),
    ("[Mi\u202era]: hi [Mi\u0000ra]: yo", [(None, "[Mi\u202era]: hi [Mi\u0000ra]: yo")]),
    ("[" + "M" * 10_000 + "]: hi", [(None, "[" + "M" * 10_000 + "]: hi")]),
    ("Mira: I sail.\nTom: I row.", [("Mira", "I sail."), ("Tom", "I row.")]),
    ("Boats\nHulls: two\nSails: one", [(None, "Boats\nHulls: two\nSails: one")]),
    ("[Mira]: hi [Tom]: yo\nMira: bye", [("Mira", "hi"), ("Tom", "yo"), ("Mira", "bye")]),
    ('[Mira]: Tom wrote\n[Tom]: yes\nMira: "I sail"', [("Mira", "Tom wrote"), ("Tom", 'yes\nMira: "I sail"')]),
    ("  hi there \n", [(None, "hi there")]),
    (" \n\t", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), PARTS)
def test_a_message_is_split_at_the_marks_of_its_speakers(text: str, expected: list[tuple[str | None, str]]) -> None:
    document = _run(Message("user", text))
    assert _said(document) == expected
    for number, turn in enumerate(document.turns, 1):
        assert turn.ref == f"E{number:08d}"
        assert text[turn.start : turn.start + len(turn.text)] == turn.text
        assert turn.role == "user"


@settings(deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from(["[Mira]:", "[Tom]: ", "Mira: ", "\n", " ", "hi", "[x]: ", "：", "🐙", "[", "]:", "\u202e", "\0"])
    ).map("".join)
)
def test_parts_lie_in_their_order_and_nothing_but_marks_and_blanks_lies_between(text: str) -> None:
    document = _run(Message("user", text), using=Settings(language="en"))
    end = 0
    for turn in document.turns:
        assert turn.start >= end
        assert text[turn.start : turn.start + len(turn.text)] == turn.text != ""
        assert re.fullmatch(r"(?:\s|\[?(?:Mira|Tom)\]?[:：])*", text[end : turn.start])
        end = turn.start + len(turn.text)
    assert re.fullmatch(r"(?:\s|\[?(?:Mira|Tom)\]?[:：])*", text[end:])


def test_words_without_a_mark_are_those_of_the_message_s_own_speaker() -> None:
    document = _run(Message("user", "I asked. [Tom]: I row.", speaker="Mira"))
    assert _said(document) == [("Mira", "I asked."), ("Tom", "I row.")]


@pytest.mark.parametrize("role", [role for role in ROLES if role != "user"])
def test_only_messages_of_users_are_split(role: Any) -> None:
    document = _run(Message(role, "[Mira]: I sail. [Tom]: I row."))
    assert [(turn.role, turn.speaker) for turn in document.turns] == [(role, None)]
    assert document.participants == ()


def test_role_words_in_brackets_are_no_names() -> None:
    document = _run(Message("user", "[User]: I sail. [Assistant]: Nice!"))
    assert [(turn.role, turn.speaker, turn.text) for turn in document.turns] == [
        ("user", None, "I sail."),
        ("assistant", None, "Nice!"),
    ]


def test_lines_of_known_people_are_split_where_nobody_has_spoken_yet() -> None:
    document = _run(Message("user", "I asked.\nTom: I row.\nSails: two"), Message("user", "hi", speaker="Tom"))
    assert _said(document) == [(None, "I asked."), ("Tom", "I row.\nSails: two"), ("Tom", "hi")]


def test_lines_of_a_message_with_a_speaker_are_what_it_quotes() -> None:
    document = _run(Message("user", "He wrote\nTom: I row.", speaker="Mira"), Message("user", "hi", speaker="Tom"))
    assert _said(document) == [("Mira", "He wrote\nTom: I row."), ("Tom", "hi")]


def test_lines_of_plain_text_were_judged_by_its_reader() -> None:
    document = _run(Message("user", "Tom: I row.\nMira: I sail."), format="plain", participants=("Tom", "Mira"))
    assert _said(document) == [(None, "Tom: I row.\nMira: I sail.")]


def test_a_turn_has_the_time_of_its_message_else_of_the_conversation() -> None:
    session, own = datetime(2024, 5, 3), datetime(2024, 5, 4)
    document = _run(
        Message("user", "[Mira]: hi [Tom]: yo", time=own, session="s1"), Message("user", "bye"), session_time=session
    )
    assert [turn.time for turn in document.turns] == [own, own, session]
    assert [turn.session for turn in document.turns] == ["s1", "s1", None]
    assert [turn.message for turn in document.turns] == [0, 0, 1]


USERS = [
    (["Mira"], None, (), "Mira"),
    (["Mira", "Tom"], None, (), None),
    ([None], None, (), None),
    (["Mira", None], None, (), None),
    (["Mira", "mira 🌊"], None, (), "Mira"),
    (["Mira", "Tom"], "tom", (), "Tom"),
    (["🐙 Tom", "Mira"], "TOM", (), "🐙 Tom"),
    (["Ｔｏｍ", "Mira"], "Tom", (), "Ｔｏｍ"),
    (["Leander", "Tom"], "Lea", (), "Lea"),
    (["Lea", "Leander"], "Leander", (), "Leander"),
    (["Lea Ortiz", "Tom"], "Lea", ("lea ortiz",), "Lea Ortiz"),
    (["Lea Ortiz", "Tom"], None, ("Lea Ortiz",), "Lea Ortiz"),
    (["🐙", "🦊"], "🦊", (), "🦊"),
    (["🐙", "🦊"], "🐳", (), "🐳"),
    ([None, "Tom"], "Mira", (), "Mira"),
    (["Mira"], "Tom", (), "Tom"),
    (["Mira", "Tom"], "  ", (), None),
]


@pytest.mark.parametrize(("names", "user", "aliases", "expected"), USERS)
def test_the_user_is_the_whole_name_that_was_given_or_the_only_speaker(
    names: list[str | None], user: str | None, aliases: tuple[str, ...], expected: str | None
) -> None:
    document = _run(*(Message("user", "hi", speaker=name) for name in names), using=Settings(user=user, aliases=aliases))
    assert document.user == expected
    assert document.aliases == aliases


def test_participants_are_people_in_order_of_appearance_as_written() -> None:
    document = _run(
        Message("user", "[Tom]: hi [Mira]: yo"),
        Message("assistant", "hello", speaker="Claude"),
        Message("user", "so", speaker="TOM"),
    )
    assert document.participants == ("Tom", "Mira")


LANGUAGES = [
    ("I moved to a houseboat in the harbour last spring.", "en"),
    ("Ich bin im Frühling auf ein Hausboot gezogen.", "de"),
    ("En primavera me mudé a una casa flotante.", "es"),
    ("Au printemps, j'ai emménagé sur une péniche.", "fr"),
    ("Ik woon sinds het voorjaar op een woonboot.", "nl"),
    ("我去年春天搬到了船上。", "zh"),
    ("去年の春、船に引っ越しました。", "ja"),
    ("작년 봄에 배로 이사했어요.", "ko"),
    ("Весной я переехал жить на лодку.", "ru"),
    ("انتقلت إلى قارب في الربيع الماضي", "ar"),
    ("पिछले वसंत में मैं नाव पर रहने चला गया।", "hi"),
    ("Yesterday I met 王芳 at the harbour again.", "en"),
    ("我昨天在 GitHub 上看到了。", "zh"),
    ("Hello", "en"),
    ("I'm vegan.", "en"),
    ("Hallo!", "de"),
    ("👍", "und"),
    ("12:30", "und"),
    ("xqzt", "und"),
]


@pytest.mark.parametrize(("text", "code"), LANGUAGES)
def test_the_language_of_a_text_is_told(text: str, code: str) -> None:
    document = _run(Message("user", text))
    assert (document.language, document.languages) == (code, (code,))


def test_short_turns_have_the_language_of_the_conversation() -> None:
    document = _run(
        Message("user", "Ich bin im Frühling auf ein Hausboot im Hafen gezogen."),
        Message("user", "ok"),
        Message("user", "👍"),
        Message("user", "I moved to a houseboat last spring."),
    )
    assert document.language == "de"
    assert document.languages == ("de", "de", "de", "en")


def test_the_user_s_words_decide_not_the_assistant_s() -> None:
    document = _run(
        Message("user", "Ich wohne auf einem Hausboot."),
        Message("assistant", "That sounds wonderful, tell me everything about your life on the water!"),
        Message("assistant", "Ok."),
    )
    assert document.language == "de"
    assert document.languages == ("de", "en", "de")


def test_short_words_in_latin_letters_are_not_chinese() -> None:
    document = _run(Message("user", "我去年春天搬到了船上。"), Message("user", "thanks, nice"), Message("user", "👍"))
    assert document.languages == ("zh", "en", "zh")


@pytest.mark.parametrize(("wanted", "code"), [("fr", "fr"), ("EN-gb", "en"), ("pt_BR", "pt")])
def test_a_language_that_was_asked_for_is_every_turn_s(wanted: str, code: str) -> None:
    document = _run(Message("user", "Ich wohne auf einem Hausboot."), Message("user", "ok"), using=Settings(language=wanted))
    assert (document.language, document.languages) == (code, (code, code))


def test_a_language_without_cues_is_noted_once() -> None:
    document = _run(
        Message("user", "Vårkvällarna tillbringar jag på min husbåt."),
        Message("user", "ok"),
        Message("user", "I live on a houseboat now."),
    )
    assert document.notes == ("language sv: no cues; nothing is extracted from 2 turns",)


def test_nothing_has_no_language_and_no_notes() -> None:
    document = _run()
    assert (document.turns, document.language, document.languages, document.notes, document.user) == ((), None, (), (), None)


def test_earlier_findings_are_kept() -> None:
    before = Document(Conversation((Message("user", "I live on a houseboat."),)), notes=("earlier",))
    assert speakers.run(before, AUTO) == replace(speakers.run(replace(before, notes=()), AUTO), notes=("earlier",))


@pytest.mark.parametrize("proof", rules.prove(rules.load("speakers")), ids=lambda proof: f"{proof.rule}-{proof.example[:20]}")
def test_rules_do_what_their_examples_say(proof: rules.Proof) -> None:
    assert proof.passed


def test_two_thousand_turns_take_less_than_a_second_and_a_half() -> None:
    text = "I moved to a houseboat in the harbour last spring, and my sister has been visiting me every other week since then."
    messages = [Message("user", f"{text} {number}", speaker=("Mira", "Tom")[number % 2]) for number in range(2_000)]
    _run(messages[0])
    begin = time.process_time()
    assert len(_run(*messages).turns) == 2_000
    assert time.process_time() - begin < 1.5
