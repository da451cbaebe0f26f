"""The wheel: what is in it, and that it works elsewhere, without the extra and without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
# Stands for an installation without the extra [model].
NO_LLAMA = 'raise ImportError("llama_cpp is not installed")\n'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel with the backend that pyproject.toml names."""
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the interpreter of an environment that has the wheel, and the running one's other packages, but no llama.cpp."""
    folder = tmp_path_factory.mktemp("environment")
    builder = venv.EnvBuilder(with_pip=False, symlinks=sys.platform != "win32")
    builder.create(folder)
    inside = builder.ensure_directories(folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (packages / "llama_cpp").mkdir()
    (packages / "llama_cpp" / "__init__.py").write_text(NO_LLAMA, encoding="utf-8")
    # Paths of a .pth file come last and its own .pth files are not followed: the editable install stays out.
    shared = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "shared.pth").write_text("\n".join(sorted(shared)) + "\n", encoding="utf-8")
    return Path(inside.env_exe)


def call(python: Path, cwd: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("HYBRID_CONTENT", "HYBRID_DB", "PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(python), *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        timeout=120,
        env={**kept, "PYTHONUTF8": "1", "HYBRID_MODELS": str(cwd / "models"), "XDG_CONFIG_HOME": str(cwd)},
    )


def test_wheel_holds_code_content_and_marks(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode("utf-8")
        entry = archive.read(next(n for n in names if n.endswith("entry_points.txt"))).decode("utf-8")
    for kind in ("rules", "models", "prompts"):
        here = {f"hybrid/_content/{kind}/{path.name}" for path in (ROOT / kind).iterdir() if path.is_file()}
        assert here <= names
    code = {path.relative_to(ROOT).as_posix() for path in (ROOT / "hybrid").rglob("*.py")}
    assert code <= names
    assert {"hybrid/py.typed", "hybrid/store/migrations/0001_initial.sql"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "examples/"))]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "hybrid = hybrid.cli:main" in entry
    assert "Name: hybrid-extractor" in metadata
    assert "Provides-Extra: model" in metadata


def test_base_dependencies_need_no_compiler(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode("utf-8").splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist:")]
    assert all("extra ==" in line for line in needed if "llama" in line or "mcp" in line)
    assert all(">=" in line or "==" in line for line in needed)


@pytest.mark.parametrize(("model", "notes"), [("none", 0), ("auto", 1)])
def test_installed_wheel_extracts_by_rules_alone(python: Path, tmp_path: Path, model: str, notes: int) -> None:
    said = "[Vera]: I moved to Tartu last month.\n[Otto]: My sister Lene adopted a terrier yesterday.\n"
    arguments = ("extract", "-", "--user", "Vera", "--session-time", "2024-05-14", "--model", model, "--json")
    done = call(python, tmp_path, "-m", "hybrid", *arguments, stdin=said)
    assert done.returncode == 0, done.stderr
    outputs: list[dict[str, Any]] = json.loads(done.stdout)["outputs"]
    assert [(o["category"], o["when"]) for o in outputs] == [
        ("profile", "2024-04-01/2024-04-30"),
        ("entity", "2024-05-13"),
    ]
    assert len(done.stderr.splitlines()) == notes


def test_installed_wheel_finds_its_own_content(python: Path, tmp_path: Path) -> None:
    code = (
        "import hybrid, json; from hybrid import content;"
        "print(json.dumps([hybrid.__file__, *(str(content.folders(k)[0]) for k in content.KINDS)]))"
    )
    done = call(python, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    package, *folders = (Path(path).resolve() for path in json.loads(done.stdout))
    assert ROOT.resolve() not in package.parents
    assert folders == [package.parent / "_content" / kind for kind in ("rules", "models", "prompts")]


def test_installed_wheel_remembers_and_migrates(python: Path, tmp_path: Path) -> None:
    arguments = ("remember", "-", "--model", "none", "--db", str(tmp_path / "a.duckdb"), "--json")
    done = call(python, tmp_path, "-m", "hybrid", *arguments, stdin="I love kayaking.")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["counts"]["add"] == 1


@pytest.mark.parametrize("model", ["default", "own.gguf"])
def test_model_that_cannot_be_had_is_a_model_error(python: Path, tmp_path: Path, model: str) -> None:
    (tmp_path / "own.gguf").write_bytes(b"GGUF\x03\x00\x00\x00" + b"\x00" * 100)
    asked = "[Ines]: I actually bought a lamp for my kitchen with Rui last Friday."
    done = call(python, tmp_path, "-m", "hybrid", "extract", "-", "--model", model, "--json", stdin=asked)
    assert (done.returncode, done.stdout) == (3, "")
    told = json.loads(done.stderr)["error"]
    assert told["hint"]
    assert model == "default" or "llama" in told["message"] + told["hint"]
