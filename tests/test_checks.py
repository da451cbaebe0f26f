"""What the model's wording must pass before it replaces the rules' wording."""

from __future__ import annotations

import pytest

from hybrid.checks import grounded_share, refusal
from hybrid.data import Span, Statement

DRAFT = Statement(
    id="S1",
    kind="event",
    subject="Ilse",
    speaker="Ilse",
    role="user",
    text="Ilse and like Aksel also rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy.",
    topic="rowing",
    quote="Me and like Aksel also rowed 12 miles to Aarhus yesterday, it wasn't easy",
    evidence=(Span("E00000001", 0, 70),),
)


def test_cleaner_wording_of_the_same_is_accepted() -> None:
    assert refusal("Ilse and Aksel rowed 12 miles to Aarhus on 3 March 2024, and it wasn't easy.", DRAFT) is None


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        ("", "empty"),
        (DRAFT.text, "unchanged"),
        ("Aksel rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy.", "subject lost"),
        ("Ilse and Aksel rowed 21 miles to Aarhus on 3 March 2024, it wasn't easy.", "number"),
        ("Ilse and Aksel rowed 12 miles to Aarhus on 4 March 2024, it wasn't easy.", "number"),
        ("Ilse and Aksel rowed 12 miles to Bergen on 3 March 2024, it wasn't easy.", "name not in the evidence"),
        ("Ilse also rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy.", "name lost"),
        ("Ilse and Aksel rowed 12 miles to Aarhus on 3 March 2024, it was easy.", "negation"),
        ("Ilse and Aksel will have rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy.", "modality"),
        ("Ilse and Aksel rowed 12 windy miles to Aarhus on 3 March 2024, it wasn't easy.", "word not in the evidence"),
        ("Ilse and my Aksel rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy.", "first person"),
        ("Ilse and Aksel rowed 12 miles to Aarhus on 3 March 2024, it wasn't easy,", "cut off"),
        ("Ilse Ilse and Aksel and Aksel and Aksel and Aksel and Aksel rowed.", "loop"),
        ("Ilse " + "and Aksel rowed to Aarhus " * 9, "too long"),
    ],
)
def test_wording_that_changes_the_fact_is_refused(proposal: str, reason: str) -> None:
    assert refusal(proposal, DRAFT) == reason


def test_grounded_share_counts_names_and_numbers() -> None:
    assert grounded_share("Later work rests on 4 of the Oslo pumps.", ["the Oslo pumps"]) == 0.5
