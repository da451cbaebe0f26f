"""Tell the language of each turn: by its script, then by its letters, and by the whole conversation where both are weak."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import regex

from hybrid import rules
from hybrid.data import Turn

UNKNOWN = "und"
_LATIN = ("en", "de", "es", "fr", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "ro", "hu", "tr", "id", "vi", "ca")
_SCRIPTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"[\p{Hiragana}\p{Katakana}]", ("ja",)),
    (r"\p{Han}", ("zh",)),
    (r"\p{Hangul}", ("ko",)),
    (r"\p{Arabic}", ("ar", "fa", "ur")),
    (r"\p{Cyrillic}", ("ru", "uk", "bg", "sr", "be")),
    (r"\p{Devanagari}", ("hi", "mr", "ne")),
    (r"\p{Hebrew}", ("he",)),
    (r"\p{Greek}", ("el",)),
    (r"\p{Thai}", ("th",)),
    (r"\p{Bengali}", ("bn",)),
    (r"\p{Tamil}", ("ta",)),
    (r"\p{Georgian}", ("ka",)),
    (r"\p{Armenian}", ("hy",)),
)
_DENSE = frozenset({"ja", "zh", "ko"})
_LETTERS_ENOUGH = 12
_SURE = 0.5
_LIKELY = 0.3
_SAMPLE = 4_000
_LETTER = regex.compile(r"\p{Latin}")
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’]\p{L}+)?")


def detect(turns: Sequence[Turn], wanted: str = "auto") -> tuple[str | None, tuple[str, ...]]:
    """Return the language of the conversation and one code for each turn; `und` where nothing tells it.

    The conversation's language is the one with the most letters among the user's turns; turns that are short, or of which
    two languages may be true, have it too. A `wanted` code other than `auto` is every turn's.
    """
    if wanted != "auto":
        code = wanted.strip().casefold().replace("_", "-").split("-")[0]
        return code, (code,) * len(turns)
    if not turns:
        return None, ()
    own = [_of(turn.text[:_SAMPLE]) for turn in turns]
    spoken = [n for n, turn in enumerate(turns) if turn.role == "user"] or list(range(len(turns)))
    main = _commonest(turns, own, spoken) or _together(turns, spoken)
    latin = main if main in _LATIN else _latin(turns, own)
    return main, tuple(code or (latin if _LETTER.search(turn.text) else main) for turn, code in zip(turns, own, strict=True))


def _commonest(turns: Sequence[Turn], own: Sequence[str | None], among: Sequence[int]) -> str | None:
    letters: Counter[str] = Counter()
    for n in among:
        if (shown := own[n]) is not None:
            letters[shown] += sum(map(str.isalpha, turns[n].text))
    return letters.most_common(1)[0][0] if letters else None


def _latin(turns: Sequence[Turn], own: Sequence[str | None]) -> str:
    """Return the language of short turns in Latin letters where the conversation's is written in another script."""
    sure = _commonest(turns, own, [n for n, code in enumerate(own) if code in _LATIN])
    return sure or _together(turns, [n for n, turn in enumerate(turns) if own[n] is None and _LETTER.search(turn.text)])


def _of(text: str) -> str | None:
    """Return the language that a text shows by itself, else None."""
    count = sum(map(str.isalpha, text))
    if not count:
        return None
    candidates = _by_script(text, count)
    if len(candidates) == 1:
        return candidates[0]
    if candidates is _LATIN and count < _LETTERS_ENOUGH:
        return None
    code, probability = _identifier(candidates).classify(text)
    return str(code) if probability >= _SURE or candidates is not _LATIN else None


def _together(turns: Sequence[Turn], spoken: Sequence[int]) -> str:
    """Return the language of texts that are each too short to tell."""
    text = " ".join(turns[n].text for n in spoken)[:_SAMPLE]
    count = sum(map(str.isalpha, text))
    if not count:
        return UNKNOWN
    candidates = _by_script(text, count)
    if candidates is _LATIN and (word := _by_words(text)) is not None:
        return word
    code, probability = _identifier(candidates).classify(text)
    return str(code) if probability >= _LIKELY else UNKNOWN


def _by_words(text: str) -> str | None:
    """Return the language whose common words stand in the text most often, None where two are even."""
    said = _WORD.findall(text.casefold())
    words = {name[6:]: set(listed) for name, listed in rules.load("speakers").vocabulary.items() if name.startswith("words_")}
    (first, most), (_, second) = Counter({code: sum(w in own for w in said) for code, own in words.items()}).most_common(2)
    return first if most > second else None


def _by_script(text: str, letters: int) -> tuple[str, ...]:
    """Return the languages that are written in the script of most of the letters; one Han or Hangul letter counts for three."""
    if text.isascii():
        return _LATIN
    counts = {codes: len(pattern.findall(text)) for pattern, codes in _patterns()}
    kana, han = counts[("ja",)], counts[("zh",)]
    if kana and kana * 8 >= han:
        counts[("ja",)], counts[("zh",)] = kana + han, 0
    best = max(counts, key=lambda codes: counts[codes])
    weight = 3 if best[0] in _DENSE else 1
    others = letters - sum(counts.values())
    return best if counts[best] * weight > others and counts[best] else _LATIN


@functools.cache
def _patterns() -> tuple[tuple[regex.Pattern[str], tuple[str, ...]], ...]:
    return tuple((regex.compile(pattern), codes) for pattern, codes in _SCRIPTS)


@functools.cache
def _loaded() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@functools.cache
def _identifier(codes: tuple[str, ...]) -> Any:
    own = copy.copy(_loaded())
    own.set_languages(codes)
    return own
