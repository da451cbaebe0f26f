"""Say who speaks: split messages into turns of one speaker, name the user, tell the language of each turn."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Document, Turn, reference
from hybrid.memory import name_key
from hybrid.stages.speakers.language import detect
from hybrid.stages.speakers.splitting import Voices, split

__all__ = ["anchor", "detect", "run", "same_person", "split"]


def run(document: Document, settings: Settings) -> Document:
    """Fill turns, participants, user, aliases, language and languages.

    A turn's text is the message's text from `start` on, without the mark that names the speaker; blank parts give no turn.
    A turn without a time of its own has the conversation's.
    """
    conversation = document.conversation
    voices = Voices.of(conversation)
    turns: list[Turn] = []
    for index, message in enumerate(conversation.turns):
        time = message.time or conversation.session_time
        for part in split(message, voices, lines=conversation.format != "plain"):
            ref = reference(len(turns) + 1)
            text = message.text[part.start : part.end]
            turns.append(Turn(ref, part.role, part.speaker, time, text, index, part.start, message.session))
    language, languages = detect(turns, settings.language)
    participants = _participants(turns)
    return replace(
        document,
        turns=tuple(turns),
        participants=participants,
        user=anchor(turns, participants, settings),
        aliases=settings.aliases,
        language=language,
        languages=languages,
        notes=(*document.notes, *_notes(languages)),
    )


def anchor(turns: Iterable[Turn], participants: tuple[str, ...], settings: Settings) -> str | None:
    """Return the name of the user: the participant who was named, else the only person who speaks, else None.

    A name that no participant has stands as it was given; then the turns without a name are the user's.
    """
    wanted = [name for name in (settings.user, *settings.aliases) if name and name.strip()]
    for name in wanted:
        for participant in participants:
            if same_person(name, participant):
                return participant
    if settings.user and settings.user.strip():
        return settings.user
    unnamed = any(turn.role == "user" and turn.speaker is None for turn in turns)
    return participants[0] if len(participants) == 1 and not unnamed else None


def same_person(one: str, other: str) -> bool:
    """Say whether two names are the same as a whole; names of nothing but emoji are compared as they are."""
    left, right = name_key(one), name_key(other)
    if left or right:
        return left == right
    return unicodedata.normalize("NFKC", one).strip() == unicodedata.normalize("NFKC", other).strip()


def _participants(turns: Iterable[Turn]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for turn in turns:
        if turn.role == "user" and turn.speaker:
            found.setdefault(name_key(turn.speaker) or turn.speaker, turn.speaker)
    return tuple(found.values())


def _notes(languages: Iterable[str]) -> tuple[str, ...]:
    known = set(rules.languages("cues"))
    unknown = Counter(code for code in languages if code not in known)
    return tuple(f"language {code}: no cues; nothing is extracted from {count} turns" for code, count in unknown.items())
