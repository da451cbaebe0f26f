"""Options that several commands share, and what they mean."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybrid.cli.output import note
from hybrid.config import Settings
from hybrid.data import Conversation
from hybrid.errors import InputError, ModelError, UsageError

if TYPE_CHECKING:
    from hybrid.runtime.runtime import Runtime
    from hybrid.store import Store

_CODE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Schema = Annotated[str, typer.Option("--schema", help="memories, facts, entries or candidates.")]
User = Annotated[str | None, typer.Option("--user", help="The participant who is the user.")]
Alias = Annotated[list[str] | None, typer.Option("--alias", help="Another name of the user; may be given several times.")]
SessionTime = Annotated[str | None, typer.Option("--session-time", help="A date, a date-time, or now.")]
Format = Annotated[str, typer.Option("--format", help="auto, plain, messages, jsonl or locomo.")]
Model = Annotated[str, typer.Option("--model", help="auto, default, none, an id or the path of a GGUF file.")]
Language = Annotated[str, typer.Option("--language", help="auto or a language code.")]
Db = Annotated[str | None, typer.Option("--db", help="The database file.")]


def settings(user: str | None, aliases: list[str] | None, language: str, schema: str, db: str | None = None) -> Settings:
    """Return the settings with what was given on the command line."""
    if language != "auto" and _CODE.fullmatch(language) is None:
        raise UsageError(f"{language!r} is no language code", "allowed: auto, or a code such as en, de or pt-BR")
    given = tuple(aliases) if aliases else None
    return Settings.load(user=user, aliases=given, language=language, schema=schema, db=db)


def conversation(file: str, format: str, session_time: str | None) -> Conversation:
    """Read a conversation from a file, or from standard input where the file is `-`."""
    from hybrid.readers import read, read_text
    from hybrid.readers.decoding import decode

    if file == "-":
        return read_text(decode(sys.stdin.buffer.read()), format, session_time, source="stdin")
    return read(file, format=format, session_time=session_time)


def runtime(model: str) -> Runtime | None:
    """Return the runtime that `--model` asks for; `auto` falls back to rules alone and says so."""
    if model == "none":
        return None
    from hybrid.runtime import load_runtime

    if model in ("auto", "default"):
        try:
            return load_runtime()
        except ModelError as error:
            if model == "default":
                raise
            note(f"rules alone: {error.message} ({error.hint})")
            return None
    return load_runtime(model)


def store(db: str | None) -> Store:
    """Open the database that `--db`, `HYBRID_DB` or the settings name."""
    from hybrid.store import Store

    return Store(Settings.load(db=db).db_path())


def existing(path: str | None) -> list[Mapping[str, Any]]:
    """Read known memories, one JSON object a line. Raises InputError naming the line."""
    if path is None:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {type(error).__name__}", "give a file of JSON Lines in UTF-8") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{path} line {number} column {error.colno} is not JSON", "one object a line") from error
        if not isinstance(value, Mapping):
            raise UsageError(f"{path} line {number} is no object", "each line needs id, text and category")
        found.append(value)
    return found


def empty_note(turns: int, outputs: int, skipped: Mapping[str, int]) -> None:
    """Say on stderr why nothing came out."""
    if outputs:
        return
    if not turns:
        note("nothing extracted: the conversation is empty")
        return
    reasons = ", ".join(f"{count} x {reason}" for reason, count in sorted(skipped.items(), key=lambda item: -item[1])[:4])
    note(f"nothing extracted from {turns} turn{'s' if turns != 1 else ''}: {reasons or 'every candidate was rejected'}")
