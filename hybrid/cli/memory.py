"""`hybrid memory`: look at, change, move and remove what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, memories, note, table
from hybrid.data import to_json
from hybrid.errors import UsageError

app = typer.Typer(help="Look at, change, move and remove what is kept.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(help="The memory's id.")]
Category = Annotated[str | None, typer.Option("--category", help="Only this category.")]
OneSchema = Annotated[str | None, typer.Option("--schema", help="Only this schema.")]
Subject = Annotated[str | None, typer.Option("--subject", help="Only this person or thing.")]


@app.command("add")
def add(
    text: Annotated[str, typer.Argument(help="The memory, a self-contained statement.")],
    category: Annotated[str, typer.Option("--category", help="Its category.")],
    schema: Annotated[str, typer.Option("--schema", help="Its schema.")] = "facts",
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Keep a text as a memory of its own; merging belongs to remember."""
    kept = options.store(db).add(text, category, schema=schema)
    as_json(kept.model_dump()) if json else typer.echo(kept.id)


@app.command("get")
def get(id: Id, db: options.Db = None, json: options.Json = False) -> None:
    """Return one memory with its evidence."""
    store = options.store(db)
    memory = store.get(id)
    if json:
        as_json(memory.model_dump())
        return
    rows = [[name, str(value)] for name, value in memory.model_dump().items() if value not in (None, "", [], {})]
    rows.extend(["evidence", f"{e['ref']} {e.get('speaker') or ''}: {e.get('text') or ''}"] for e in store.evidence(id))
    table(memory.id, ("field", "value"), rows)


@app.command("list")
def list_(
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="At most so many.")] = None,
    schema: OneSchema = None,
    category: Category = None,
    subject: Subject = None,
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """List the memories that hold, oldest first."""
    found = options.store(db).list(limit, schema=schema, category=category, subject=subject)
    as_json([m.model_dump() for m in found]) if json else memories(found, f"{len(found)} memories")
    if not found:
        note("no memories")


@app.command("search")
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="At most so many hits.")] = 10,
    schema: OneSchema = None,
    category: Category = None,
    subject: Subject = None,
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Find memories by their words, the best first."""
    found = options.store(db).search(query, k, schema=schema, category=category, subject=subject)
    as_json([hit.model_dump() for hit in found]) if json else memories(found, f"{len(found)} hits")
    if not found:
        note("no hits")


@app.command("update")
def update(
    id: Id,
    text: Annotated[str, typer.Argument(help="The new text.")],
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Replace the text of a memory and keep the old one in its history."""
    changed = options.store(db).update(id, text)
    as_json(changed.model_dump()) if json else typer.echo(changed.id)


@app.command("delete")
def delete(id: Id, db: options.Db = None, json: options.Json = False) -> None:
    """Take a memory out of list and search; its history stays until it is forgotten."""
    gone = options.store(db).delete(id)
    as_json(gone.model_dump()) if json else typer.echo(gone.id)


@app.command("forget")
def forget(
    id: Annotated[str | None, typer.Argument(help="The memory's id.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help="A whole conversation.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All that is kept.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Remove memories for good, and write the file anew so that no byte of them is left."""
    count = options.store(db).forget(id, conversation=conversation, everything=everything, dry_run=dry_run)
    as_json({"forgotten": count, "dry_run": dry_run}) if json else typer.echo(f"{count} {'would go' if dry_run else 'gone'}")


@app.command("history")
def history(id: Id, db: options.Db = None, json: options.Json = False) -> None:
    """List what happened to a memory, with the reasons."""
    steps = options.store(db).history(id)
    if json:
        as_json(to_json(steps))
        return
    table(id, ("at", "operation", "reason"), [[str(s["at"]), str(s["operation"]), str(s["reason"] or "")] for s in steps])


@app.command("export")
def export(
    path: Annotated[str, typer.Argument(help="The file to write; - writes to standard output.")],
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Write every memory with its history as JSON Lines."""
    if path == "-":
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "export.jsonl"
            options.store(db).export(target)
            typer.echo(target.read_text(encoding="utf-8"), nl=False)
        return
    count = options.store(db).export(path)
    as_json({"exported": count, "path": path}) if json else note(f"{count} memories written to {path}")


@app.command("import")
def import_(
    path: Annotated[str, typer.Argument(help="A file that export wrote.")],
    db: options.Db = None,
    json: options.Json = False,
) -> None:
    """Take in what export wrote; doing it twice changes nothing."""
    if path == "-":
        raise UsageError("import needs a file", "save the lines to a file first")
    count = options.store(db).import_(path)
    as_json({"imported": count}) if json else note(f"{count} memories taken in")
