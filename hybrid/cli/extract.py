"""`hybrid extract`: a conversation in, the outputs of one schema out, nothing stored."""

from __future__ import annotations

import json as jsonlib
from collections import Counter
from typing import Annotated, Any

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, progress, table
from hybrid.errors import UsageError


def command(
    file: Annotated[str, typer.Argument(help="The conversation; - reads standard input.")],
    schema: options.Schema = "memories",
    user: options.User = None,
    alias: options.Alias = None,
    session_time: options.SessionTime = None,
    format: options.Format = "auto",
    model: options.Model = "auto",
    existing: Annotated[str | None, typer.Option("--existing", help="Known memories, one JSON object a line.")] = None,
    db: options.Db = None,
    language: options.Language = "auto",
    form: Annotated[
        str, typer.Option("--form", help="envelope, or document: what the schema's document asks for.")
    ] = "envelope",
    json: options.Json = False,
) -> None:
    """Return the outputs of a schema for a conversation."""
    from hybrid.api import extract

    if form not in ("envelope", "document"):
        raise UsageError(f"unknown form {form!r}", "allowed: envelope, document")
    settings = options.settings(user, alias, language, schema, db)
    read = options.conversation(file, format, session_time)
    known: list[Any] = list(options.existing(existing))
    if db is not None:
        known.extend(options.store(db).list(schema=schema))
    runtime = options.runtime(model)
    with progress("extract") as moved:
        found = extract(read, schema, runtime=runtime, known=known, settings=settings, progress=moved)
    if form == "document":
        typer.echo(jsonlib.dumps(found.document_form(), ensure_ascii=False))
    elif json:
        as_json(found.model_dump())
    else:
        table(
            f"{schema}: {len(found.outputs)}",
            ("category", "when", "who", "memory", "evidence"),
            [_row(o) for o in found.outputs],
        )
    options.empty_note(len(found.document.turns), len(found.outputs), Counter(s.reason for s in found.skipped))


def _row(output: Any) -> list[str]:
    kind = next(str(getattr(output, name)) for name in ("category", "type", "kind") if hasattr(output, name))
    text = next(str(getattr(output, name)) for name in ("content", "text", "claim") if hasattr(output, name))
    when = getattr(output, "when", None) or getattr(output, "expires_at", None) or ""
    return [kind, when, getattr(output, "who", None) or "", text, " ".join(output.evidence)]
