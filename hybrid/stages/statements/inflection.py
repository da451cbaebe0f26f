"""Inflect English verbs for a subject in the third person."""

from __future__ import annotations

import functools
import warnings

_IRREGULAR = {
    "am": "is",
    "'m": " is",
    "m": " is",
    "are": "is",
    "'re": " is",
    "have": "has",
    "'ve": " has",
    "ve": " has",
    "do": "does",
    "'ll": " will",
    "wan": "wants ",
    "gon": "going ",
    "wanna": "wants to",
    "gotta": "has to",
}
_PLURAL = {
    "am": "are",
    "'m": " are",
    "m": " are",
    "was": "were",
    "'ve": " have",
    "'ll": " will",
    "'re": " are",
    "wan": "want ",
    "wanna": "want to",
    "gotta": "have to",
    "gon": "going ",
}
_UNCHANGED = {
    "was",
    "were",
    "had",
    "did",
    "will",
    "would",
    "can",
    "could",
    "should",
    "might",
    "may",
    "must",
    "shall",
    "ca",
    "wo",
    "'d",
}


@functools.lru_cache(maxsize=4096)
def singular(verb: str, finite: bool = True) -> str:
    """Return the finite verb for a singular third person: go → goes, am → is, 'm → " is"; a past form stays."""
    word = verb.casefold().replace("’", "'")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _UNCHANGED or not finite or not word.isalpha():
        return verb
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lemminflect import getInflection

        forms = getInflection(word, "VBZ")
    return str(forms[0]) if forms else verb


def plural(verb: str) -> str:
    """Return the finite verb for "they": am → are, was → were; any other stays."""
    return _PLURAL.get(verb.casefold().replace("’", "'"), verb)


def article(noun: str) -> str:
    """Return the indefinite article for an English noun phrase."""
    word = noun.casefold()
    if word.startswith(("uni", "use", "eu", "one")):
        return "a"
    return "an" if word[:1] in "aeiou" or word.startswith(("hour", "honest", "heir")) else "a"
