from __future__ import annotations

import pytest

from hybrid.store import Store
from hybrid.store.search import index_terms, query_terms

MEMORIES = [
    ("pottery", "Ines signed up for a pottery class.", {"subject": "Ines", "when": "2023-07-03", "category": "event"}),
    ("camping", "Ines went camping in the mountains with her children.", {"subject": "Ines", "when": "2023-06-10/2023-06-11"}),
    ("race", "Rui ran a charity race for mental health.", {"subject": "Rui", "when": "2023-05-20", "category": "event"}),
    ("violin", "Rui plays the violin and the clarinet.", {"subject": "Rui", "category": "profile"}),
    ("painting", "Ines painted a sunrise over the lake in 2022.", {"subject": "Ines", "when": "2022"}),
    (
        "adoption",
        "Rui is researching adoption agencies.",
        {"subject": "Rui", "quote": "I've been looking at places to adopt from"},
    ),
    ("cafe", "Zoë opened a café near the Straße der Künste.", {"subject": "Zoë"}),
    (
        "editor",
        "Zoë prefers the dark theme in her editor.",
        {"subject": "Zoë", "key": "editor/theme", "category": "preference"},
    ),
    ("cjk", "小林先生住在京都附近的山里。", {"subject": "小林"}),
    ("anatol", "Anatol collects stamps.", {"subject": "Anatol"}),
    ("ana", "Ana collects coins, and Anatol knows it.", {"subject": "Ana"}),
    ("russian", "Ольга живёт в Казани.", {"subject": "Ольга"}),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("search") / "memories.duckdb")
    for memory_id, text, values in MEMORIES:
        store.add(text, values.pop("category", "entity"), id=memory_id, **values)
    return store


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("When did Ines sign up for a pottery class?", "pottery"),
        ("Where did Ines go camping?", "camping"),
        ("who has been running a race for charity", "race"),
        ("Which instruments does Rui play?", "violin"),
        ("musical violins", "violin"),
        ("When did Ines paint a sunrise?", "painting"),
        ("adopt", "adoption"),
        ("places Rui looked at", "adoption"),
        ("cafe", "cafe"),
        ("CAFÉS", "cafe"),
        ("strasse kunste", "cafe"),
        ("ｃａｆé", "cafe"),
        ("zoe's editor", "editor"),
        ("theme preference", "editor"),
        ("What happened in May 2023?", "race"),
        ("Ines in July", "pottery"),
        ("on a Saturday for Rui", "race"),
        ("京都", "cjk"),
        ("住在京都", "cjk"),
        ("山", "cjk"),
        ("What does Ana collect?", "ana"),
        ("What does Anatol collect?", "anatol"),
        ("казани", "russian"),
    ],
)
def test_the_best_hit_is_the_memory_that_was_meant(filled: Store, query: str, best: str) -> None:
    hits = filled.search(query)
    assert hits
    assert hits[0].id == best
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize(
    "query", ["", "  ", "?!", "who is it", "What did she do with them?", "🐢", "' OR '1'='1", "zzz", "; --"]
)
def test_a_query_without_content_words_finds_nothing(filled: Store, query: str) -> None:
    assert [hit.id for hit in filled.search(query)] == []


def test_why_adds_up_to_the_score_and_names_the_person(filled: Store) -> None:
    hit = filled.search("What instruments does Rui play?")[0]
    assert set(hit.why) == {"rui", "play", "about Rui"}
    assert hit.score == pytest.approx(sum(hit.why.values()))
    assert all(part > 0 for part in hit.why.values())
    assert set(filled.search("violin")[0].why) == {"violin"}


def test_k_limits_and_filters_narrow(filled: Store) -> None:
    assert len(filled.search("Ines", 2)) == 2
    assert filled.search("Ines", 0) == []
    assert [hit.id for hit in filled.search("Ines Rui race", category="event")] == ["race", "pottery"]
    assert [hit.id for hit in filled.search("collects", subject="ANA")] == ["ana"]


def test_a_changed_memory_is_found_by_its_new_words_alone(store: Store) -> None:
    store.add("Rui sails.", "habit", id="m1")
    store.update("m1", "Rui rows.")
    assert store.search("sails") == []
    assert [hit.id for hit in store.search("rowing")] == ["m1"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The dogs' running, don't stop!", ["dog", "run", "stop"]),
        ("Ines's Café", ["ine", "cafe"]),
        ("what who WHERE", []),
        ("v1.5 in 2023", ["v1", "5", "2023"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("山", ["山"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("snake_case", ["snake", "case"]),
        ("play playing plays", ["play"]),
    ],
)
def test_query_terms_are_folded_stemmed_and_single(text: str, terms: list[str]) -> None:
    assert query_terms(text) == terms


def test_unspaced_scripts_are_indexed_by_characters_and_pairs() -> None:
    assert index_terms("京都に住む") == ["京", "都", "に", "住", "む", "京都", "都に", "に住", "住む"]
