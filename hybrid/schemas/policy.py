"""Read the policy file of a schema."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

from hybrid import content
from hybrid.errors import RuleError


def policy(schema: str) -> dict[str, Any]:
    """Return the policy of a schema from `rules/<schema>.toml`. Raises RuleError where it is broken."""
    path = content.find("rules", f"{schema}.toml")
    return _load(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=16)
def _load(path: Path, _mtime: int) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RuleError(f"{path.name} is not TOML: {error}", "correct the file") from error
