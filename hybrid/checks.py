"""What every output and every word of the model must pass; a failed check is a reason."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from hybrid import rules
from hybrid.data import Document, Rejection, Statement
from hybrid.memory import normalized

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_COVERAGE = 0.85
_MAX_RATIO = 1.25


def refusal(proposal: str, statement: Statement) -> str | None:
    """Say why the model's wording of a statement must not replace the rules' wording; None where it may.

    Compared with the rules' text and the words of the evidence: nothing may be added, no name, number, date, negation or
    intention lost, the subject must stay.
    """
    text, draft = proposal.strip(), statement.text
    if not text:
        return "empty"
    if normalized(text) == normalized(draft):
        return "unchanged"
    if len(text) > len(draft) * _MAX_RATIO + 20:
        return "too long"
    tests = (
        (_loops(text), "loop"),
        (normalized(statement.subject) not in normalized(text), "subject lost"),
        (bool(_words(text) & _listed("first")), "first person"),
        (_numbers(text) != _numbers(draft), "number"),
        (not _names(text) <= _names(draft) | _names(statement.quote), "name not in the evidence"),
        (not _names(draft, inner=True) <= _names(text) | {w.casefold() for w in text.split()}, "name lost"),
        (_count(text, "negation") != _count(draft, "negation"), "negation"),
        (bool(_count(text, "intention")) != bool(_count(draft, "intention")), "modality"),
        (not _grounded(text, draft, statement.quote), "word not in the evidence"),
        (_coverage(text, draft) < _COVERAGE, "detail lost"),
        (not text.rstrip().endswith((".", "!", "?", ")", '"')), "cut off"),
    )
    return next((reason for failed, reason in tests if failed), None)


def check_quote(output: object, document: Document) -> Rejection | None:
    """Refuse an output whose quote does not stand in the turns it cites."""
    quote = getattr(output, "evidence_quote", None)
    refs: tuple[str, ...] = getattr(output, "evidence", ())
    if quote is None or any(quote in document.turn(ref).text for ref in refs):
        return None
    return Rejection("quote not in the cited turn", refs, quote[:200])


def check_evidence(output: object, document: Document) -> Rejection | None:
    """Refuse an output without evidence or with a reference that was never issued."""
    refs: tuple[str, ...] = getattr(output, "evidence", ())
    issued = {turn.ref for turn in document.turns}
    return None if refs and set(refs) <= issued else Rejection("no evidence", refs)


def grounded_share(text: str, sources: Iterable[str]) -> float:
    """Return the share of names and numbers in a text that occur in the sources, 1 where there are none."""
    claimed = _names(text, inner=True) | _numbers(text)
    words = {w.casefold() for source in sources for w in _WORD.findall(source)}
    return sum(word in words for word in claimed) / len(claimed) if claimed else 1.0


def _words(text: str) -> set[str]:
    return {word.casefold().replace("’", "'") for word in _WORD.findall(text)}


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,:]\d+)*", text))


def _names(text: str, inner: bool = False) -> set[str]:
    """Return the capitalised words; `inner` leaves out the first word of the text."""
    found = [m for m in _WORD.finditer(text) if m.group(0)[0].isupper()]
    return {m.group(0).casefold().removesuffix("'s").removesuffix("’s") for m in found if not (inner and m.start() == 0)}


def _count(text: str, listed: str) -> int:
    words = [w.casefold().replace("’", "'") for w in _WORD.findall(text)]
    return sum(word in _listed(listed) or (listed == "negation" and word.endswith("n't")) for word in words)


def _grounded(text: str, draft: str, quote: str) -> bool:
    allowed = {_stem(w) for w in _words(draft) | _words(quote)} | {_stem(w) for w in _listed("function")}
    return all(_stem(word) in allowed for word in _words(text))


def _coverage(text: str, draft: str) -> float:
    content = {_stem(w) for w in _words(draft) - _listed("function") - _listed("droppable")}
    return len(content & {_stem(w) for w in _words(text)}) / len(content) if content else 1.0


def _loops(text: str) -> bool:
    words = text.casefold().split()
    triples = [tuple(words[i : i + 3]) for i in range(len(words) - 2)]
    return len(triples) - len(set(triples)) >= 2


def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("’s")
    for ending in ("ing", "ies", "ed", "es", "s", "n't"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e")


@functools.lru_cache(maxsize=8)
def _listed(name: str) -> frozenset[str]:
    return frozenset(rules.load("checks", "en").vocabulary[name])
