"""Turn conversations into typed, dated, attributed, evidence-linked memories, on one machine, with no network."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Extraction": "hybrid.api",
    "Extractor": "hybrid.api",
    "HybridError": "hybrid.errors",
    "Memory": "hybrid.memory",
    "ScriptedRuntime": "hybrid.runtime.scripted",
    "Settings": "hybrid.config",
    "Store": "hybrid.store",
    "annotate": "hybrid.api",
    "extract": "hybrid.api",
    "find_dates": "hybrid.stages.dates",
    "find_secrets": "hybrid.stages.secrets",
    "load_runtime": "hybrid.runtime",
    "read": "hybrid.readers",
    "remember": "hybrid.api",
}

__all__ = [
    "Extraction",
    "Extractor",
    "HybridError",
    "Memory",
    "ScriptedRuntime",
    "Settings",
    "Store",
    "annotate",
    "extract",
    "find_dates",
    "find_secrets",
    "load_runtime",
    "read",
    "remember",
]

if TYPE_CHECKING:
    from hybrid.api import Extraction, Extractor, annotate, extract, remember
    from hybrid.config import Settings
    from hybrid.errors import HybridError
    from hybrid.memory import Memory
    from hybrid.readers import read
    from hybrid.runtime import load_runtime
    from hybrid.runtime.scripted import ScriptedRuntime
    from hybrid.stages.dates import find_dates
    from hybrid.stages.secrets import find_secrets
    from hybrid.store import Store


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hybrid' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
