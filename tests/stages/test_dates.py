"""Date expressions are found, and mean the days a reader would take them for."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Conversation, Document, ResolvedDate, Turn
from hybrid.stages import dates

WEDNESDAY = datetime(2024, 5, 15, 10, 0)

RANGES = [
    ("We repotted the figs yesterday.", "2024-05-14"),
    ("The concert is the day after tomorrow.", "2024-05-17"),
    ("I sanded the boat three days ago.", "2024-05-12"),
    ("We moved here two weeks ago.", "2024-04-28/2024-05-04"),
    ("I learned to weave four months ago.", "2024-01-01/2024-01-31"),
    ("They married five years ago.", "2019-01-01/2019-12-31"),
    ("I saw her 1 month 21 days ago.", "2024-03-25"),
    ("A few days ago the kiln broke.", "2024-05-11/2024-05-13"),
    ("The exam is in two weeks.", "2024-05-29"),
    ("Last week I hiked.", "2024-05-08/2024-05-14"),
    ("I hiked the week before last.", "2024-05-01/2024-05-07"),
    ("I read a lot over the past month.", "2024-04-15/2024-05-14"),
    ("A few years ago I rowed.", "2020-01-01/2022-12-31"),
    ("I'll call you later today.", "2024-05-15"),
    ("This week is calm.", "2024-05-13/2024-05-19"),
    ("Next month we sail.", "2024-06-01/2024-06-30"),
    ("Last year was hard.", "2023-01-01/2023-12-31"),
    ("Last weekend we baked.", "2024-05-11/2024-05-12"),
    ("Two weekends ago we camped.", "2024-05-04/2024-05-05"),
    ("This weekend we will camp.", "2024-05-18/2024-05-19"),
    ("I saw Ines last Friday.", "2024-05-10"),
    ("We met on Monday.", "2024-05-13"),
    ("We will meet on Monday.", "2024-05-20"),
    ("I'll go on Friday next week.", "2024-05-24"),
    ("The Friday before last she called.", "2024-05-03"),
    ("It opened on 3 March 2021.", "2021-03-03"),
    ("It opened on March 3rd, 2021.", "2021-03-03"),
    ("It opened on the third of March, 2021.", "2021-03-03"),
    ("Released 2020-02-29.", "2020-02-29"),
    ("Signed 5/7/2023.", "2023-05-07"),
    ("Signed 21/4/2016.", "2016-04-21"),
    ("The fair runs July 6-8.", "2024-07-06/2024-07-08"),
    ("It ran from 6 to 8 July 2021.", "2021-07-06/2021-07-08"),
    ("We were away from June 2 to June 8, 2023.", "2023-06-02/2023-06-08"),
    ("I will be there from December 28 to January 3.", "2024-12-28/2025-01-03"),
    ("We met in May 2018.", "2018-05-01/2018-05-31"),
    ("We married in June.", "2023-06-01/2023-06-30"),
    ("We will marry in June.", "2024-06-01/2024-06-30"),
    ("I lived there in 2019.", "2019-01-01/2019-12-31"),
    ("I studied there 2014-2018.", "2014-01-01/2018-12-31"),
    ("Music of the 1980s", "1980-01-01/1989-12-31"),
    ("Sales in Q3 2023 fell.", "2023-07-01/2023-09-30"),
    ("Last summer we sailed.", "2023-06-01/2023-08-31"),
    ("In the winter of 2020 we skied.", "2020-12-01/2021-02-28"),
    ("The week of June 5 is full.", "2024-06-03/2024-06-09"),
    ("The first Monday of September 2024", "2024-09-02"),
    ("By the end of the month it went.", "../2024-05-31"),
    ("We start in early June 2025.", "2025-06-01/2025-06-10"),
    ("We have lived here since March 2020.", "2020-03-01/.."),
    ("I am away until Friday.", "../2024-05-17"),
    ("We cooked on Thanksgiving.", "2023-11-23"),
    ("Easter 2025 is late.", "2025-04-20"),
    ("The day after Christmas 2022", "2022-12-26"),
    ("See you tonight!", "2024-05-15T20:00:00/2024-05-15T23:59:59"),
    ("The train leaves tomorrow at 7:30 am.", "2024-05-16T07:30:00"),
    ("The call is on Friday from 2pm to 4pm.", "2024-05-17T14:00:00/2024-05-17T16:00:00"),
]

NO_DATES = [
    "You may go, and I may stay.",
    "March on, said April when May and Jon came.",
    "We sat in the sun and it was our second try.",
    "I fall asleep in my spring jacket.",
    "The server listens on port 2048.",
    "Version 2.10.31.1 costs $20.",
    "We won 3-2 after 90 minutes.",
    "Call 020 7946 0958.",
    "She is 10 years old and lived there for five years.",
    "We swim every Friday and on weekends.",
    "I will recently, soon, one day do it.",
    "There are 2019 people and 30 cats.",
    "See you at 5pm.",
    "He decorated a Christmas tree.",
]


def intervals(text: str, reference: datetime | None = WEDNESDAY, weeks: str = "rolling") -> list[str | None]:
    return [found.interval for found in dates.find_dates(text, reference, "en", weeks)]


@pytest.mark.parametrize(("text", "expected"), RANGES)
def test_an_expression_means_these_days(text: str, expected: str) -> None:
    assert intervals(text) == [expected]


@pytest.mark.parametrize("text", NO_DATES)
def test_other_words_and_numbers_are_no_dates(text: str) -> None:
    assert intervals(text) == []


@pytest.mark.parametrize("proof", rules.prove(rules.load("dates", "en"), dates.matches), ids=lambda p: f"{p.rule}:{p.expected}")
def test_each_rule_does_what_its_examples_ask(proof: rules.Proof) -> None:
    assert proof.passed, proof.example


def test_a_calendar_week_runs_from_monday_to_sunday() -> None:
    assert intervals("Last week I hiked.", weeks="calendar") == ["2024-05-06/2024-05-12"]


def test_several_expressions_are_found_apart_with_their_offsets() -> None:
    text = "Last month, then last week,  then\nyesterday."
    found = dates.find_dates(text, WEDNESDAY, "en")
    assert [text[d.start : d.end] for d in found] == ["Last month", "last week", "yesterday"]
    assert [d.text for d in found] == ["Last month", "last week", "yesterday"]


def test_a_language_without_rules_yields_nothing() -> None:
    assert dates.find_dates("yesterday, 2023-05-07", WEDNESDAY, "xx") == []


def test_without_a_language_the_rules_that_explain_most_are_taken() -> None:
    assert [d.interval for d in dates.find_dates("We met yesterday.", WEDNESDAY)] == ["2024-05-14"]


def test_without_a_reference_only_absolute_dates_resolve() -> None:
    text = "We met yesterday and on 3 March 2021."
    assert intervals(text, None) == ["2021-03-03"]
    kinds = [(d.text, d.kind, d.first) for d in dates.find_dates(text, None, "en", include_other=True)]
    assert kinds == [("yesterday", "unresolved", None), ("3 March 2021", "date", date(2021, 3, 3))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("for two hours", "duration"),
        ("10 years old", "duration"),
        ("every Friday", "recurrence"),
        ("I moved recently", "unresolved"),
    ],
)
def test_other_kinds_come_when_asked_for(text: str, kind: str) -> None:
    assert [d.kind for d in dates.find_dates(text, WEDNESDAY, "en", include_other=True)] == [kind]


def test_a_long_turn_full_of_dates_is_read_in_time() -> None:
    started = time.perf_counter()
    assert dates.find_dates("next week of May " * 1200, WEDNESDAY, "en")
    assert time.perf_counter() - started < 20


def test_the_zone_of_the_reference_is_kept() -> None:
    found = dates.find_dates("tomorrow at 5pm", WEDNESDAY.replace(tzinfo=UTC), "en")
    assert [d.first for d in found] == [datetime(2024, 5, 16, 17, tzinfo=UTC)]


def test_run_dates_each_turn_against_its_own_time() -> None:
    turns = (
        Turn("E00000001", "user", "Ines", datetime(2023, 1, 2), "I swam yesterday, as every Friday.", 0, 0),
        Turn("E00000002", "user", "Ines", None, "I swam yesterday.", 1, 0),
        Turn("E00000003", "user", "Ines", datetime(2023, 1, 2), "I swam yesterday.", 2, 0),
    )
    document = dates.run(Document(Conversation(), turns=turns, languages=("en", "en", "xx")), Settings())
    assert [(d.ref, d.kind, d.interval) for d in document.dates] == [
        ("E00000001", "date", "2023-01-01"),
        ("E00000001", "recurrence", None),
        ("E00000002", "unresolved", None),
    ]


@pytest.mark.parametrize(
    ("first", "last", "grain", "words", "phrase"),
    [
        (date(2023, 5, 7), date(2023, 5, 7), "day", "7 May 2023", "on 7 May 2023"),
        (date(2023, 6, 2), date(2023, 6, 8), "week", "the week of 2–8 June 2023", "in the week of 2–8 June 2023"),
        (
            date(2023, 5, 20),
            date(2023, 5, 21),
            "weekend",
            "the weekend of 20–21 May 2023",
            "over the weekend of 20–21 May 2023",
        ),
        (date(2023, 5, 1), date(2023, 5, 31), "month", "May 2023", "in May 2023"),
        (date(2022, 6, 1), date(2022, 8, 31), "season", "summer 2022", "in summer 2022"),
        (date(2022, 1, 1), date(2022, 12, 31), "year", "2022", "in 2022"),
        (date(1980, 1, 1), date(1989, 12, 31), "span", "the 1980s", "in the 1980s"),
        (date(2022, 5, 1), None, "month", "since May 2022", "since May 2022"),
        (None, date(2022, 5, 6), "day", "until 6 May 2022", "until 6 May 2022"),
        (
            datetime(2023, 5, 8, 8),
            datetime(2023, 5, 8, 12),
            "part",
            "the morning of 8 May 2023",
            "in the morning of 8 May 2023",
        ),
        (datetime(2023, 5, 8, 17, 30), datetime(2023, 5, 8, 17, 30), "time", "17:30 on 8 May 2023", "at 17:30 on 8 May 2023"),
        (date(2023, 6, 28), date(2023, 7, 3), "span", "from 28 June 2023 to 3 July 2023", "from 28 June 2023 to 3 July 2023"),
    ],
)
def test_a_date_is_said_in_words(first: date | None, last: date | None, grain: str, words: str, phrase: str) -> None:
    found = ResolvedDate(0, 4, "then", first, last, grain)  # type: ignore[arg-type]
    assert dates.readable(found) == words
    assert dates.with_preposition(found) == phrase


WORDS = [
    "last",
    "next",
    "week",
    "of",
    "May",
    "30",
    "Feb",
    "Friday",
    "from",
    "to",
    "the",
    "end",
    "2023",
    "0",
    "9999",
    "years",
    "ago",
    "at",
    "5pm",
    "until",
    "-",
]


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)), st.datetimes())
def test_any_text_yields_ordered_ranges_and_never_raises(text: str, reference: datetime) -> None:
    found = dates.find_dates(text, reference, "en", include_other=True)
    assert all(a.end <= b.start for a, b in pairwise(found))
    for item in found:
        assert text[item.start : item.end] == item.text
        assert dates.with_preposition(item)
        if item.first is not None and item.last is not None:
            assert item.first <= item.last
