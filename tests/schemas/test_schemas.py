"""What the four schemas have in common: names, keys, rows and the forms of their documents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from hybrid.api import Extraction, extract
from hybrid.config import Settings
from hybrid.data import Conversation, Message
from hybrid.errors import UsageError
from hybrid.memory import Known, Memory
from hybrid.schemas import SCHEMAS, named
from hybrid.schemas.keys import snake
from hybrid.schemas.wording import shortened, when_text

TIME = datetime(2024, 5, 14, 9, 0)
SAID = (
    "[Vera]: I moved to Tartu last month.",
    "[Vera]: From now on, always answer me in short sentences.",
    "[Vera]: We decided to keep the invoices in SQLite instead of MongoDB because backups are simpler.",
    "[Vera]: We must not use cloud services, because the contract forbids it.",
    "[Otto]: My sister Lene adopted a terrier yesterday.",
)


def found(schema: str, *said: str, **options: Any) -> Extraction:
    messages = tuple(Message("user", text, time=TIME) for text in (said or SAID))
    return extract(Conversation(messages, TIME), schema, "Vera", **options)


def test_names_are_those_of_the_design() -> None:
    assert [schema.name for schema in SCHEMAS] == ["memories", "facts", "entries", "candidates"]
    assert all(named(schema.name) is schema for schema in SCHEMAS)
    with pytest.raises(UsageError) as caught:
        named("diary")
    assert "candidates" in caught.value.hint


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: s.name)
def test_row_of_an_output_carries_its_evidence_and_an_id_of_its_own(schema: Any) -> None:
    outputs = found(schema.name).outputs
    rows = [schema.memory(output, "c1") for output in outputs]
    assert rows
    assert all(row.schema == schema.name and row.conversation == "c1" for row in rows)
    assert [row.evidence for row in rows] == [output.evidence for output in outputs]
    assert all({s.ref for s in row.evidence_spans} <= set(row.evidence) for row in rows)
    assert len({row.id for row in rows}) == len(rows)
    assert {row.id for row in rows}.isdisjoint(schema.memory(output, "c2").id for output in outputs)


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: s.name)
def test_merging_what_is_known_changes_nothing(schema: Any) -> None:
    rows = tuple(schema.memory(output, "c1") for output in found(schema.name).outputs)
    steps = schema.merge(rows, Known())
    assert {step.kind for step in steps} <= {"add", "supersede", "update"}
    assert {step.kind for step in schema.merge(rows, Known(rows))} == {"skip"}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda s: s.name)
def test_outputs_are_the_same_each_time(schema: Any) -> None:
    assert found(schema.name).outputs == found(schema.name).outputs


def test_memories_are_printed_as_tool_calls() -> None:
    calls = found("memories").document_form()
    assert {call["name"] for call in calls} <= {f"extract_{c}" for c in ("profile", "preference", "entity", "event", "case")}
    assert all({"abstract", "overview", "content", "confidence"} <= set(call["arguments"]) for call in calls)
    assert all(("evidence_quote" in call["arguments"]) == (call["name"] == "extract_profile") for call in calls)


def test_facts_are_printed_as_additions_by_category_and_single_updates() -> None:
    calls = found("facts").document_form()
    assert {call["name"] for call in calls} == {"memory_add"}
    categories = [call["arguments"]["category"] for call in calls]
    assert len(categories) == len(set(categories))
    known = [{"id": "k1", "text": "User's invoices are kept in SQLite by decision.", "category": "decision"}]
    updates = found("facts", SAID[2], known=known).document_form()
    assert [(c["name"], c["arguments"]["memoryId"]) for c in updates] == [("memory_update", "k1")]
    assert set(updates[0]["arguments"]) == {"memoryId", "text"}


def test_entries_are_printed_as_a_bare_array_of_nine_keys() -> None:
    entries = found("entries").document_form()
    assert entries
    assert {tuple(entry) for entry in entries} == {
        (
            "type",
            "key",
            "content",
            "scope",
            "stability",
            "confidence",
            "evidence_count",
            "expires_at",
            "explicitly_persistent",
        )
    }


def test_candidates_are_printed_as_staged_calls_and_a_finish() -> None:
    *staged, finish = found("candidates").document_form()
    assert staged
    assert all({"kind", "claim", "why_useful", "entry_refs"} <= set(call["arguments"]) for call in staged)
    assert finish == {"name": "FinishMemoryExtraction", "arguments": {"staged_count": len(staged)}}


@pytest.mark.parametrize(
    ("schema", "printed"), [("memories", []), ("facts", []), ("entries", [])], ids=["memories", "facts", "entries"]
)
def test_nothing_is_printed_as_an_empty_array(schema: str, printed: list[Any]) -> None:
    assert found(schema, "Hello!").document_form() == printed


def test_no_candidates_say_why() -> None:
    (finish,) = found("candidates", "Hello!").document_form()
    assert finish["arguments"]["staged_count"] == 0
    assert finish["arguments"]["no_candidates_reason"]


def test_entry_heard_in_two_conversations_is_admitted() -> None:
    schema = named("entries")
    document = found("entries", "Keep this answer short, please.").document
    assert schema.count_key is not None
    wish = next(s for s in document.statements if s.kind == "wish")
    fresh = found("entries", "Keep this answer short, please.")
    assert fresh.outputs == ()
    assert fresh.rejected
    drafted = schema.draft(document, Known((), {schema.count_key(wish): 1}), Settings(user="Vera"))
    (entry,) = [o for o in drafted if o.statement == wish.id]
    assert (entry.evidence_count, entry.stability) == (2, "durable")
    assert all(check(entry, document) is None for check in schema.checks)


def test_a_known_entry_is_not_told_again() -> None:
    (entry,) = [o for o in found("entries", SAID[1]).outputs if o.type == "feedback"]
    for text in (entry.content, f"{entry.key}: {entry.content}"):
        known = Memory("k1", "entries", "feedback", text, key=entry.key)
        assert found("entries", SAID[1], known=[known]).outputs == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Cross-country skiing", "cross_country_skiing"),
        ("Žofie Dvořáková", "zofie_dvorakova"),
        ("餃子", "jiao_zi"),
        ("Борщ", "borshch"),
        ("🥟", None),
        ("", "unnamed"),
        ("!!!", "unnamed"),
    ],
)
def test_key_is_ascii_in_any_script(text: str, key: str | None) -> None:
    made = snake(text)
    assert made.isascii()
    assert made
    assert key is None or made == key or text == "餃子"


def test_shortened_text_ends_at_a_clause() -> None:
    text = "Vera moved the archive to the cellar, because the attic leaks, and Otto carried the boxes."
    assert shortened(text, 200) == text
    assert shortened(text, 70) == "Vera moved the archive to the cellar, because the attic leaks."
    assert all(len(shortened(text, limit)) <= limit for limit in range(30, 90))


@pytest.mark.parametrize(
    ("when", "first", "last"),
    [
        (None, None, None),
        ("2024-05-14", "2024-05-14", "2024-05-14"),
        ("2024-05-14T09:30:00", "2024-05-14", "2024-05-14"),
        ("2024-05-01/2024-05-31", "2024-05-01", "2024-05-31"),
        ("2024-05-01/..", "2024-05-01", None),
        ("../2024-05-31", None, "2024-05-31"),
    ],
)
def test_interval_gives_its_first_and_last_day(when: str | None, first: str | None, last: str | None) -> None:
    ends = when_text(when)
    assert {name: day.isoformat() if day else None for name, day in ends.items()} == {"first": first, "last": last}  # type: ignore[attr-defined]
