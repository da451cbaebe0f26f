"""Annotate, extract, remember and observe, from invented conversations to a real store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from hybrid import Extractor, ScriptedRuntime, Store, annotate, extract, remember
from hybrid.api import Extraction
from hybrid.data import Conversation, Message
from hybrid.errors import CancelledError, ModelError, UsageError
from hybrid.memory import apply
from hybrid.prompts import Prompt
from hybrid.runtime.llamacpp import LlamaCppRuntime
from hybrid.runtime.scripted import Scripted
from hybrid.schemas import SCHEMAS

START = datetime(2024, 3, 4, 18, 30)
# Put together here, so that no scanner takes this file for a leak.
CREDENTIAL = "ghp_" + "Z7kQ2mVx" * 4 + "b3Ye"

PAIR = (
    "[Nora]: Hi Theo! I moved to Ghent last month.",
    "[Theo]: Great. I work as a carpenter in Bruges.",
    "[Nora]: I'm allergic to hazelnuts. I love climbing.",
    "[Theo]: My sister Ilse adopted a greyhound yesterday.",
    "[Nora]: I moved to Leuven last week.",
    "[Theo]: I love sourdough baking.",
    "[Nora]: I'm allergic to hazelnuts.",
    "[Nora]: Thanks!",
)
LATE_SECOND = (
    "[Maren]: I work as a midwife in Aarhus.",
    "[Maren]: I love orienteering.",
    "[Maren]: I'm allergic to penicillin.",
    "[Jonas]: I moved to Odense last week.",
    "[Maren]: I ran a half marathon yesterday.",
)
LATE_NAME = (
    "I'm allergic to shellfish.",
    "I work as a beekeeper.",
    "I bought a new hive yesterday.",
    "By the way, my name is Ingrid.",
    "I love cross-country skiing.",
)
CORRECTED = (
    "[Sam]: I live in Porto.",
    "[Sam]: I love fado music.",
    "[Sam]: I moved to Braga last week.",
    "[Sam]: I adopted a cat yesterday.",
    "[Sam]: I moved to Coimbra yesterday.",
)
REPEATED = (
    "[Lea]: I'm vegetarian.",
    "[Lea]: I love pottery.",
    "[Lea]: Thanks!",
    "[Lea]: I'm vegetarian.",
    "[Lea]: I love pottery.",
)
CHATS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "two people, one is the user": (PAIR, "Nora"),
    "two people, no user": (PAIR, None),
    "second speaker comes late": (LATE_SECOND, None),
    "user says the name late": (LATE_NAME, None),
    "corrected attribute": (CORRECTED, None),
    "corrected attribute of a named user": (CORRECTED, "Sam"),
    "repeated facts": (REPEATED, None),
}


def messages(said: tuple[str, ...]) -> tuple[Message, ...]:
    return tuple(Message("user", text, time=START + timedelta(minutes=i)) for i, text in enumerate(said))


def conversation(*said: str) -> Conversation:
    return Conversation(messages(said), START if said else None)


def state(store: Store) -> Any:
    """Return what a store holds, without ids of writing: memories, and the turns of each conversation."""
    kept = {
        m.id: (m.category, m.key, m.text, m.subject, m.speaker, m.status, m.superseded_by, m.evidence, m.evidence_spans, m.when)
        for m in store.list(status=None)
        if m.status != "deleted"
    }
    return kept, {c: store.turns(c) for c in store.conversations()}


def replayed(path: Path, said: tuple[str, ...], sizes: list[int], user: str | None, schema: str = "memories") -> Any:
    store = Store(path)
    live = Extractor(store, schema, user)
    left = list(messages(said))
    for size in sizes:
        part, left = left[:size], left[size:]
        if part:
            live.observe(*part)
    if left:
        live.observe(*left)
    return state(store)


def remembered(path: Path, said: tuple[str, ...], user: str | None, schema: str = "memories") -> Any:
    store = Store(path)
    remember(conversation(*said), store, schema, user)
    return state(store)


def accounted(found: Extraction) -> bool:
    cited = {ref for output in found.outputs for ref in output.evidence}
    refused = {ref for rejection in found.rejected for ref in rejection.evidence}
    return {t.ref for t in found.document.turns} == cited | refused | {s.ref for s in found.skipped}


@pytest.mark.parametrize("schema", [s.name for s in SCHEMAS])
@pytest.mark.parametrize(("said", "user"), CHATS.values(), ids=CHATS.keys())
def test_every_turn_is_evidence_skipped_or_rejected(said: tuple[str, ...], user: str | None, schema: str) -> None:
    found = extract(conversation(*said), schema, user)
    assert accounted(found)
    assert all(s.reason for s in found.skipped)
    assert all(r.reason for r in found.rejected)
    assert not {s.ref for s in found.skipped} & {ref for o in found.outputs for ref in o.evidence}


def test_envelope_has_the_keys_of_the_contract() -> None:
    dumped = extract(conversation(*PAIR), user="Nora").model_dump(mode="json")
    assert {"schema", "language", "outputs", "rejected", "skipped", "turns", "usage"} <= set(dumped)
    assert set(dumped["turns"][0]) == {"ref", "role", "speaker", "time", "text"}
    assert dumped["turns"][0]["time"] == "2024-03-04T18:30:00"
    assert {"model", "model_calls", "prompt_tokens", "completion_tokens", "accepted", "refused", "seconds"} == set(
        dumped["usage"]
    )


def test_unknown_schema_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown schema"):
        extract(conversation("I live in Porto."), "diary")


def test_conversation_without_turns_gives_nothing() -> None:
    found = extract(Conversation())
    assert (found.outputs, found.skipped, found.rejected) == ((), (), ())


@pytest.mark.parametrize("schema", [s.name for s in SCHEMAS])
def test_remembering_twice_adds_nothing(tmp_path: Path, schema: str) -> None:
    store = Store(tmp_path / "a.duckdb")
    first = remember(conversation(*PAIR), store, schema, "Nora")
    before = [m.model_dump() for m in store.list(status=None)]
    second = remember(conversation(*PAIR), store, schema, "Nora")
    assert (first.turns, first.new_turns) == (8, 8)
    assert (second.turns, second.new_turns) == (8, 0)
    assert [o for o in second.operations if o.kind != "skip"] == []
    assert [m.model_dump() for m in store.list(status=None)] == before


def test_grown_conversation_adds_only_what_is_new_and_keeps_ids(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb")
    first = remember(conversation(*PAIR[:3]), store, user="Nora")
    ids = {m.id for m in store.list()}
    grown = remember(conversation(*PAIR), store, user="Nora")
    assert grown.conversation == first.conversation
    assert grown.new_turns == 5
    assert ids <= {m.id for m in store.list(status=None)}
    added = [o.memory for o in grown.operations if o.kind in ("add", "supersede") and o.memory is not None]
    assert added
    assert all(set(m.evidence) & {"E00000004", "E00000005", "E00000006"} for m in added)


def test_conversation_that_begins_alike_is_another_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb")
    remember(conversation("[Ada]: Hello!", "[Ada]: I live in Porto."), store)
    remember(conversation("[Ada]: Hello!", "[Ada]: I love pottery."), store)
    assert len(store.conversations()) == 2
    assert len(store.list()) == 2


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize(("said", "user"), CHATS.values(), ids=CHATS.keys())
def test_replay_in_parts_ends_as_one_remember(tmp_path: Path, said: tuple[str, ...], user: str | None, size: int) -> None:
    whole = remembered(tmp_path / "whole.duckdb", said, user)
    assert replayed(tmp_path / "parts.duckdb", said, [size] * len(said), user) == whole
    assert whole[0]


@pytest.mark.parametrize("schema", ["facts", "entries", "candidates"])
@pytest.mark.parametrize("name", ["two people, one is the user", "user says the name late", "corrected attribute"])
def test_replay_ends_as_one_remember_in_every_schema(tmp_path: Path, name: str, schema: str) -> None:
    said, user = CHATS[name]
    whole = remembered(tmp_path / "whole.duckdb", said, user, schema)
    assert replayed(tmp_path / "parts.duckdb", said, [1] * len(said), user, schema) == whole


@pytest.mark.parametrize("name", ["two people, one is the user", "second speaker comes late", "user says the name late"])
def test_replay_ends_alike_at_every_split(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    said, user = CHATS[name]
    whole = remembered(tmp_path_factory.mktemp("whole") / "a.duckdb", said, user)

    @effort(max_examples=6, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.integers(1, 4), min_size=1, max_size=len(said)))
    def same(sizes: list[int]) -> None:
        assert replayed(tmp_path_factory.mktemp("parts") / "a.duckdb", said, sizes, user) == whole

    same()


def test_replay_with_a_model_ends_as_one_remember(tmp_path: Path) -> None:
    whole = Store(tmp_path / "whole.duckdb")
    remember(conversation(*PAIR), whole, user="Nora", runtime=ScriptedRuntime(lambda _: "no"))
    parts = Store(tmp_path / "parts.duckdb")
    live = Extractor(parts, user="Nora", runtime=ScriptedRuntime(lambda _: "no"))
    for message in messages(PAIR):
        live.observe(message)
    assert state(parts) == state(whole)


def test_live_memories_without_a_store_are_those_of_one_extraction() -> None:
    live = Extractor(user="Nora")
    for message in messages(PAIR[:4]):
        live.observe(message)
    wanted = {o.content for o in extract(conversation(*PAIR[:4]), user="Nora").outputs}
    assert {m.text for m in live.memories} == wanted


def test_live_attribute_without_a_store_holds_its_latest_value() -> None:
    live = Extractor(user="Sam")
    for message in messages(CORRECTED):
        live.observe(message)
    places = [m for m in live.memories if m.key == "location"]
    assert len(places) == 1
    assert "Coimbra" in places[0].text


def test_live_second_speaker_turns_early_profiles_into_entities_without_a_store() -> None:
    live = Extractor()
    for message in messages(LATE_SECOND):
        live.observe(message)
    assert {m.category for m in live.memories} & {"profile", "preference"} == set()
    assert {m.text for m in live.memories} == {o.content for o in extract(conversation(*LATE_SECOND)).outputs}


def test_live_memories_with_a_store_are_those_that_hold_in_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb")
    other = store.add("Maren collects stamps.", "entity", schema="memories")
    live = Extractor(store)
    for message in messages(LATE_SECOND):
        live.observe(message)
    assert {m.id for m in live.memories} == {m.id for m in store.list()} - {other.id}
    assert {m.text for m in live.memories} == {o.content for o in extract(conversation(*LATE_SECOND)).outputs}


def test_live_changes_lead_from_one_state_to_the_next() -> None:
    live = Extractor()
    state: tuple[Any, ...] = ()
    for message in messages(REPEATED + LATE_SECOND):
        changes = live.observe(message)
        state = apply(state, changes.operations)
        assert {m.id: m for m in state if m.status == "current"} == {m.id: m for m in live.memories}
        assert changes.new_turns == 1


@pytest.mark.parametrize("stored", [True, False], ids=["with a store", "without"])
def test_live_model_is_asked_about_each_statement_once(tmp_path: Path, stored: bool) -> None:
    model = ScriptedRuntime(lambda _: "no")
    live = Extractor(Store(tmp_path / "a.duckdb") if stored else None, user="Ines", runtime=model)
    for message in messages(PADDED[:4]):
        live.observe(message)
    assert len(model.prompts) == 4


def test_live_turn_without_a_time_carries_the_clock(tmp_path: Path) -> None:
    store = Store(tmp_path / "a.duckdb")
    before = datetime.now()
    changes = Extractor(store).observe({"role": "user", "content": "I adopted a cat yesterday."})
    turn = store.turns(changes.conversation)[0]
    assert turn.time is not None
    assert before <= turn.time <= datetime.now()
    assert store.list()[0].when == (turn.time.date() - timedelta(days=1)).isoformat()


def test_live_turn_keeps_the_time_and_name_it_has() -> None:
    changes = Extractor().observe(
        {"role": "user", "content": "I adopted a cat yesterday.", "name": "Mila", "time": "2024-03-04T18:30:00"}
    )
    turn = changes.extraction.document.turns[0]
    assert (turn.speaker, turn.time) == ("Mila", START)


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "user"},
        {"role": "user", "content": 7},
        {"role": "robot", "content": "Hello"},
        {"role": "user", "content": "Hello", "time": "next Tuesday"},
        {"role": "user", "content": "Hello", "time": 7},
    ],
    ids=["no content", "content is a number", "unknown role", "impossible time", "time is a number"],
)
def test_live_turn_that_is_none_is_a_usage_error(turn: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        Extractor().observe(turn)
    assert caught.value.hint


PADDED = tuple(
    f"[Ines]: I actually bought a {thing} for my {room} with {friend} yesterday."
    for thing, room, friend in (
        ("lamp", "kitchen", "Rui"),
        ("carpet", "hall", "Clara"),
        ("mirror", "bathroom", "Tomas"),
        ("desk", "study", "Rui"),
        ("clock", "office", "Clara"),
        ("vase", "parlour", "Tomas"),
        ("sofa", "attic", "Rui"),
        ("shelf", "cellar", "Clara"),
        ("stool", "garden", "Tomas"),
        ("bench", "balcony", "Rui"),
        ("kettle", "boat", "Clara"),
        ("blanket", "cabin", "Tomas"),
    )
)


def test_cancelled_remember_keeps_what_was_committed_and_goes_on(tmp_path: Path) -> None:
    whole = Store(tmp_path / "whole.duckdb")
    remember(conversation(*PADDED), whole, user="Ines", runtime=ScriptedRuntime(lambda _: "no"))
    store = Store(tmp_path / "parts.duckdb")
    model = ScriptedRuntime(lambda _: "no")
    asked = 0

    def cancel() -> bool:
        nonlocal asked
        asked += 1
        return len(store.conversations()) > 0 and len(store.list()) >= 1

    with pytest.raises(CancelledError):
        remember(conversation(*PADDED), store, user="Ines", runtime=model, cancel=cancel)
    assert asked > 1
    assert 0 < len(store.list()) < len(whole.list())
    remember(conversation(*PADDED), store, user="Ines", runtime=model)
    assert state(store) == state(whole)


def test_cancel_during_extract_raises() -> None:
    with pytest.raises(CancelledError):
        extract(conversation(*PAIR), cancel=lambda: True)


def test_progress_counts_up_to_the_total(tmp_path: Path) -> None:
    for call in (
        lambda moved: extract(conversation(*PADDED), user="Ines", runtime=ScriptedRuntime(lambda _: "no"), progress=moved),
        lambda moved: remember(
            conversation(*PADDED),
            Store(tmp_path / "a.duckdb"),
            user="Ines",
            runtime=ScriptedRuntime(lambda _: "no"),
            progress=moved,
        ),
        lambda moved: remember(conversation(*PAIR), Store(tmp_path / "b.duckdb"), user="Nora", progress=moved),
    ):
        seen: list[tuple[int, int]] = []
        call(lambda done, total, seen=seen: seen.append((done, total)))
        assert seen
        assert [done for done, _ in seen] == sorted({done for done, _ in seen})
        assert len({total for _, total in seen}) == 1
        assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: None, "deadline"),
        (lambda _: "well well well well", None),
        (lambda _: "{", None),
        (lambda _: '{"text": "', None),
        (lambda _: "x " * 4000, "truncated"),
    ],
    ids=["too late", "no JSON", "half JSON", "half text", "loop"],
)
def test_unusable_answers_leave_what_the_rules_said(answer: Callable[[Prompt], Scripted], reason: str | None) -> None:
    alone = extract(conversation(*PADDED[:3]), user="Ines")
    model = ScriptedRuntime(answer)
    found = extract(conversation(*PADDED[:3]), user="Ines", runtime=model)
    assert model.prompts
    assert found.outputs == alone.outputs
    assert found.usage.accepted == 0
    assert sum(found.usage.refused.values()) == found.usage.model_calls == len(model.prompts)
    assert reason is None or set(found.usage.refused) == {reason}


def test_good_wording_is_accepted_and_named() -> None:
    better = "Ines bought a lamp for their kitchen with Rui on 3 March 2024."
    model = ScriptedRuntime([{"topic": "kitchen", "text": better}])
    found = extract(conversation(PADDED[0]), user="Ines", runtime=model)
    alone = extract(conversation(PADDED[0]), user="Ines")
    assert found.outputs[0].content == better
    assert found.outputs[0].routing_key == "kitchen_20240303"
    assert {found.outputs[0].filled_by[name] for name in ("content", "abstract", "routing_key")} == {"model"}
    assert set(alone.outputs[0].filled_by.values()) == {"rules"}
    assert found.outputs[0].evidence_spans == alone.outputs[0].evidence_spans
    assert (found.usage.model, found.usage.model_calls, found.usage.accepted, found.usage.refused) == ("scripted", 1, 2, {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ines bought a lamp for their kitchen with Clara on 3 March 2024.", "text: other words than allowed"),
        ("Ines bought a lamp for their kitchen with Rui on 2 March 2024.", "text: other words than allowed"),
        ("Ines bought a lamp for their kitchen with Rui.", "number"),
        ("Ines bought a lamp for their kitchen on 3 March 2024.", "name lost"),
        ("Rui bought a lamp for their kitchen on 3 March 2024.", "subject lost"),
    ],
)
def test_wording_that_says_something_else_is_refused_with_the_reason(text: str, reason: str) -> None:
    alone = extract(conversation(PADDED[0]), user="Ines")
    model = ScriptedRuntime([{"topic": "lamp", "text": text}])
    found = extract(conversation(PADDED[0]), user="Ines", runtime=model)
    assert [o.content for o in found.outputs] == [o.content for o in alone.outputs]
    assert found.usage.refused == {reason: 1}


def test_script_that_runs_out_is_a_model_error() -> None:
    with pytest.raises(ModelError):
        extract(conversation(*PADDED), user="Ines", runtime=ScriptedRuntime([]))


def test_known_memories_may_be_mappings() -> None:
    said = "We decided that all our invoices go out on Fridays because the bank is slow on Mondays."
    fresh = extract(conversation(said), "facts")
    assert [o.operation for o in fresh.outputs] == ["add"]
    known = {"id": "k1", "text": fresh.outputs[0].text, "category": fresh.outputs[0].category}
    assert extract(conversation(said), "facts", known=[known]).outputs == ()


@pytest.mark.parametrize("missing", ["id", "text", "category"])
def test_known_memory_without_a_required_key_is_a_usage_error(missing: str) -> None:
    known = {"id": "k1", "text": "User lives in Porto.", "category": "identity"}
    known.pop(missing)
    with pytest.raises(UsageError, match=missing):
        extract(conversation("I live in Porto."), "facts", known=[known])


def test_credential_is_nowhere(tmp_path: Path) -> None:
    said = (
        f"[Ines]: Well, you know, my GitHub token is {CREDENTIAL} and I bought a lamp yesterday.",
        f"[{CREDENTIAL}]: I live in Porto.",
        *PADDED,
    )
    known = [{"id": "k1", "text": f"User's token is {CREDENTIAL}.", "category": "configuration", "schema": "facts"}]
    path = tmp_path / "a.duckdb"
    for schema in SCHEMAS:
        model = ScriptedRuntime(lambda _: "no")
        found = extract(conversation(*said), schema.name, "Ines", model, known)
        assert CREDENTIAL not in str(found.model_dump())
        assert CREDENTIAL not in str(found.document_form())
        remember(conversation(*said), Store(path), schema.name, "Ines", model)
        assert CREDENTIAL not in str([vars_of(p) for p in model.prompts])
    assert all(CREDENTIAL.encode() not in f.read_bytes() for f in tmp_path.iterdir() if f.is_file())


def vars_of(prompt: Prompt) -> tuple[Any, ...]:
    return prompt.system, prompt.examples, prompt.user


def test_credential_as_the_name_of_a_speaker_is_masked() -> None:
    talk = Conversation((Message("user", "I live in Porto.", speaker=CREDENTIAL, time=START),), START)
    assert CREDENTIAL not in str(extract(talk).model_dump())


def test_annotate_takes_up_an_earlier_document() -> None:
    before = annotate(conversation(*PAIR[:4]), user="Nora")
    again = annotate(conversation(*PAIR), user="Nora", previous=before)
    assert again == annotate(conversation(*PAIR), user="Nora")


def test_real_model_fills_fields_and_corrupts_none(runtime: LlamaCppRuntime) -> None:
    alone = extract(conversation(*PADDED[:4]), user="Ines")
    found = extract(conversation(*PADDED[:4]), user="Ines", runtime=runtime)
    assert found.usage.model_calls > 0
    assert found.usage.model == "smollm2-135m-instruct"
    assert [o.evidence for o in found.outputs] == [o.evidence for o in alone.outputs]
    assert [o.when for o in found.outputs] == [o.when for o in alone.outputs]
    assert accounted(found)
