"""Fixtures that the whole suite shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hybrid.manifests import DEFAULT, load, locate, missing
from hybrid.runtime.llamacpp import LlamaCppRuntime


@pytest.fixture(scope="session")
def gguf() -> Path:
    manifest = load(DEFAULT)
    path = locate(manifest)
    if path is None:
        error = missing(manifest)
        pytest.fail(f"{error.message}; run: {error.hint}")
    return path


@pytest.fixture(scope="session")
def runtime(gguf: Path) -> Iterator[LlamaCppRuntime]:
    with LlamaCppRuntime(gguf, load(DEFAULT)) as loaded:
        yield loaded
