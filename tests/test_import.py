"""`import hybrid`: light, complete, and honest about what it does not have."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

import hybrid

HEAVY = ("spacy", "dateparser", "llama_cpp", "detect_secrets", "duckdb", "jinja2", "mcp", "typer", "rich", "pydantic", "yaml")
CONTRACT = {
    "annotate", "extract", "remember", "Extractor", "Store", "Settings", "read", "find_dates", "find_secrets", "load_runtime",
    "ScriptedRuntime",
}  # fmt: skip


def test_import_loads_nothing_heavy() -> None:
    code = "import hybrid, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    modules = json.loads(done.stdout)
    assert [name for name in HEAVY if name in modules] == []
    assert done.stderr == ""


def test_import_takes_less_than_half_a_second() -> None:
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import hybrid"], check=True, timeout=30)
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.5


def test_public_names_are_sorted_and_hold_the_contract() -> None:
    assert hybrid.__all__ == sorted(hybrid.__all__)
    assert set(hybrid.__all__) >= CONTRACT
    assert dir(hybrid) == sorted([*hybrid.__all__, "__version__"])


@pytest.mark.parametrize("name", hybrid.__all__)
def test_public_name_can_be_had_and_says_what_it_is(name: str) -> None:
    value = getattr(hybrid, name)
    assert value.__doc__
    assert value.__name__ == name


def test_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from hybrid import *", names)
    assert set(hybrid.__all__) <= set(names)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'dream'"):
        _ = hybrid.dream
    assert not hasattr(hybrid, "dream")
