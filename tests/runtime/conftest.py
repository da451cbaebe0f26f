"""A small context of the default model, for the tests that look below the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hybrid.manifests import ModelSettings
from hybrid.runtime.binding import Model


@pytest.fixture(scope="session")
def model(gguf: Path) -> Iterator[Model]:
    loaded = Model(gguf, 512, 512, ModelSettings(n_threads=2, n_batch=64))
    yield loaded
    loaded.close()
