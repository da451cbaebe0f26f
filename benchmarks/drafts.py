"""Measure the memories that rules alone make of LoCoMo conversations, beside every turn taken as a memory.

    python benchmarks/drafts.py [FOLDER] [--only conv-26] [--show 50 --seed 7]

FOLDER holds `locomo_dev.json.gz`, `locomo_qa.jsonl.gz`, `locomo_observations.jsonl.gz` and `locomo_dates.jsonl.gz`.

- evidence recalled: share of the evidence turns of questions (categories 1–4, corrected where an audit did) a memory cites
- precision: share of memories that cite a turn which an observation or such a question cites (the events cite no turns)
- similarity: F1 of the word sets of an observation and the best abstract or content of a memory citing one of its turns, else 0
- wrong speaker: share of memories whose speaker is not the speaker of a cited turn
- other subject: of memories on observed turns, the share that first names a speaker whom no observation there first names
- grounded: share of proper nouns and numbers that occur in the cited turns, speakers' names or resolved dates
- duplicates: share of memories that say what an earlier one of the conversation says (word sets equal by nine tenths)
- dated right: of questions whose answer is a date that does not hold the session's day, the share with a memory on the evidence
  turn whose `when` lies in the answer
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import hybrid
from hybrid.data import Document
from hybrid.readers import read_text

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_START = re.compile(r"(?:^|[.!?:]['\"”)]*\s+|[\n\"“(]\s*)$")


@dataclass(frozen=True, slots=True)
class Item:
    """Hold what is measured of one memory: its texts, cited turns (dia ids), speaker and time."""

    texts: tuple[str, ...]
    cited: frozenset[str]
    speaker: str
    when: str | None
    allowed: frozenset[str]


@dataclass(slots=True)
class Tally:
    """Add up the counts over conversations."""

    turns: int = 0
    memories: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    similarity: list[float] = field(default_factory=list)

    def share(self, part: str, whole: str) -> str:
        """Return the share of two counts in per cent."""
        total = self.counts[whole]
        return f"{100 * self.counts[part] / total:.1f} %" if total else "-"


@dataclass(frozen=True, slots=True)
class Gold:
    """Hold what the corpus says about one conversation, by dia id."""

    evidence: tuple[str, ...]
    observations: tuple[dict[str, Any], ...]
    dates: tuple[dict[str, Any], ...]
    speaker: dict[str, str]
    text: dict[str, str]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def messages(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a sample in the order of its sessions."""
    said = sample["conversation"]
    names = sorted((k for k in said if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k.split("_")[1]))
    return [message for name in names for message in said[name]]


def gold_of(folder: Path, sample: dict[str, Any]) -> Gold:
    """Return the gold of one sample, with the evidence corrected where an audit did."""
    name = sample["sample_id"]
    said = messages(sample)
    speaker = {m["dia_id"]: m["speaker"] for m in said}
    asked = [q for q in lines(folder / "locomo_qa.jsonl.gz") if q["sample_id"] == name and q["category"] in (1, 2, 3, 4)]
    return Gold(
        tuple(ref for q in asked for ref in q["audit_evidence"] or q["evidence"] if ref in speaker),
        tuple(o for o in lines(folder / "locomo_observations.jsonl.gz") if o["sample_id"] == name),
        tuple(d for d in lines(folder / "locomo_dates.jsonl.gz") if d["sample_id"] == name),
        speaker,
        {m["dia_id"]: m.get("text", "") for m in said},
    )


def words(text: str) -> list[str]:
    """Return the words and numbers of a text, lower-cased."""
    return re.findall(r"\w+", text.lower())


def overlap(left: str, right: str) -> float:
    """Return the F1 of the word sets of two texts."""
    a, b = set(words(left)), set(words(right))
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def claims(text: str) -> set[str]:
    """Return the numbers and the capitalised words inside sentences, lower-cased."""
    found = set()
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s$", "", match.group(0))
        capital = word[0].isupper() and words(word)[0] != "i"
        if word[0].isdigit() or (capital and not _START.search(text[: match.start()])):
            found.update(words(word))
    return found


def spelled(days: Iterable[date | None]) -> Iterator[str]:
    """Yield the words by which days are written: year, month, day, weekday."""
    for day in days:
        if day is not None:
            yield from f"{day:%Y} {day:%B} {day:%b} {day:%m} {day:%d} {day.day} {day:%A}".lower().split()


def items(document: Document, outputs: Iterable[Any], order: list[str]) -> list[Item]:
    """Return what is measured of outputs; turns are mapped to dia ids by the order of the messages."""
    days: dict[str, list[date | None]] = {}
    for found in document.dates:
        days.setdefault(found.ref or "", []).extend((found.first, found.last))
    made = []
    for output in outputs:
        turns = [document.turn(ref) for ref in output.evidence]
        near: list[date | None] = [turn.time for turn in turns]
        near += [day for turn in turns for day in days.get(turn.ref, ())]
        near += [date.fromisoformat(day) for day in re.findall(r"\d{4}-\d\d-\d\d", output.when or "")]
        made.append(
            Item(
                (output.abstract, output.content),
                frozenset(order[turn.message] for turn in turns),
                output.attributed_speaker or "",
                output.when,
                frozenset(spelled(near)),
            )
        )
    return made


def raw(gold: Gold) -> list[Item]:
    """Return the baseline: every turn, as it was said, with its speaker's name in front, is a memory."""
    return [
        Item((f"{gold.speaker[ref]}: {text}",), frozenset((ref,)), gold.speaker[ref], None, frozenset())
        for ref, text in gold.text.items()
    ]


def first_named(text: str, names: set[str]) -> str | None:
    """Return the speaker whom a text names first."""
    return next((word for word in words(text) if word in names), None)


def inside(when: str | None, wanted: dict[str, Any]) -> bool:
    """Say whether a closed date or interval lies in the range of an answer."""
    days = re.findall(r"\d{4}-\d\d-\d\d", when or "")
    return bool(days) and ".." not in (when or "") and wanted["start"] <= days[0] and days[-1] <= wanted["end"]


def measure(tally: Tally, found: list[Item], gold: Gold) -> None:
    """Add the counts of one conversation to the tally."""
    names = {name.lower().split()[0] for name in gold.speaker.values()}
    by_turn: dict[str, list[Item]] = {}
    for item in found:
        for ref in item.cited:
            by_turn.setdefault(ref, []).append(item)
    observed: dict[str, list[str]] = {}
    for observation in gold.observations:
        for ref in observation["dia_ids"]:
            observed.setdefault(ref, []).append(observation["fact"])
    wanted = set(gold.evidence)
    count = tally.counts
    tally.turns += len(gold.text)
    tally.memories += len(found)
    count["evidence"] += len(wanted)
    count["recalled"] += sum(ref in by_turn for ref in wanted)
    for item in found:
        count["memories"] += 1
        count["useful"] += any(ref in wanted or ref in observed for ref in item.cited)
        count["wrong speaker"] += item.speaker.lower() not in {gold.speaker[ref].lower() for ref in item.cited}
        subjects = {first_named(fact, names) for ref in item.cited for fact in observed.get(ref, ())} - {None}
        own = first_named(item.texts[-1], names)
        if subjects and own:
            count["subject known"] += 1
            count["other subject"] += own not in subjects
        source = set(words(" ".join(gold.text[ref] for ref in item.cited))) | names | item.allowed
        said = claims(item.texts[-1])
        count["claims"] += len(said)
        count["grounded"] += len(said & source)
    count["duplicates"] += duplicates(found)
    for observation in gold.observations:
        texts = [text for ref in observation["dia_ids"] for item in by_turn.get(ref, ()) for text in item.texts]
        tally.similarity.append(max((overlap(observation["fact"], text) for text in texts), default=0.0))
    for answer in gold.dates:
        turns = [e for e in answer["evidence"] if not answer["start"] <= e["reference"][:10] <= answer["end"]]
        if turns and len(turns) == len(answer["evidence"]):
            count["dates"] += 1
            count["dated"] += any(inside(item.when, answer) for e in turns for item in by_turn.get(e["dia_id"], ()))


def duplicates(found: list[Item]) -> int:
    """Count the memories whose words are, by nine tenths, those of an earlier one."""
    seen: list[frozenset[str]] = []
    repeated = 0
    for item in found:
        own = frozenset(words(item.texts[-1]))
        repeated += any(10 * len(own & other) >= 9 * len(own | other) for other in seen if own)
        seen.append(own)
    return repeated


def table(columns: dict[str, Tally]) -> None:
    """Print the figures, a column each."""
    rows = {
        "memories per turn": [f"{t.memories / max(1, t.turns):.2f}" for t in columns.values()],
        "question evidence recalled": [t.share("recalled", "evidence") for t in columns.values()],
        "evidence precision": [t.share("useful", "memories") for t in columns.values()],
        "fact similarity": [f"{sum(t.similarity) / max(1, len(t.similarity)):.3f}" for t in columns.values()],
        "wrong speaker": [t.share("wrong speaker", "memories") for t in columns.values()],
        "other subject": [t.share("other subject", "subject known") for t in columns.values()],
        "names and numbers grounded": [t.share("grounded", "claims") for t in columns.values()],
        "duplicates": [t.share("duplicates", "memories") for t in columns.values()],
        "dated right": [t.share("dated", "dates") for t in columns.values()],
        "turns per second": [f"{t.turns / t.seconds:.0f}" if t.seconds else "-" for t in columns.values()],
    }
    print(f"{'':30}" + "".join(f"{name:>14}" for name in columns))
    for name, values in rows.items():
        print(f"{name:30}" + "".join(f"{value:>14}" for value in values))


def main() -> None:
    """Run the rules over the conversations and print the table."""
    parser = argparse.ArgumentParser(description="Measure the memories that rules alone make of LoCoMo conversations.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("../shared/data/locomo"))
    parser.add_argument("--only", help="measure one sample")
    parser.add_argument("--show", type=int, default=0, help="print so many memories drawn at random")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    if not (arguments.folder / "locomo_dev.json.gz").is_file():
        parser.error(f"{arguments.folder} holds no locomo_dev.json.gz")
    with gzip.open(arguments.folder / "locomo_dev.json.gz", "rt", encoding="utf-8") as file:
        samples = [s for s in json.load(file) if arguments.only in (None, s["sample_id"])]
    hybrid.extract(read_text("[Ada]: I moved to Turin yesterday.", "plain", "2024-05-02"))  # loads the parser
    rules, turns = Tally(), Tally()
    drawn: list[tuple[str, Any, str]] = []
    for sample in samples:
        gold = gold_of(arguments.folder, sample)
        conversation = read_text(json.dumps(sample), "locomo")
        started = time.perf_counter()
        extraction = hybrid.extract(conversation, schema="memories", runtime=None)
        rules.seconds += time.perf_counter() - started
        measure(rules, items(extraction.document, extraction.outputs, list(gold.text)), gold)
        measure(turns, raw(gold), gold)
        drawn += [(sample["sample_id"], o, extraction.document.turn(o.evidence[0]).text) for o in extraction.outputs]
    table({"rules": rules, "raw turns": turns})
    for name, output, text in random.Random(arguments.seed).sample(drawn, min(arguments.show, len(drawn))):
        print(f"\n{name} {output.category}/{output.routing_key} when={output.when} who={output.who}")
        print(f"  {output.content}\n  < {text}")


if __name__ == "__main__":
    main()
