"""Merging by key: what replaces, what collects, what is only told again, in the order of telling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid.data import Span
from hybrid.memory import Known, Memory, apply
from hybrid.schemas.merging import merge_by_key

POLICY = {"profile": "replace", "preference": "collect", "event": "new"}


def memory(name: str, text: str, category: str = "profile", ref: int = 1, **fields: Any) -> Memory:
    evidence = f"E{ref:08d}"
    values: dict[str, Any] = {"key": "location", "subject": "Vera", "conversation": "c1", **fields}
    span = Span(evidence, 0, len(text))
    return Memory(name, "memories", category, text, evidence=(evidence,), evidence_spans=(span,), **values)


TARTU = memory("m1", "Vera lives in Tartu.")
RIGA = memory("m2", "Vera moved to Riga.", ref=2)
OSLO = memory("m3", "Vera moved to Oslo.", ref=3)


def kinds(*memories: Memory, known: Known | None = None) -> list[str]:
    return [o.kind for o in merge_by_key(memories, known or Known(), POLICY)]


def test_a_replaced_value_is_superseded_and_kept() -> None:
    steps = merge_by_key((TARTU, RIGA, OSLO), Known(), POLICY)
    assert [(o.kind, o.target) for o in steps] == [("add", None), ("supersede", "m1"), ("supersede", "m2")]
    after = {m.id: m for m in apply((), steps)}
    assert [(after[i].status, after[i].superseded_by) for i in ("m1", "m2", "m3")] == [
        ("superseded", "m2"),
        ("superseded", "m3"),
        ("current", None),
    ]
    assert after["m1"].text == "Vera lives in Tartu."


def test_a_known_value_is_replaced_from_another_conversation_too() -> None:
    steps = merge_by_key((replace(RIGA, conversation="c2"),), Known((TARTU,)), POLICY)
    assert [(o.kind, o.target) for o in steps] == [("supersede", "m1")]


@pytest.mark.parametrize(
    "other",
    [
        replace(RIGA, subject="Otto"),
        replace(RIGA, key="workplace"),
        replace(RIGA, category="preference"),
    ],
    ids=["another person", "another key", "another category"],
)
def test_what_is_about_something_else_stands_beside_it(other: Memory) -> None:
    assert kinds(TARTU, other) == ["add", "add"]


def test_the_subject_is_compared_without_case_and_width() -> None:
    assert kinds(TARTU, replace(RIGA, subject="ＶＥＲＡ")) == ["add", "supersede"]


def test_collected_facets_stand_side_by_side() -> None:
    tea = memory("m1", "Vera loves tea.", "preference", key="beverage")
    mate = memory("m2", "Vera loves mate.", "preference", ref=2, key="beverage")
    assert kinds(tea, mate) == ["add", "add"]


def test_happenings_of_one_key_are_each_new() -> None:
    one = memory("m1", "Vera ran a race on 3 May 2024.", "event", key="race_20240503")
    other = memory("m2", "Vera won a race on 3 May 2024.", "event", ref=2, key="race_20240503")
    assert kinds(one, other) == ["add", "add"]


@pytest.mark.parametrize("category", ["profile", "preference", "event", "something else"])
def test_the_same_text_again_only_adds_its_evidence(category: str) -> None:
    one = memory("m1", "Vera loves tea.", category)
    again = memory("m2", "vera  loves TEA", category, ref=5)
    steps = merge_by_key((one, again), Known(), POLICY)
    assert [(o.kind, o.target, o.reason) for o in steps] == [("add", None, "new"), ("update", "m1", "told again")]
    (kept,) = apply((), steps)
    assert kept.text == "Vera loves tea."
    assert kept.evidence == ("E00000001", "E00000005")
    assert [s.ref for s in kept.evidence_spans] == ["E00000001", "E00000005"]


def test_the_same_text_from_another_conversation_is_skipped() -> None:
    again = replace(TARTU, id="m9", conversation="c2")
    (step,) = merge_by_key((again,), Known((TARTU,)), POLICY)
    assert (step.kind, step.target, step.reason) == ("skip", "m1", "known from another conversation")


def test_an_id_that_is_known_keeps_its_text() -> None:
    (step,) = merge_by_key((replace(TARTU, text="Vera dwells in Tartu."),), Known((TARTU,)), POLICY)
    assert step.kind == "skip"
    grown = replace(TARTU, text="Vera dwells in Tartu.", evidence_spans=(Span("E00000007", 0, 4),), evidence=("E00000007",))
    (step,) = merge_by_key((grown,), Known((TARTU,)), POLICY)
    assert step.kind == "update"
    assert step.memory is not None
    assert (step.memory.text, step.memory.evidence) == ("Vera lives in Tartu.", ("E00000001", "E00000007"))


def test_what_was_superseded_or_deleted_does_not_come_back() -> None:
    for status in ("superseded", "deleted"):
        gone = replace(TARTU, status=status)
        assert kinds(TARTU, known=Known((gone,))) == ["skip"]


def test_a_value_told_again_after_it_was_replaced_holds_again() -> None:
    back = memory("m4", "Vera lives in Tartu.", ref=4)
    after = {m.id: m for m in apply((), merge_by_key((TARTU, RIGA, back), Known(), POLICY))}
    assert [after[i].status for i in ("m1", "m2", "m4")] == ["superseded", "superseded", "current"]


@given(st.lists(st.sampled_from([TARTU, RIGA, OSLO, memory("m5", "Vera loves tea.", "preference", 5)]), max_size=8), st.data())
def test_merging_in_parts_is_merging_at_once(told: list[Memory], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(told)))
    whole = apply((), merge_by_key(tuple(told), Known(), POLICY))
    first = apply((), merge_by_key(tuple(told[:cut]), Known(), POLICY))
    assert apply(first, merge_by_key(tuple(told[cut:]), Known(first), POLICY)) == whole
    assert all(o.kind == "skip" for o in merge_by_key(tuple(told), Known(whole), POLICY))
    assert sum(m.status == "current" and m.category == "profile" for m in whole) <= 1
