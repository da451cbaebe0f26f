"""The demo shows, with the default model, what a newcomer comes for: memories, dates, speakers, evidence, who filled what."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CALL = (ROOT / "examples" / "sunday-call.txt").read_text(encoding="utf-8")
_PLANTED = re.search(r"password is (\S+?)\.?$", CALL, re.MULTILINE)


@pytest.fixture(scope="module")
def shown(gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """Run the demo once; wide enough that no cell is folded."""
    database = tmp_path_factory.mktemp("demo") / "memories.duckdb"
    environment = {**os.environ, "COLUMNS": "400", "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1", "TERM": "dumb"}
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--db", str(database)]
    done = subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", env=environment, timeout=300, cwd=database.parent
    )
    assert done.returncode == 0, done.stderr
    assert database.is_file()
    return done


@pytest.fixture(scope="module")
def rows(shown: subprocess.CompletedProcess[str]) -> list[list[str]]:
    """Return the cells of the table: category, when, who, memory, evidence, filled by the model."""
    lines = [line for line in shown.stdout.splitlines() if line.startswith(("│", "|"))]
    return [[cell.strip() for cell in re.split("[│|]", line)[1:-1]] for line in lines]


def test_demo_counts_the_memories_it_shows(shown: subprocess.CompletedProcess[str], rows: list[list[str]]) -> None:
    counted = re.search(r"(\d+) memories of (\d+) turns", shown.stdout)
    assert counted is not None
    assert int(counted.group(1)) == len(rows) >= 8
    assert int(counted.group(2)) == CALL.count("\n[") + 1
    assert all(len(row) == 6 and row[0] and row[3] for row in rows)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("new job", "2024-05-17"),
        ("Pamplona", "2024-03-01/2024-03-31"),
        ("night train", "2024-06-14"),
    ],
)
def test_demo_dates_what_was_said_of_a_day(rows: list[list[str]], words: str, when: str) -> None:
    found = [row[1] for row in rows if words in row[3]]
    assert found
    assert all(cell.startswith(when) for cell in found)


def test_demo_names_speaker_and_evidence_of_each_memory(rows: list[list[str]]) -> None:
    turns = [line.split("]:")[0].strip("[") for line in CALL.splitlines() if line.startswith("[")]
    for row in rows:
        cited = re.fullmatch(r"(Maren|Iker): ((?:E\d{8} ?)+)", row[4])
        assert cited is not None, row[4]
        references = [int(ref[1:]) for ref in cited.group(2).split()]
        assert turns[references[0] - 1] == cited.group(1)
        assert all(1 <= number <= len(turns) for number in references)


def test_demo_speaks_of_people_by_their_names(rows: list[list[str]]) -> None:
    texts = " ".join(row[3] for row in rows)
    assert {"Maren", "Iker", "Amaia"} <= set(re.findall(r"\w+", texts))
    assert not re.search(r"\b(?:I|I'm|my|User)\b", texts)


def test_demo_shows_that_the_model_filled_fields(shown: subprocess.CompletedProcess[str], rows: list[list[str]]) -> None:
    counts = re.search(
        r"model smollm2-135m-instruct: (\d+) calls, (\d+) prompt tokens, (\d+) written, [\d.]+ s\s+"
        r"accepted (\d+) proposals; refused \{.*\}",
        shown.stdout,
    )
    assert counts is not None
    assert all(int(number) > 0 for number in counts.groups())
    assert any(row[5] not in ("", "-") for row in rows)


def test_demo_answers_questions_from_the_store(shown: subprocess.CompletedProcess[str]) -> None:
    answers = dict(re.findall(r"^(.+\?) -> (.+)$", shown.stdout, re.MULTILINE))
    assert "Pamplona" in answers["Where did Amaia move?"]
    assert "14 June 2024" in answers["When does the night train leave?"]


def test_demo_never_shows_the_planted_password(shown: subprocess.CompletedProcess[str]) -> None:
    assert _PLANTED is not None
    password = _PLANTED.group(1)
    assert len(password) > 8
    for part in (password, *password.split("-")[:2]):
        assert part not in shown.stdout + shown.stderr


def test_demo_says_nothing_on_standard_error(shown: subprocess.CompletedProcess[str]) -> None:
    assert shown.stderr == ""
