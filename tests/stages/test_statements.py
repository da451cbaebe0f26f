"""Self-contained statements in the third person."""

from __future__ import annotations

from datetime import datetime

import pytest

from hybrid.api import annotate
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message, Statement

SAID = datetime(2024, 3, 13, 10)


def annotated(*texts: str, speaker: str | None = "Ilse", user: str | None = None) -> Document:
    messages = tuple(Message("user", text, speaker, SAID) for text in texts)
    return annotate(Conversation(messages, SAID), Settings(language="en", user=user))


def statements(*texts: str, speaker: str | None = "Ilse") -> tuple[Statement, ...]:
    return annotated(*texts, speaker=speaker).statements


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I love plum cake.", "Ilse loves plum cake."),
        ("I'm fond of old maps.", "Ilse is fond of old maps."),
        ("I don't eat meat.", "Ilse doesn't eat meat."),
        ("I've finally finished the bookshelf.", "Ilse has finally finished the bookshelf."),
        ("My brother Aksel keeps goats.", "Ilse's brother Aksel keeps goats."),
        ("Gonna learn Welsh this winter with my aunt.", None),
        ("I bake bread and sell it on Fridays.", "Ilse bakes bread and sells it on Fridays."),
        ("Oh, actually I moved to Aarhus!", "Ilse moved to Aarhus."),
        ("I went to the harbour with my son.", "Ilse went to the harbour with their son."),
        ("Never use tabs in my code.", "Ilse's standing rule: never use tabs in Ilse's code."),
    ],
)
def test_first_person_becomes_the_speaker(said: str, written: str | None) -> None:
    made = statements(said)
    assert len(made) == 1
    if written is not None:
        assert made[0].text == written
    assert "Ilse" in made[0].text
    assert made[0].speaker == "Ilse"


@pytest.mark.parametrize(
    ("said", "interval", "readable"),
    [
        ("I went to a concert yesterday.", "2024-03-12", "12 March 2024"),
        ("We camped by the lake last week.", "2024-03-06/2024-03-12", "6–12 March 2024"),
        ("I sold the boat last year.", "2023-01-01/2023-12-31", "2023"),
        ("I'm flying to Bergen tomorrow.", "2024-03-14", "14 March 2024"),
    ],
)
def test_relative_dates_become_calendar_dates(said: str, interval: str, readable: str) -> None:
    (statement,) = statements(said)
    assert statement.when is not None
    assert statement.when.interval == interval
    assert readable in statement.text


def test_unknown_time_stays_unknown() -> None:
    document = annotate(Conversation((Message("user", "I went to a concert yesterday.", "Ilse"),)), Settings(language="en"))
    (statement,) = document.statements
    assert statement.when is None
    assert "yesterday" in statement.text


def test_follow_up_sentence_joins_its_event() -> None:
    (statement,) = statements("We went rowing on the fjord. It was freezing but lovely.")
    assert "freezing" in statement.text
    assert len(statement.evidence) == 2


def test_same_fact_twice_is_one_statement_with_two_pieces_of_evidence() -> None:
    (statement,) = statements("I love plum cake.", "I love plum cake!")
    assert statement.refs == ("E00000001", "E00000002")


def test_quoted_friend_is_the_subject() -> None:
    made = statements("My cousin Edda told me: 'I have been a tailor for six years'")
    assert {s.subject for s in made} == {"Edda"}
    assert not any(s.about_user for s in made)


def test_half_a_case_is_no_case() -> None:
    assert not any(s.kind == "case" for s in statements("The pump kept failing with error 12."))


def test_case_needs_problem_and_solution() -> None:
    text = (
        "The pump kept failing with error 12. It turned out the filter was clogged. "
        "I replaced the filter. No more errors since."
    )
    (statement,) = (s for s in statements(text) if s.kind == "case")
    assert {"problem", "cause", "solution", "outcome"} <= set(statement.details)


def test_confirmation_takes_the_words_of_the_turn_before() -> None:
    messages = (
        Message("assistant", "You seem to prefer night trains over planes."),
        Message("user", "Yes, exactly."),
    )
    document = annotate(Conversation(messages), Settings(language="en", user="Ilse"))
    (statement,) = document.statements
    assert statement.subject == "Ilse"
    assert statement.refs == ("E00000002", "E00000001")
    assert "night trains" in statement.text


def test_ids_stay_when_the_conversation_grows() -> None:
    short, longer = statements("I love plum cake."), statements("I love plum cake.", "I keep three goats.")
    assert short[0].id == longer[0].id


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("She keeps goats.", "subject unclear"),
        ("I love it.", None),
        ("Patience is important.", "general remark"),
        ("I painted it because it was calming.", "refers to what was said before"),
        ("I've been reading her stuff for ages.", "subject unclear"),
    ],
)
def test_sentence_that_needs_another_is_rejected_with_its_reason(said: str, reason: str | None) -> None:
    document = annotated(said)
    assert document.statements == ()
    assert [r.reason for r in document.rejected] == ([reason] if reason else [])


def test_pronoun_takes_the_one_person_spoken_of_and_cites_where() -> None:
    made = statements("I went sailing with my sister Edda.", "She moved to Bergen in March.")
    assert made[1].text == "Edda moved to Bergen in March 2023." or "Edda moved to Bergen" in made[1].text
    assert made[1].refs == ("E00000002", "E00000001")


def test_pronoun_with_two_readings_is_not_resolved() -> None:
    made = statements("I went sailing with my sister Edda and my aunt Solveig.", "She moved to Bergen in March.")
    assert len(made) == 1


def test_short_form_of_a_speaker_is_not_somebody_else() -> None:
    messages = (
        Message("user", "Hey Ils, how is Aarhus?", "Tove", SAID),
        Message("user", "She gave it to me when I was young.", "Tove", SAID),
        Message("user", "Fine!", "Ilse", SAID),
    )
    document = annotate(Conversation(messages, SAID), Settings(language="en"))
    assert not any("Ils " in s.text for s in document.statements)


def test_clauses_about_different_things_are_split_and_one_happening_is_not() -> None:
    assert len(statements("I cycle to work, and I keep my notes in a tin.")) == 2
    assert len(statements("I fell off the ladder and I broke my wrist.")) == 1


def test_offer_and_its_open_answer_are_one_commitment() -> None:
    messages = (
        Message("user", "Shall I help you with the moving boxes?", "Aksel", SAID),
        Message("user", "Maybe another time, thanks.", "Ilse", SAID),
    )
    (statement,) = annotate(Conversation(messages, SAID), Settings(language="en")).statements
    assert statement.details["commitment"] == "pending"
    assert "Aksel offered to help Ilse with the moving boxes" in statement.text


def test_credential_is_worded_without_its_place() -> None:
    (statement,) = statements("The password for the harbour gate is plum-otter-5512.")
    assert statement.text == "Ilse configured a password for harbour gate."
    assert "5512" not in str(statement)


def test_answer_takes_the_date_of_its_question_and_cites_it() -> None:
    messages = (
        Message("user", "What did you do last weekend?", "Tove", SAID),
        Message("user", "I rowed to the lighthouse with Aksel.", "Ilse", SAID),
    )
    (statement,) = annotate(Conversation(messages, SAID), Settings(language="en")).statements
    assert statement.when is not None
    assert statement.when.interval == "2024-03-09/2024-03-10"
    assert statement.refs == ("E00000002", "E00000001")


def test_question_without_a_date_gives_none() -> None:
    messages = (
        Message("user", "What did you do?", "Tove", SAID),
        Message("user", "I rowed to the lighthouse with Aksel.", "Ilse", SAID),
    )
    (statement,) = annotate(Conversation(messages, SAID), Settings(language="en")).statements
    assert statement.when is None


def test_endless_sentence_is_refused_and_the_rest_is_kept() -> None:
    document = annotated("I bought plums and cheese and bread " * 60 + ".", "I live in Aarhus.")
    assert [r.reason for r in document.rejected] == ["too long for one memory"]
    assert len(document.statements) == 1
