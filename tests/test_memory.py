"""The pure function that applies operations, and how names and ids compare."""

from __future__ import annotations

import pytest

from hybrid.memory import Memory, Operation, apply, identifier, name_key

OLD = Memory("a", "memories", "profile", "Ilse lives in Ghent.", key="location")
NEW = Memory("b", "memories", "profile", "Ilse lives in Oslo.", key="location")


def test_superseding_keeps_the_old_memory_with_its_successor() -> None:
    after = {m.id: m for m in apply((OLD,), (Operation("supersede", NEW, "a"),))}
    assert after["a"].status == "superseded"
    assert after["a"].superseded_by == "b"
    assert after["b"].status == "current"


def test_skip_changes_nothing() -> None:
    assert apply((OLD,), (Operation("skip", NEW, "a"),)) == (OLD,)


def test_delete_keeps_the_row() -> None:
    (after,) = apply((OLD,), (Operation("delete", None, "a"),))
    assert after.status == "deleted"


def test_unknown_target_is_an_error() -> None:
    with pytest.raises(KeyError):
        apply((), (Operation("delete", None, "a"),))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ana", "ana", True),
        ("Ana", "Anatol", False),
        ("Ana 🌸", "Ana", True),
        ("ＡＮＡ", "Ana", True),
        ("Dr. Ana Ruiz", "Ana Ruiz", False),
    ],
)
def test_names_compare_whole_without_decoration(one: str, other: str, same: bool) -> None:
    assert (name_key(one) == name_key(other)) is same


def test_ids_are_stable_and_part_borders_count() -> None:
    assert identifier("a", "b") == identifier("a", "b")
    assert identifier("a", "b") != identifier("ab", "")
