"""Search by words: own terms, kept as postings, ranked with BM25 in SQL."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import regex

from hybrid.memory import Memory
from hybrid.store.binding import TEXTS, bound

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_POSSESSIVE = regex.compile(r"(?<=\p{L})['’]s\b")
_CONTRACTED = regex.compile(r"(?<=\p{L})['’](?=\p{L})")
# Scripts that put no blanks between words, and Hangul, whose particles stick to them.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]+")

# Function words and question words of English; "may" and "will" stay, they are a month and a name.
_STOPWORDS = frozenset(
    word
    for line in (
        "a about am an and any are as at be been being but by can could did do does doing dont didnt doesnt for from had has",
        "have having he her hers him his how i if in into is isnt it its me my of on or our ours she should so some than that",
        "now currently today the their theirs them then there these they this those to too us was wasnt we were",
        "what whats when where which who",
        "whom whose why whos with would you your yours tell",
    )
    for word in line.split()
)

# Not from the calendar module, whose names follow the process's locale.
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

# How much one occurrence counts, by where it stands.
_WEIGHTS = {"text": 1.0, "subject": 0.5, "key": 0.5, "quote": 0.4, "speaker": 0.25, "category": 0.25, "date": 0.5}

_K1 = 1.2
_B = 0.6
_NAME_BOOST = 0.3

_RANKED = """
WITH scope AS (SELECT m.id, m.position, m.length, m.subject_key FROM memories m WHERE {where}),
stats AS (SELECT count(*) AS total, greatest(avg(length), 1) AS mean FROM scope),
found AS (
    SELECT p.term, p.memory_id, p.frequency, s.length, s.position, s.subject_key
    FROM postings p JOIN scope s ON s.id = p.memory_id
    WHERE p.term IN {terms}
),
spread AS (SELECT term, count(*) AS memories FROM found GROUP BY term),
parts AS (
    SELECT f.memory_id, f.position, f.subject_key, f.term,
        ln(1 + (stats.total - spread.memories + 0.5) / (spread.memories + 0.5))
        * f.frequency * (? + 1) / (f.frequency + ? * (1 - ? + ? * f.length / stats.mean)) AS part
    FROM found f JOIN spread USING (term) CROSS JOIN stats
)
SELECT memory_id, sum(part) AS base, coalesce(list_contains(from_json(?, '["VARCHAR"]'), subject_key), false) AS named,
    list(term ORDER BY part DESC, term), list(part ORDER BY part DESC, term), subject_key
FROM parts GROUP BY memory_id, position, subject_key
ORDER BY base * (CASE WHEN named THEN 1 + ? ELSE 1 END) DESC, position
LIMIT ?
"""


def folded(text: str) -> str:
    """Return the text for comparison: NFKC, case folded, Latin, Greek and Cyrillic letters without accents."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    # Marks of other scripts are vowels, not accents.
    return unicodedata.normalize("NFC", regex.sub(r"[\u0300-\u036f]+", "", plain))


def words(text: str) -> list[str]:
    """Return the words of a text, folded, with stopwords, not stemmed."""
    return [match.group() for match in _WORD.finditer(_CONTRACTED.sub("", _POSSESSIVE.sub("", folded(text))))]


def index_terms(text: str) -> list[str]:
    """Return the terms under which a text is found, with repetitions; unspaced scripts give characters and their pairs."""
    return [term for word in words(text) for term in _terms(word, single=True)]


def query_terms(query: str) -> list[str]:
    """Return the terms of a query, each once; stopwords and question words are dropped."""
    return list(dict.fromkeys(term for word in words(query) for term in _terms(word, single=False)))


def frequencies(memory: Memory) -> dict[str, float]:
    """Return the terms of a memory with their weighted frequencies."""
    parts = {
        "text": memory.text,
        "subject": memory.subject or "",
        "key": memory.key,
        "quote": memory.quote,
        "speaker": memory.speaker or "",
        "category": memory.category,
        "date": " ".join(_date_words(memory)),
    }
    counted: dict[str, float] = {}
    for name, text in parts.items():
        for term in index_terms(text):
            counted[term] = counted.get(term, 0.0) + _WEIGHTS[name]
    return counted


def ranked(
    connection: DuckDBPyConnection, query: str, k: int, where: str, values: Sequence[Any]
) -> list[tuple[str, float, dict[str, float]]]:
    """Return (memory id, score, term → contribution) of the best memories among those that `where` admits.

    A memory about somebody whom the query names gets a boost, which `why` shows as `about <name>`.
    """
    terms = query_terms(query)
    if not terms or k <= 0:
        return []
    names = _named(connection, query, where, values)
    rows = connection.execute(
        _RANKED.format(where=where, terms=TEXTS), [*values, bound(terms), _K1, _K1, _B, _B, bound(names), _NAME_BOOST, k]
    ).fetchall()
    return [_explained(row, names) for row in rows]


def _explained(row: tuple[Any, ...], names: dict[str, str]) -> tuple[str, float, dict[str, float]]:
    memory_id, base, named, terms, parts = row[:5]
    why = {str(term): round(float(part), 6) for term, part in zip(terms, parts, strict=True)}
    if named:
        why["about " + names[row[5]]] = round(float(base) * _NAME_BOOST, 6)
    return str(memory_id), sum(why.values()), why


def _named(connection: DuckDBPyConnection, query: str, where: str, values: Sequence[Any]) -> dict[str, str]:
    rows = connection.execute(
        f"SELECT m.subject_key, min(m.subject) FROM memories m WHERE m.subject_key <> '' AND {where} GROUP BY m.subject_key",
        list(values),
    ).fetchall()
    asked = f" {' '.join(words(query))} "
    return {str(key): str(name) for key, name in rows if f" {' '.join(words(key))} " in asked}


def _terms(word: str, *, single: bool) -> Iterator[str]:
    start = 0
    for match in _UNSPACED.finditer(word):
        yield from _spaced(word[start : match.start()])
        yield from _pairs(match.group(), single=single)
        start = match.end()
    yield from _spaced(word[start:])


def _spaced(word: str) -> Iterator[str]:
    if word and word not in _STOPWORDS:
        yield _stem(word)


def _pairs(run: str, *, single: bool) -> Iterator[str]:
    if single or len(run) == 1:
        yield from run
    yield from (run[i : i + 2] for i in range(len(run) - 1))


@functools.lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha():
        return word
    import snowballstemmer

    # A stemmer keeps the word it works on, so threads cannot share one.
    return str(snowballstemmer.stemmer("english").stemWord(word))


def _date_words(memory: Memory) -> Iterator[str]:
    for end in dict.fromkeys(d for d in (memory.first, memory.last) if d is not None):
        yield from (_MONTHS[end.month - 1], str(end.year))
    if memory.first is not None and memory.last is not None and _same_day(memory.first, memory.last):
        yield from (str(memory.first.day), _WEEKDAYS[memory.first.weekday()])


def _same_day(first: date, last: date) -> bool:
    return (first.year, first.month, first.day) == (last.year, last.month, last.day)
