"""`hybrid annotate`: the stages alone."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, table


def command(
    file: Annotated[str, typer.Argument(help="The conversation; - reads standard input.")],
    user: options.User = None,
    alias: options.Alias = None,
    session_time: options.SessionTime = None,
    format: options.Format = "auto",
    language: options.Language = "auto",
    json: options.Json = False,
) -> None:
    """Run the stages without a model: turns, secrets, dates, sentences, cues and statements."""
    from hybrid.api import annotate

    read = options.conversation(file, format, session_time)
    document = annotate(read, options.settings(user, alias, language, "memories"))
    if json:
        values = document.model_dump()
        for sentence in values["sentences"]:
            sentence.pop("tokens")
        as_json(values)
        return
    dates = Counter(d.ref for d in document.dates)
    cues = {c.ref: c.kind for c in document.cues}
    skipped = {s.ref: s.reason for s in document.skipped}
    rows = [
        [t.ref, t.speaker or t.role, str(dates[t.ref] or ""), cues.get(t.ref) or f"- {skipped.get(t.ref, '')}", t.text]
        for t in document.turns
    ]
    table("Turns", ("ref", "speaker", "dates", "cue", "text"), rows)
    options.empty_note(len(document.turns), len(document.statements), Counter(s.reason for s in document.skipped))
