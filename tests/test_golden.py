"""Situations in, outputs out: `tests/golden/<schema>/<situation>.yaml` (see the README there)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hybrid.api import Extraction, extract
from hybrid.config import Settings
from hybrid.data import Conversation
from hybrid.readers import read_text
from hybrid.runtime.llamacpp import LlamaCppRuntime

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.yaml"))


def _case(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def _conversation(case: dict[str, Any]) -> Conversation:
    said = case["conversation"]
    session = case.get("session_time")
    time = str(session) if session is not None else None
    if isinstance(said, str):
        return read_text(said, "plain", time)
    return read_text(yaml_to_json(said), "messages", time)


def yaml_to_json(messages: list[dict[str, Any]]) -> str:
    import json

    return json.dumps(messages, default=str, ensure_ascii=False)


def _extract(path: Path, runtime: Any) -> tuple[dict[str, Any], Extraction]:
    case = _case(path)
    schema = path.parent.name
    settings = Settings(user=case.get("user"))
    return case, extract(_conversation(case), schema, runtime=runtime, known=case.get("known") or (), settings=settings)


def _text_fits(wanted: dict[str, Any], value: str) -> bool:
    lowered = value.casefold()
    return (
        all(str(w).casefold() in lowered for w in wanted.get("has", ()))
        and not any(str(w).casefold() in lowered for w in wanted.get("lacks", ()))
        and all(any(str(w).casefold() in lowered for w in group) for group in wanted.get("any", ()))
    )


def _fits(wanted: dict[str, Any], output: dict[str, Any]) -> bool:
    for name, expected in wanted.items():
        value = output.get(name)
        if isinstance(expected, dict) and {"min", "max"} & set(expected):
            number = -1.0 if value is None else float(value)
            if not expected.get("min", number) <= number <= expected.get("max", number):
                return False
        elif isinstance(expected, dict):
            if not _text_fits(expected, "" if value is None else str(value)):
                return False
        elif expected is None or isinstance(expected, bool):
            if value is not expected:
                return False
        elif isinstance(value, (list, tuple)):
            if list(value) != list(expected):
                return False
        elif str(value) != str(expected):
            return False
    return True


def faults(case: dict[str, Any], found: Extraction) -> list[str]:
    """Return what a situation asks for and the extraction does not give."""
    outputs = [o.model_dump(mode="json") for o in found.outputs]
    left = list(outputs)
    wrong = []
    for wanted in case.get("expect") or ():
        match = next((o for o in left if _fits(wanted, o)), None)
        if match is None:
            wrong.append(f"missing {wanted}")
        else:
            left.remove(match)
    wrong.extend(f"forbidden {banned}" for banned in case.get("forbid") or () if any(_fits(banned, o) for o in outputs))
    if case.get("allow_others") is False and left:
        wrong.append(f"{len(left)} outputs too many: {[o.get('content') or o.get('text') or o.get('claim') for o in left]}")
    reasons = {s.reason for s in found.skipped}
    wrong.extend(f"no skip {reason}" for reason in case.get("skipped") or () if reason not in reasons)
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_situation_comes_out_right_by_rules_alone(path: Path) -> None:
    case, found = _extract(path, None)
    assert faults(case, found) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_situation_is_no_worse_with_the_model(path: Path, runtime: LlamaCppRuntime) -> None:
    case, found = _extract(path, runtime)
    assert faults(case, found) == []


def test_every_schema_has_golden_situations() -> None:
    counts = {schema: sum(p.parent.name == schema for p in FILES) for schema in ("memories", "facts", "entries", "candidates")}
    assert counts["memories"] >= 25
    assert min(counts["facts"], counts["entries"], counts["candidates"]) >= 5
