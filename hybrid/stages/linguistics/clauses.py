"""Cut a sentence into its main clauses, where each says something of its own: one fact, one clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hybrid.data import Token

_SUBJECTS = ("nsubj", "nsubjpass")
_FIRST = {"i", "we"}
_OWNERS = {"my", "our"}
_LINKS = {"and", ",", ";", "but", "-", "–", "—"}


def clauses(tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], ...]:
    """Return the main clauses of a sentence in order, the sentence itself where it is one.

    Only clauses with a subject of their own are cut, joined by "and", a comma or the like. Two clauses in the past stay
    together: they tell one happening.
    """
    whole = tokens
    root = next((i for i, t in enumerate(tokens) if t.dep == "ROOT"), None)
    if root is None or len(tokens) < 6:
        return (whole,)
    tokens = _repaired(tokens, root)
    heads = [root, *_joined(tokens, root)]
    ranges = [(_extent(tokens, head, set(heads)), head) for head in heads]
    ordered = sorted(ranges)
    if any(a[0][1] >= b[0][0] for a, b in pairwise(ordered)):
        return (whole,)
    cuts = [0]
    for (before, first), (after, second) in pairwise(ordered):
        link = {t.text.casefold() for t in tokens[before[1] + 1 : after[0]]} | {tokens[after[0]].text.casefold()}
        if link & _LINKS and not (_past(tokens, first) and _past(tokens, second)):
            cuts.append(after[0])
    pieces = [tokens[start:end] for start, end in zip(cuts, [*cuts[1:], len(tokens)], strict=True)]
    if len(pieces) == 1 or not all(any(t.pos in ("VERB", "AUX") for t in piece) for piece in pieces):
        return (whole,)
    return tuple(_own(piece, start) for piece, start in zip(pieces, cuts, strict=True))


def leading(tokens: Sequence[Token], root: int) -> int:
    """Return the verb of the clause that opens a sentence: the root, or what the parser hangs on it before a dash or comma."""
    for i, token in enumerate(tokens[:root]):
        hung = token.head == root and token.dep in ("ccomp", "parataxis") and token.pos in ("VERB", "AUX")
        if hung and _has_subject(tokens, i) and _comma_between(tokens, i, root):
            return i
    return root


def _repaired(tokens: tuple[Token, ...], root: int) -> tuple[Token, ...]:
    """Return the tokens with "most mornings I swim, …" read as a clause of its own, not as an attribute of the mornings."""
    for i, token in enumerate(tokens[:root]):
        time = token.head
        opens = token.dep == "relcl" and tokens[time].dep in ("npadvmod", "dep") and tokens[time].head == root
        if opens and _has_subject(tokens, i) and _comma_between(tokens, i, root):
            made = list(tokens)
            made[i] = replace(token, head=root, dep="ccomp")
            made[time] = replace(tokens[time], head=i)
            return tuple(made)
    return tokens


def _joined(tokens: Sequence[Token], head: int) -> list[int]:
    found = []
    for i, token in enumerate(tokens):
        linked = token.head == head and i != head and token.pos in ("VERB", "AUX")
        if linked and token.dep in ("conj", "ccomp", "parataxis") and _has_subject(tokens, i):
            # A clause the speaker thinks or says stays inside; one that merely stands before a comma is cut.
            if token.dep == "ccomp" and (i > head or not _comma_between(tokens, i, head)):
                continue
            found.append(i)
        if linked and token.dep == "conj":
            found.extend(_joined(tokens, i))
    return found


def _has_subject(tokens: Sequence[Token], verb: int) -> bool:
    for i, token in enumerate(tokens):
        if token.head == verb and token.dep in _SUBJECTS:
            owned = any(t.head == i and t.text.casefold() in _OWNERS for t in tokens)
            return token.text.casefold() in _FIRST or owned
    return False


def _comma_between(tokens: Sequence[Token], left: int, right: int) -> bool:
    return any(t.text in (",", ";", "-", "–", "—", ":", "...", "…") for t in tokens[left:right])


def _extent(tokens: Sequence[Token], head: int, others: set[int]) -> tuple[int, int]:
    """Return the first and last token of what hangs on a head, other clauses left out."""
    inside = {head}
    grown = True
    while grown:
        new = {
            i
            for i, t in enumerate(tokens)
            if t.head in inside and i not in inside and i not in others - {head} and t.dep not in ("cc", "punct")
        }
        grown = bool(new)
        inside |= new
    return min(inside), max(inside)


def _past(tokens: Sequence[Token], verb: int) -> bool:
    finite = next((t for t in tokens if t.head == verb and t.dep in ("aux", "auxpass")), tokens[verb])
    return finite.tag == "VBD" or finite.text.casefold() in ("did", "had", "was", "were")


def _own(piece: tuple[Token, ...], offset: int) -> tuple[Token, ...]:
    """Return the tokens of a clause with heads counted from its start; what hangs outside becomes a root."""
    while piece and piece[-1].text.casefold() in ("and", "but", ",", ";", "-", "–", "—"):
        piece = piece[:-1]
    size = len(piece)
    made = []
    for i, token in enumerate(piece):
        head = token.head - offset
        inside = 0 <= head < size and token.dep != "ROOT"
        verb = token.pos in ("VERB", "AUX") and (token.dep in ("conj", "ccomp", "parataxis", "ROOT"))
        if inside:
            made.append(replace(token, head=head))
        else:
            made.append(replace(token, head=i, dep="ROOT" if verb or token.dep == "ROOT" else "dep"))
    if not any(t.dep == "ROOT" for t in made) and made:
        first = next((i for i, t in enumerate(made) if t.head == i and t.pos in ("VERB", "AUX")), 0)
        made[first] = replace(made[first], head=first, dep="ROOT")
    return tuple(made)
