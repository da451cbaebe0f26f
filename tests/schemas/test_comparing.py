"""Comparing a text with what is known: known, changed or new."""

from __future__ import annotations

import pytest

from hybrid.memory import Memory
from hybrid.schemas.comparing import compared
from hybrid.schemas.policy import policy

LIMITS = policy("facts")["compare"]


def known(*texts: str) -> list[Memory]:
    return [Memory(f"k{i}", "facts", "preference", text) for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User loves black coffee.", "User loves black coffee."),
        ("User loves black coffee.", "User enjoys black coffee."),
        ("User lives in Tartu with a terrier.", "User lives in Tartu."),
        ("As of 2024-05-14: User builds a sauna.", "As of 2024-06-01: User builds a sauna."),
        ("The deploy key rotates on Mondays (as of 2024-05-14).", "The deploy key rotates on Mondays (date unknown)."),
    ],
    ids=["same words", "a word of one meaning", "less than is known", "another day", "date unknown"],
)
def test_text_that_says_no_more_is_known(old: str, new: str) -> None:
    found = compared(new, known(old), LIMITS)
    assert found.verdict == "known"
    assert found.memory is not None
    assert found.memory.id == "k0"


@pytest.mark.parametrize(
    ("old", "new", "covers"),
    [
        ("User's deploys run on Fridays.", "User's deploys run on Fridays at noon from Jenkins.", True),
        ("User's deploys run on Fridays from Jenkins.", "User's deploys run on Mondays from Jenkins.", False),
    ],
)
def test_text_that_adds_something_has_changed(old: str, new: str, covers: bool) -> None:
    found = compared(new, known(old), LIMITS)
    assert (found.verdict, found.covers) == ("changed", covers)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User loves black coffee.", "Backups of the ledger go to tape every night."),
        ("", "User loves black coffee."),
    ],
)
def test_text_about_something_else_is_new(old: str, new: str) -> None:
    found = compared(new, known(old), LIMITS)
    assert (found.verdict, found.memory) == ("new", None)


def test_nothing_known_makes_everything_new() -> None:
    assert compared("User loves black coffee.", [], LIMITS).verdict == "new"


def test_the_closest_memory_decides() -> None:
    texts = ("User loves green tea.", "User loves black coffee from Kenya.")
    found = compared("User loves black coffee.", known(*texts), LIMITS)
    assert found.memory is not None
    assert found.memory.id == "k1"
