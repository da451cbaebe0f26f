"""Make keys: snake_case, ASCII, readable in any script."""

from __future__ import annotations

import re

from anyascii import anyascii


def snake(text: str, limit: int = 60) -> str:
    """Return the text as a snake_case ASCII key; other scripts are transliterated. Never empty."""
    key = "_".join(re.findall(r"[a-z0-9]+", anyascii(text).casefold()))[:limit].strip("_")
    return key or "unnamed"
