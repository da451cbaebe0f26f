"""The map of the project: a stage, its rules and its tests carry one name; so do a schema, its policy and its situations."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hybrid.pipeline import STAGES, check
from hybrid.schemas import SCHEMAS

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "hybrid").rglob("*.py"))


@pytest.mark.parametrize("name", [stage.name for stage in STAGES])
def test_stage_has_code_rules_and_tests(name: str) -> None:
    assert (ROOT / f"hybrid/stages/{name}.py").is_file() or (ROOT / f"hybrid/stages/{name}/__init__.py").is_file()
    assert list((ROOT / "rules").glob(f"{name}.yaml")) + list((ROOT / "rules").glob(f"{name}.*.yaml"))
    assert list((ROOT / "tests/stages").glob(f"test_{name}*.py"))


@pytest.mark.parametrize("name", [schema.name for schema in SCHEMAS])
def test_schema_has_code_policy_and_situations(name: str) -> None:
    assert (ROOT / f"hybrid/schemas/{name}.py").is_file()
    assert (ROOT / f"rules/{name}.toml").is_file()
    assert list((ROOT / f"tests/golden/{name}").glob("*.yaml"))


def test_stages_meet_each_others_needs() -> None:
    check(STAGES)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_is_small_and_its_public_functions_are_documented(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= 400
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "module without docstring"
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in [*tree.body, *(inner for outer in classes if not outer.name.startswith("_") for inner in outer.body)]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} without docstring"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is longer than a screen"
