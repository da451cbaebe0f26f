"""Turn spaCy's reading of each turn into frozen sentences, tokens and mentions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Document, Mention, Sentence, Turn
from hybrid.stages.linguistics.parsing import parsed
from hybrid.stages.linguistics.quoting import quotations

__all__ = ["run"]


def run(document: Document, settings: Settings) -> Document:  # noqa: ARG001 - every stage has this shape
    """Return the document with the sentences and mentions of every turn.

    Turns of a language without a pipeline are cut at line ends and sentence marks, without tokens.
    """
    sentences: list[Sentence] = []
    mentions: list[Mention] = []
    for piece, (found, named) in zip(
        pieces := tuple(_pieces(document)), parsed(tuple((p[1], p[3]) for p in pieces)), strict=True
    ):
        turn, _, offset, _, voice = piece
        for sentence in found:
            sentences.append(_moved(sentence, turn, offset, voice))
        for mention in named:
            mentions.append(replace(mention, ref=turn.ref, start=mention.start + offset, end=mention.end + offset))
    mentions.extend(_participants(document))
    return replace(document, sentences=tuple(sentences), mentions=_distinct(mentions))


def _pieces(document: Document) -> Iterable[tuple[Turn, str, int, str, str | None]]:
    """Cut each turn into what is parsed on its own: its text, and the words that it quotes from somebody."""
    for turn, language in zip(document.turns, document.languages, strict=True):
        if turn.role not in ("user", "assistant"):
            continue
        quoted = quotations(turn.text, language)
        text = turn.text
        for quote in quoted:
            text = text[: quote.start] + " " * (quote.end - quote.start) + text[quote.end :]
        yield turn, text, 0, language, None
        for quote in quoted:
            yield turn, turn.text[quote.start : quote.end], quote.start, language, quote.text


def _moved(sentence: Sentence, turn: Turn, offset: int, voice: str | None) -> Sentence:
    tokens = tuple(replace(t, start=t.start + offset, end=t.end + offset) for t in sentence.tokens) if offset else sentence.tokens
    return replace(
        sentence,
        ref=turn.ref,
        start=sentence.start + offset,
        end=sentence.end + offset,
        text=turn.text[sentence.start + offset : sentence.end + offset],
        tokens=tokens,
        voice=voice,
    )


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
