"""The console script as people start it: help, streams, speed, no socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hybrid
from hybrid.cli.app import app

Cli = Callable[..., Any]

# Python reads this file when it starts; it takes every socket away from whatever runs afterwards.
NO_SOCKETS = """
import socket
def refused(*arguments, **options):
    raise RuntimeError("a socket was asked for")
socket.socket.__init__ = refused
socket.create_connection = refused
socket.getaddrinfo = refused
"""
HEAVY = ("spacy", "duckdb", "llama_cpp", "dateparser", "detect_secrets", "jinja2", "mcp", "yaml", "hybrid.pipeline")
HELP = """
import json, sys
sys.argv = ["hybrid", *sys.argv[1:]]
from hybrid.cli import main
try:
    main()
except SystemExit as left:
    print(json.dumps([left.code, [name for name in sys.modules]]), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("extract", "--help"), ("memory", "--help")], ids=" ".join)
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", HELP, *arguments], capture_output=True, text=True, check=True, timeout=30)
    code, modules = json.loads(done.stderr)
    assert code == 0
    assert done.stdout.strip()
    assert [name for name in HEAVY if name in modules] == []


def test_help_comes_within_half_a_second(script: Cli) -> None:
    taken = []
    for _ in range(4):
        began = time.perf_counter()
        assert script("--help").code == 0
        taken.append(time.perf_counter() - began)
    assert min(taken) < 0.5


def test_help_names_every_command(script: Cli) -> None:
    shown = script("--help").out
    assert all(name in shown for name in ("annotate", "extract", "remember", "memory", "model", "rules"))


def test_version_is_the_package_s(cli: Cli) -> None:
    assert cli("--version").out == f"hybrid {hybrid.__version__}\n"


def test_every_command_has_a_docstring_of_one_line() -> None:
    groups = [app, *(group.typer_instance for group in app.registered_groups)]
    commands = [command for group in groups if group is not None for command in group.registered_commands]
    assert len(commands) > 15
    for command in commands:
        assert command.callback is not None
        words = command.callback.__doc__ or ""
        assert words.endswith(".")
        assert "\n" not in words


def test_module_can_be_run_too() -> None:
    done = subprocess.run([sys.executable, "-m", "hybrid", "--version"], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.startswith("hybrid ")


def test_data_stands_on_stdout_alone_and_no_socket_is_needed(script: Cli, talk: Path, gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(NO_SOCKETS, encoding="utf-8")
    path = os.pathsep.join(p for p in (str(tmp_path / "start"), os.environ.get("PYTHONPATH", "")) if p)
    probe = subprocess.run(
        [sys.executable, "-c", "import socket; socket.socket()"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert "a socket was asked for" in probe.stderr
    talk.write_text(
        talk.read_text(encoding="utf-8") + "[Vera]: I actually went sailing with Otto on Saturday.\n", encoding="utf-8"
    )
    found = script(
        "remember", talk, "--user", "Vera", "--session-time", "2024-05-14", "--model", gguf, "--json", env={"PYTHONPATH": path}
    )
    assert found.code == 0, found.err
    assert found.json[0]["usage"]["model_calls"] > 0
    assert len(found.err.splitlines()) == 1


def test_reader_that_goes_away_is_no_error(talk: Path, script: Cli, tmp_path: Path) -> None:
    code = "import subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE);"
    code += "p.stdout.close(); print(p.stderr.read().decode()); sys.exit(p.wait())"
    program = Path(sys.executable).with_name("hybrid.exe" if sys.platform == "win32" else "hybrid")
    done = subprocess.run(
        [sys.executable, "-c", code, str(program), "rules", "list"], capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stdout
    assert done.returncode == 0


def test_text_in_any_script_passes_the_streams(script: Cli) -> None:
    said = "[Юлия]: I love борщ and 餃子 🥟.\n"
    found = script("extract", "-", "--model", "none", "--language", "en", "--json", stdin=said.encode())
    assert found.code == 0
    assert found.json["turns"][0]["text"] == "I love борщ and 餃子 🥟."
    assert found.json["turns"][0]["speaker"] == "Юлия"
