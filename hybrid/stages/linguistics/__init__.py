"""Turn spaCy's reading of each turn into frozen sentences, tokens and mentions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Document, Mention, Sentence, Turn
from hybrid.stages.linguistics.parsing import parsed
from hybrid.stages.linguistics.quoting import quotations

__all__ = ["run"]


def run(document: Document, settings: Settings) -> Document:
    """Return the document with the sentences and mentions of every turn.

    Turns of a language without a pipeline are cut at line ends and sentence marks, without tokens. Sentences that the
    document holds already stay where they cover the turn's text as it is: a conversation that grows is not parsed again.
    """
    sentences: list[Sentence] = []
    mentions: list[Mention] = []
    read = _read_before(document)
    pieces = tuple(piece for piece in _pieces(document) if piece.turn.ref not in read)
    for piece, (found, named) in zip(pieces, parsed(tuple((p.text, p.language) for p in pieces)), strict=True):
        sentences.extend(_moved(sentence, piece) for sentence in found)
        for mention in named:
            place = replace(mention, ref=piece.turn.ref, start=mention.start + piece.offset, end=mention.end + piece.offset)
            mentions.append(place)
    sentences.extend(s for s in document.sentences if s.ref in read)
    mentions.extend(m for m in document.mentions if m.ref in read)
    mentions.extend(_participants(document))
    mentions.extend(_introduced(document))
    ordered = tuple(sorted(sentences, key=lambda s: (s.ref, s.start)))
    return replace(document, sentences=ordered, mentions=_distinct(mentions))


@dataclass(frozen=True, slots=True)
class Piece:
    """Hold what is parsed on its own: a turn's text, or the words that it quotes from somebody (`voice`)."""

    turn: Turn
    text: str
    offset: int
    language: str
    voice: str | None = None


def _read_before(document: Document) -> frozenset[str]:
    """Return the references of the turns whose sentences are there already."""
    by_ref: dict[str, list[Sentence]] = {}
    for sentence in document.sentences:
        by_ref.setdefault(sentence.ref, []).append(sentence)
    turns = {turn.ref: turn for turn in document.turns}
    return frozenset(ref for ref, found in by_ref.items() if ref in turns and _covers(found, turns[ref].text))


def _covers(sentences: list[Sentence], text: str) -> bool:
    ends = max(s.end for s in sentences) >= len(text.rstrip("\"'”’») \n\t"))
    return ends and all(text[s.start : s.end] == s.text for s in sentences)


def _pieces(document: Document) -> Iterable[Piece]:
    for turn, language in zip(document.turns, document.languages, strict=True):
        if turn.role not in ("user", "assistant"):
            continue
        quoted = quotations(turn.text, language)
        text = turn.text
        for quote in quoted:
            end = min(len(text), quote.end + 1)
            text = text[: quote.opening] + " " * (end - quote.opening) + text[end:]
        yield Piece(turn, text, 0, language)
        for quote in quoted:
            yield Piece(turn, turn.text[quote.start : quote.end], quote.start, language, quote.name)


def _moved(sentence: Sentence, piece: Piece) -> Sentence:
    offset = piece.offset
    tokens = (
        tuple(replace(t, start=t.start + offset, end=t.end + offset) for t in sentence.tokens) if offset else sentence.tokens
    )
    start, end = sentence.start + offset, sentence.end + offset
    text = piece.turn.text[start:end]
    return replace(sentence, ref=piece.turn.ref, start=start, end=end, text=text, tokens=tokens, voice=piece.voice)


def _introduced(document: Document) -> Iterable[Mention]:
    """Find names that the text itself introduces: "my sister Amaia", "a dog called Rufus"."""
    for turn, language in zip(document.turns, document.languages, strict=True):
        for rule in rules.load("mentions", language).rules if language in rules.languages("mentions") else ():
            for match in rule.pattern.finditer(turn.text):
                start, end = match.span("name")
                yield Mention(turn.ref, start, end, match.group("name"), str(rule.values["type"]))


def _participants(document: Document) -> Iterable[Mention]:
    """Find the participants' own names: the parser's entities miss a third of them."""
    names = [name for name in (*document.participants, *document.aliases) if name]
    for turn in document.turns:
        for name in names:
            start = turn.text.find(name)
            while start >= 0:
                end = start + len(name)
                inside = turn.text[max(0, start - 1) : start].isalnum() or turn.text[end : end + 1].isalnum()
                if not inside:
                    yield Mention(turn.ref, start, end, name, "person")
                start = turn.text.find(name, end)


def _distinct(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Keep one mention a place, participants before entities, and drop words that are no names."""
    stop = {word.casefold() for word in rules.load("linguistics").vocabulary["not_names"]}
    chosen: dict[tuple[str, int], Mention] = {}
    for mention in mentions:
        if mention.text.casefold() in stop or not any(c.isalnum() for c in mention.text):
            continue
        chosen[mention.ref, mention.start] = mention
    return tuple(sorted(chosen.values(), key=lambda m: (m.ref, m.start)))
