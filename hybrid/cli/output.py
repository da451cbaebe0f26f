"""Print data on stdout and everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from hybrid.memory import Memory

# Columns of running text get the room that the others leave.
_WIDE = ("memory", "text", "description", "reason", "path", "value")


def as_json(value: Any) -> None:
    """Print one JSON value."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None, allow_nan=False))


def note(text: str) -> None:
    """Print a line for people."""
    typer.echo(text, err=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: drawn on a terminal, tab-separated in a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo("\t".join(cell.replace("\n", " ").replace("\t", " ") for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title, show_lines=False, expand=True)
    for number, name in enumerate(columns):
        drawn.add_column(name, overflow="fold", ratio=4 if name in _WIDE else None, no_wrap=number == 0)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def memories(found: Sequence[Any], title: str) -> None:
    """Print memories with their dates, speakers and evidence."""
    rows = [_row(getattr(item, "memory", item), getattr(item, "score", None)) for item in found]
    table(title, ("id", "category", "when", "who", "memory", "evidence"), rows)


def _row(memory: Memory, score: float | None) -> list[str]:
    mark = f" ({score:.2f})" if score is not None else ""
    people = str(memory.fields.get("who") or memory.subject or "")
    return [memory.id[:13], f"{memory.category}{mark}", memory.when or "", people, memory.text, " ".join(memory.evidence)]


@contextmanager
def progress(label: str, wanted: bool = True) -> Iterator[Any]:
    """Show a progress bar on stderr while work goes on; give the function that moves it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def moved(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield moved
