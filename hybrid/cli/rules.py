"""`hybrid rules`: what is declared, and whether it does what its examples say."""

from __future__ import annotations

from typing import Annotated

import typer

from hybrid.cli import options
from hybrid.cli.output import as_json, note, table
from hybrid.errors import RuleError

app = typer.Typer(
    help="List the declared rules and prove them on their own examples.", no_args_is_help=True, rich_markup_mode=None
)

Stage = Annotated[str | None, typer.Option("--stage", help="Only this stage.")]


@app.command("list")
def list_(stage: Stage = None, json: options.Json = False) -> None:
    """List every declared rule with its file and languages."""
    from hybrid.proofs import STAGES
    from hybrid.rules import files

    found = [(file, rule) for name in STAGES if stage in (None, name) for file in files(name) for rule in file.rules]
    if json:
        as_json([{"id": r.id, "file": f.name, "languages": list(r.languages), "description": r.description} for f, r in found])
        return
    table(
        f"{len(found)} rules", ("id", "languages", "memory"), [[r.id, ",".join(r.languages), r.description] for _, r in found]
    )


@app.command("check")
def check(stage: Stage = None, json: options.Json = False) -> None:
    """Prove every rule on its own examples and negative examples."""
    from hybrid.proofs import STAGES, proofs

    done = [proof for name in STAGES if stage in (None, name) for proof in proofs(name)]
    failed = [proof for proof in done if not proof.passed]
    if json:
        as_json({"proofs": len(done), "failed": [{"rule": p.rule, "file": p.file, "expected": p.expected} for p in failed]})
    if failed:
        shown = "; ".join(f"{p.rule} {'misses' if p.expected else 'wrongly takes'} one of its examples" for p in failed[:5])
        raise RuleError(f"{len(failed)} of {len(done)} proofs failed: {shown}", "correct the pattern or the example")
    note(f"{len(done)} proofs passed")
