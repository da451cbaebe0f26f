"""Run the command line: in this process where its streams and exit code are enough, as the console script where not."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hybrid.cli.app import run

SCRIPT = Path(sys.executable).with_name("hybrid.exe" if sys.platform == "win32" else "hybrid")


@dataclass(frozen=True)
class Outcome:
    """Hold how a call of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return what stands on standard output, parsed."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """Return the error that stands on standard error, parsed; standard output must be empty."""
        assert self.out == ""
        told = json.loads(self.err)
        assert set(told) == {"error"}
        assert set(told["error"]) == {"type", "message", "hint"}
        assert told["error"]["hint"]
        values: dict[str, str] = told["error"]
        return values


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings and the database of whoever runs the tests out of them."""
    for name in [name for name in os.environ if name.startswith("HYBRID_") and name != "HYBRID_MODELS"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HYBRID_DB", str(tmp_path / "default.duckdb"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Call `hybrid` with arguments in this process."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["hybrid", *(str(argument) for argument in arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            run()
        streams = capsys.readouterr()
        return Outcome(int(left.value.code or 0), streams.out, streams.err)

    return call


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Outcome]:
    """Call the installed console script in a process of its own."""

    def call(*arguments: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Outcome:
        done = subprocess.run(
            [SCRIPT, *(str(argument) for argument in arguments)],
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
        )
        return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return call


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """Give a short conversation of two people."""
    path = tmp_path / "talk.txt"
    path.write_text(
        "[Vera]: I moved to Tartu last month.\n"
        "[Otto]: Nice! My sister Lene adopted a terrier yesterday.\n"
        "[Vera]: I'm allergic to walnuts. I love kayaking.\n"
        "[Vera]: Thanks!\n",
        encoding="utf-8",
    )
    return path
