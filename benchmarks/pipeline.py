"""Measure what a conversation costs: the stages, the model, the first memory, memory use and imports.

    python benchmarks/pipeline.py [--data FOLDER] [--sample conv-26] [--model default|none|PATH] [--sessions 3] [--json]

FOLDER holds LoCoMo's `locomo_dev.json.gz`; where it is missing the example call is measured instead. Every part runs in a
process of its own, so that no part warms another's caches or adds to its peak memory.

- stages, drafts: one pass over the whole conversation after a warm-up on another one; the median of 3 processes
- load: from the import until the warm-up text is through
- model: the first N sessions one by one (`--sessions 0`: all of them); tokens of all calls by turns and by memories
- first memory: from the start of the process, file included: turn by turn through `Extractor`, and the first commit of
  `remember` on the whole file; the median of 3 processes
- peak memory: the largest resident set that the system saw
- imports: the median of 5 processes; `--help` is the whole command, interpreter included
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid import Extraction
    from hybrid.data import Conversation
    from hybrid.runtime import LlamaCppRuntime

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sunday-call.txt"
EXAMPLE_TIME = "2024-05-19T11:00"
# Words of every kind that the stages and the model look at, and none of the conversations that are measured.
WARM_UP = (
    "[Ines]: Hi Tomasz! Well, um, you know, I kind of moved to Turin with my sister Carla last week, and I love it.\n"
    "[Tomasz]: Great! I work as a nurse at Saint Anna's now. I'm going to visit you on June 3rd, I mean, I hope so."
)
HELP = "import sys; sys.argv = ['hybrid', '--help']; from hybrid.cli import main; main()"
IMPORT = "import time; t = time.perf_counter(); import hybrid; print(time.perf_counter() - t)"


@dataclass(frozen=True, slots=True)
class Figure:
    """Hold one measured value with its unit and, where it needs one, a remark."""

    name: str
    value: float
    unit: str
    remark: str = ""

    def line(self) -> str:
        """Return the figure as a row of the table."""
        number = f"{self.value:,.0f}" if abs(self.value) >= 100 else f"{self.value:,.2f}"
        return f"{self.name:42}{number:>10} {self.unit:16} {self.remark}".rstrip()


@dataclass(frozen=True, slots=True)
class Source:
    """Name the file that is measured, and what to call it."""

    path: Path
    name: str
    time: str | None = None

    def read(self) -> Conversation:
        """Return the conversation."""
        import hybrid

        return hybrid.read(self.path, session_time=self.time)


def peak_mib() -> float:
    """Return the largest resident set of this process so far, in MiB."""
    if sys.platform == "win32":
        return _windows_peak() / 2**20
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts KiB, macOS bytes.
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _windows_peak() -> int:
    import ctypes

    class Counters(ctypes.Structure):
        """Mirror PROCESS_MEMORY_COUNTERS: two 32-bit numbers, then sizes, the peak of the working set first."""

        _fields_ = (
            ("size", ctypes.c_uint32),
            ("faults", ctypes.c_uint32),
            ("peak", ctypes.c_size_t),
            ("rest", ctypes.c_size_t * 7),
        )

    library: Any = ctypes
    kernel = library.WinDLL("kernel32", use_last_error=True)
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    asked = kernel.K32GetProcessMemoryInfo
    asked.argtypes = (ctypes.c_void_p, ctypes.POINTER(Counters), ctypes.c_uint32)
    counters = Counters(size=ctypes.sizeof(Counters))
    if not asked(kernel.GetCurrentProcess(), ctypes.byref(counters), ctypes.sizeof(Counters)):
        raise OSError("the peak of the working set cannot be read")
    return int(counters.peak)


def measure_rules(source: Source, _: argparse.Namespace) -> dict[str, float]:
    """Run each stage once over the whole conversation, then the drafts."""
    began = time.perf_counter()
    import hybrid
    from hybrid.data import Document
    from hybrid.memory import Known
    from hybrid.pipeline import STAGES
    from hybrid.readers import read_text
    from hybrid.schemas import named

    settings = hybrid.Settings()
    hybrid.extract(read_text(WARM_UP, "plain", "2024-05-02"))
    found = {"load": time.perf_counter() - began}
    before = time.perf_counter()
    document = Document(source.read())
    found["read"] = time.perf_counter() - before
    for stage in STAGES:
        before = time.perf_counter()
        document = stage.run(document, settings)
        found[stage.name] = time.perf_counter() - before
    before = time.perf_counter()
    drafts = named("memories").draft(document, Known(), settings)
    found["draft"] = time.perf_counter() - before
    return {**found, "turns": len(document.turns), "drafts": len(drafts), "peak": peak_mib()}


def sessions_of(conversation: Conversation, most: int) -> list[Conversation]:
    """Return the first sessions of a conversation, all where `most` is 0."""
    from dataclasses import replace

    names = list(dict.fromkeys(message.session for message in conversation.turns))
    parts = [tuple(m for m in conversation.turns if m.session == name) for name in names]
    times = [part[0].time or conversation.session_time for part in parts]
    made = [replace(conversation, turns=part, session_time=when) for part, when in zip(parts, times, strict=True)]
    return made[: most or None]


def loaded(model: str) -> LlamaCppRuntime:
    """Return the runtime for `default`, a manifest's id or a path."""
    import hybrid

    return hybrid.load_runtime(None if model == "default" else model)


def measure_model(source: Source, arguments: argparse.Namespace) -> dict[str, Any]:
    """Extract session after session with the model."""
    import hybrid
    from hybrid.readers import read_text

    warm = read_text(WARM_UP, "plain", "2024-05-02")
    hybrid.extract(warm)
    before = time.perf_counter()
    with loaded(arguments.model) as runtime:
        runtime.load()
        load = time.perf_counter() - before
        hybrid.extract(warm, runtime=runtime)
        runs: list[Extraction] = [
            hybrid.extract(session, runtime=runtime) for session in sessions_of(source.read(), arguments.sessions)
        ]
        return {
            "name": runtime.name,
            "load": load,
            "seconds": [run.usage.seconds for run in runs],
            "turns": [len(run.document.turns) for run in runs],
            "memories": sum(len(run.outputs) for run in runs),
            "calls": sum(run.usage.model_calls for run in runs),
            "prompt": sum(run.usage.prompt_tokens for run in runs),
            "completion": sum(run.usage.completion_tokens for run in runs),
            "accepted": sum(run.usage.accepted for run in runs),
            "refused": sum(sum(run.usage.refused.values()) for run in runs),
            "peak": peak_mib(),
        }


def measure_live(source: Source, arguments: argparse.Namespace) -> dict[str, float]:
    """Observe turn after turn until a memory is there."""
    import hybrid

    runtime = None if arguments.model == "none" else loaded(arguments.model)
    extractor = hybrid.Extractor(runtime=runtime)
    for number, message in enumerate(source.read().turns, 1):
        extractor.observe(message)
        if extractor.memories:
            return {"seconds": time.time() - arguments.started, "turns": number}
    raise SystemExit("the conversation gives no memory")


def measure_file(source: Source, arguments: argparse.Namespace) -> dict[str, float]:
    """Remember the whole file until the first commit."""
    import hybrid
    from hybrid.errors import CancelledError

    runtime = None if arguments.model == "none" else loaded(arguments.model)
    first: list[float] = []

    def committed(_done: int, _total: int) -> None:
        first.append(time.time() - arguments.started)

    # Windows keeps a file that the store may still hold open.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = hybrid.Store(Path(folder) / "memories.duckdb")
        # The rest is of no interest; the call stops before its second batch.
        with contextlib.suppress(CancelledError):
            hybrid.remember(source.read(), store, runtime=runtime, progress=committed, cancel=lambda: bool(first))
    if not first:
        raise SystemExit("the conversation gives no memory")
    return {"seconds": first[0]}


PARTS: Mapping[str, Callable[[Source, argparse.Namespace], dict[str, Any]]] = {
    "rules": measure_rules,
    "model": measure_model,
    "live": measure_live,
    "file": measure_file,
}


def child(part: str, source: Source, model: str, sessions: int) -> dict[str, Any]:
    """Measure one part in a fresh process."""
    command = [sys.executable, str(Path(__file__).resolve()), "--part", part, "--file", str(source.path)]
    command += ["--model", model, "--sessions", str(sessions)]
    command += ["--session-time", source.time] if source.time else []
    command += ["--started", repr(time.time())]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def timed(code: str, inside: bool) -> float:
    """Return the seconds that a fresh interpreter needs for some code: as the code prints them, or as a whole."""
    before = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout) if inside else time.perf_counter() - before


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(list(values))


def rules_figures(runs: list[dict[str, float]]) -> list[Figure]:
    """Return the figures of the stages and the drafts."""
    fixed = ("load", "read", "draft", "turns", "drafts", "peak")
    stages = [name for name in runs[0] if name not in fixed]
    turns, drafts = int(runs[0]["turns"]), int(runs[0]["drafts"])
    whole = median(sum(run[name] for name in stages) for run in runs)
    figures = [Figure("load, rules", median(run["load"] for run in runs), "s", "imports, parser, rule files")]
    figures.append(Figure("read", median(run["read"] for run in runs), "s"))
    figures.append(Figure("stages together", turns / whole, "turns/s", f"{turns} turns in {whole:.2f} s"))
    for name in stages:
        seconds = median(run[name] for run in runs)
        figures.append(Figure(f"  {name}", turns / max(seconds, 1e-9), "turns/s", f"{seconds / whole:.0%} of the time"))
    seconds = median(run["draft"] for run in runs)
    figures.append(Figure("drafts", drafts / max(seconds, 1e-9), "drafts/s", f"{drafts} drafts in {seconds:.3f} s"))
    return [*figures, Figure("peak memory, rules", median(run["peak"] for run in runs), "MiB")]


def model_figures(run: dict[str, Any]) -> list[Figure]:
    """Return the figures of the model."""
    turns, memories, calls = sum(run["turns"]), run["memories"], run["calls"]
    sessions = f"median of {len(run['seconds'])}; turns: {', '.join(map(str, run['turns']))}; stages included"
    figures = [
        Figure("load, model", run["load"], "s", run["name"]),
        Figure("one session with the model", median(run["seconds"]), "s", sessions),
        Figure("slowest session with the model", max(run["seconds"]), "s"),
        Figure("turns with the model", turns / sum(run["seconds"]), "turns/s", f"{turns} turns, {memories} memories"),
        Figure("model calls", calls / turns, "per turn", f"{calls} calls"),
        Figure("model calls", calls / max(1, memories), "per memory"),
    ]
    for kind in ("prompt", "completion"):
        figures.append(Figure(f"{kind} tokens", run[kind] / turns, "per turn"))
        figures.append(Figure(f"{kind} tokens", run[kind] / max(1, memories), "per memory"))
    figures.append(Figure("proposals accepted", run["accepted"], "", f"{run['refused']} refused"))
    return [*figures, Figure("peak memory, model", run["peak"], "MiB")]


def first_figures(source: Source, model: str) -> list[Figure]:
    """Return how long the first memory takes, by rules and by the model."""
    figures = []
    for name in ("none", model) if model != "none" else ("none",):
        said = "rules" if name == "none" else "model"
        live = [child("live", source, name, 0) for _ in range(3)]
        after = f"at turn {int(live[0]['turns'])}"
        figures.append(Figure(f"first memory, turn by turn, {said}", median(r["seconds"] for r in live), "s", after))
        whole = [child("file", source, name, 0) for _ in range(3)]
        figures.append(Figure(f"first memory, whole file, {said}", median(r["seconds"] for r in whole), "s"))
    return figures


def import_figures() -> list[Figure]:
    """Return how long the imports take, byte code compiled."""
    figures = []
    for name, code, inside in (("import hybrid", IMPORT, True), ("hybrid --help", HELP, False)):
        timed(code, inside)
        figures.append(Figure(name, median(timed(code, inside) for _ in range(5)), "s"))
    return figures


def chosen(arguments: argparse.Namespace, folder: Path) -> Source:
    """Return the conversation to measure: a sample of the corpus, written to a file of its own, or the example."""
    corpus = arguments.data / "locomo_dev.json.gz"
    if not corpus.is_file():
        return Source(EXAMPLE, f"{EXAMPLE.name}, for {corpus} is missing", EXAMPLE_TIME)
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        samples = {str(sample["sample_id"]): sample for sample in json.load(file)}
    if arguments.sample not in samples:
        raise SystemExit(f"no sample {arguments.sample}; allowed: {', '.join(samples)}")
    path = folder / "sample.json"
    path.write_text(json.dumps({"conversation": samples[arguments.sample]["conversation"]}), encoding="utf-8")
    return Source(path, f"LoCoMo {arguments.sample}")


def machine() -> str:
    """Say on what the figures were measured."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}{load}"


def all_figures(source: Source, arguments: argparse.Namespace) -> list[Figure]:
    """Measure every part."""
    print("imports …", file=sys.stderr)
    figures = import_figures()
    print("stages …", file=sys.stderr)
    figures += rules_figures([child("rules", source, "none", 0) for _ in range(3)])
    if arguments.model != "none":
        print("model …", file=sys.stderr)
        figures += model_figures(child("model", source, arguments.model, arguments.sessions))
    print("first memory …", file=sys.stderr)
    return figures + first_figures(source, arguments.model)


def parsed() -> argparse.Namespace:
    """Return the arguments; those without a help text are for the processes that measure one part."""
    parser = argparse.ArgumentParser(description="Measure the speed and size of the stages and the model on one conversation.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/locomo"), help="folder of locomo_dev.json.gz")
    parser.add_argument("--sample", default="conv-26", help="which conversation of it")
    parser.add_argument("--model", default="default", help="default, none, an id or the path of a GGUF file")
    parser.add_argument("--sessions", type=int, default=3, help="run the model on so many sessions; 0: on all")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--session-time", help=argparse.SUPPRESS)
    parser.add_argument("--started", type=float, default=0.0, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure every part, or as a process of its own only one."""
    arguments = parsed()
    if arguments.part:
        print(json.dumps(PARTS[arguments.part](Source(arguments.file, "", arguments.session_time), arguments)))
        return
    if arguments.model not in ("default", "none") and Path(arguments.model).exists():
        arguments.model = str(Path(arguments.model).resolve())
    with tempfile.TemporaryDirectory() as folder:
        where = machine()
        source = chosen(arguments, Path(folder))
        figures = all_figures(source, arguments)
    if arguments.json:
        print(json.dumps({"machine": where, "data": source.name, "figures": [asdict(f) for f in figures]}, indent=2))
        return
    print(f"{source.name}; {where}\n")
    print("\n".join(figure.line() for figure in figures))


if __name__ == "__main__":
    main()
