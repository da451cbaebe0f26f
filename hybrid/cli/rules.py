"""`hybrid rules`: what is declared, and whether it does what its examples say."""

from __future__ import annotations

from typing import Annotated

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, note, table
from hybrid.errors import RuleError, UsageError

app = typer.Typer(
    help="List the declared rules and prove them on their own examples.", no_args_is_help=True, rich_markup_mode=None
)

Stage = Annotated[str | None, typer.Option("--stage", help="Only this stage.")]


@app.command("list")
def list_(stage: Stage = None, json: options.Json = False) -> None:
    """List every declared rule with its file and languages."""
    from hybrid.rules import files

    found = [(file, rule) for name in _stages(stage) for file in files(name) for rule in file.rules]
    if json:
        as_json([{"id": r.id, "file": f.name, "languages": list(r.languages), "description": r.description} for f, r in found])
        return
    table(
        f"{len(found)} rules",
        ("id", "languages", "description"),
        [[r.id, ",".join(r.languages), r.description] for _, r in found],
    )


@app.command("check")
def check(stage: Stage = None, json: options.Json = False) -> None:
    """Prove every rule on its own examples and negative examples."""
    from hybrid.proofs import proofs

    done = [proof for name in _stages(stage) for proof in proofs(name)]
    failed = [proof for proof in done if not proof.passed]
    if failed:
        shown = "; ".join(f"{p.rule} {'misses' if p.expected else 'wrongly takes'} one of its examples" for p in failed[:5])
        raise RuleError(f"{len(failed)} of {len(done)} proofs failed: {shown}", "correct the pattern or the example")
    as_json({"proofs": len(done), "failed": []}) if json else note(f"{len(done)} proofs passed")


def _stages(wanted: str | None) -> tuple[str, ...]:
    from hybrid.proofs import STAGES

    if wanted is not None and wanted not in STAGES:
        raise UsageError(f"unknown stage {wanted!r}", f"allowed: {', '.join(STAGES)}")
    return STAGES if wanted is None else (wanted,)
