"""`hybrid remember`: extract and keep."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, note, progress


def command(
    files: Annotated[list[str], typer.Argument(help="The conversations; - reads standard input.")],
    schema: options.Schema = "memories",
    user: options.User = None,
    alias: options.Alias = None,
    session_time: options.SessionTime = None,
    format: options.Format = "auto",
    model: options.Model = "auto",
    db: options.Db = None,
    language: options.Language = "auto",
    json: options.Json = False,
) -> None:
    """Extract a conversation and keep the result; the same conversation again adds nothing."""
    from hybrid.api import remember

    settings = options.settings(user, alias, language, schema, db)
    conversations = [options.conversation(file, format, session_time) for file in files]
    runtime = options.runtime(model)
    store = options.store(db)
    results: list[dict[str, Any]] = []
    for file, read in zip(files, conversations, strict=True):
        with progress(f"remember {file}") as moved:
            changes = remember(read, store, schema, runtime=runtime, settings=settings, progress=moved)
        usage = changes.extraction.usage
        results.append({"file": file, **changes.model_dump(), "usage": _plain(usage)})
        counts = ", ".join(
            f"{changes.count(k)} {k}" for k in ("add", "update", "supersede", "delete", "skip") if changes.count(k)
        )
        turns = f"{changes.turns} turns ({changes.new_turns} new)"
        note(f"{file}: {turns}: {counts or 'nothing new'}; {usage.seconds:.1f} s, model {usage.model}")
    if json:
        as_json(results)


def _plain(usage: Any) -> Any:
    from hybrid.data import to_json

    return to_json(usage)
