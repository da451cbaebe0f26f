"""The default model, shared by every test that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hybrid import manifests
from hybrid.runtime.llamacpp import LlamaCppRuntime


@pytest.fixture(scope="session")
def gguf() -> Path:
    """Return the default GGUF; without it the tests that need it fail and say how to get it."""
    path = manifests.locate(manifests.load(manifests.DEFAULT))
    if path is None:
        pytest.fail(f"the default model is missing; run: hybrid model install {manifests.DEFAULT}")
    return path


@pytest.fixture(scope="session")
def runtime(gguf: Path) -> Iterator[LlamaCppRuntime]:
    """Run the default model once for all tests."""
    shared = LlamaCppRuntime(gguf, manifests.load(manifests.DEFAULT))
    yield shared
    shared.close()
