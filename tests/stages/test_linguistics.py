"""Sentences, persons and mentions as frozen values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from hybrid.api import annotate
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message


def annotated(text: str, speaker: str | None = None) -> Document:
    return annotate(Conversation((Message("user", text, speaker),)), Settings(language="en"))


@pytest.mark.parametrize(
    ("text", "person", "tense", "negated", "question"),
    [
        ("I went home.", "first", "past", False, False),
        ("We don't eat meat.", "first", "present", True, False),
        ("You sing well.", "second", "present", False, False),
        ("My sister will move to Oslo.", "third", "future", False, False),
        ("Is the shop open?", "third", "present", False, True),
    ],
)
def test_sentence_is_described(text: str, person: str, tense: str, negated: bool, question: bool) -> None:
    (sentence,) = annotated(text).sentences
    assert (sentence.person, sentence.tense, sentence.negated, sentence.question) == (person, tense, negated, question)


def test_offsets_point_into_the_turn() -> None:
    document = annotated("First line.\nThe second one is longer! 🙂\n\nThird.")
    text = document.turns[0].text
    assert [s.text for s in document.sentences] == [text[s.start : s.end] for s in document.sentences]
    for sentence in document.sentences:
        assert all(text[t.start : t.end] == t.text for t in sentence.tokens)


def test_line_breaks_end_sentences() -> None:
    assert len(annotated("no stop here\nand another line").sentences) == 2


def test_quoted_words_carry_their_speaker() -> None:
    document = annotated("My cousin Edda told me: 'I have been a tailor for six years'")
    assert [s.voice for s in document.sentences if s.voice] == ["Edda"]


def test_participants_are_found_where_the_parser_misses_them() -> None:
    document = annotated("wulfhild and I went sailing with Wulfhild's boat.", speaker="Wulfhild")
    assert any(m.text == "Wulfhild" and m.type == "person" for m in document.mentions)


def test_very_long_line_is_read_in_pieces() -> None:
    document = annotated("I like plums. " * 1600)
    assert len(document.sentences) >= 1600


def test_growing_conversation_keeps_its_parses() -> None:
    first = Conversation((Message("user", "I live in Ghent."),))
    longer = Conversation((*first.turns, Message("user", "I moved to Oslo in May.")))
    settings = Settings(language="en")
    before = annotate(first, settings)
    assert annotate(longer, settings, previous=before).sentences == annotate(longer, settings).sentences


def test_threads_may_parse_at_the_same_time() -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: len(annotated(f"I own {n} goats. My uncle keeps hens.").sentences), range(12)))
    assert found == [2] * 12
