"""The main job on an example, with the default model: read, extract, keep, search, and say who filled what."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

import hybrid

HERE = Path(__file__).parent


def main() -> None:
    """Run the example conversation through the whole road and show the memories."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default="memories.duckdb")
    parser.add_argument("--model", default=None, help="an id or the path of a GGUF file; the default model when left out")
    arguments = parser.parse_args()
    console = Console(width=max(Console().width, 110))

    conversation = hybrid.read(HERE / "sunday-call.txt", session_time="2024-05-19T11:00")
    store = hybrid.Store(arguments.db)
    runtime = hybrid.load_runtime(arguments.model)
    changes = hybrid.remember(conversation, store, user="Maren", runtime=runtime)

    table = Table(title=f"{len(store.list())} memories of {len(conversation.turns)} turns", expand=True)
    for name in ("category", "when", "who", "memory", "evidence", "filled by the model"):
        table.add_column(name, overflow="fold", ratio=3 if name == "memory" else 1)
    for memory in store.list():
        filled = ", ".join(k for k, v in memory.fields.get("filled_by", {}).items() if v == "model") or "-"
        spoken = f"{memory.speaker}: {' '.join(memory.evidence)}"
        who = str(memory.fields.get("who") or "")
        table.add_row(*(Text(cell) for cell in (memory.category, memory.when or "", who, memory.text, spoken, filled)))
    console.print(table)

    usage = changes.extraction.usage
    console.print(
        f"model {usage.model}: {usage.model_calls} calls, {usage.prompt_tokens} prompt tokens, "
        f"{usage.completion_tokens} written, {usage.seconds:.1f} s"
    )
    console.print(f"accepted {usage.accepted} proposals; refused {dict(usage.refused)}")
    for query in ("Where did Amaia move?", "When does the night train leave?"):
        best = store.search(query, k=1)
        console.print(f"{query} -> {best[0].text if best else 'nothing'}", markup=False)


if __name__ == "__main__":
    main()
