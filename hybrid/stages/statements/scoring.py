"""Compute the confidence of a statement from declared features."""

from __future__ import annotations

import functools
import re

from hybrid import rules


def features(text: str, captured: str | None) -> tuple[str, ...]:
    """Return the features that the words themselves show."""
    found = ["hedged"] if _hedges().search(text) else []
    if captured:
        found.extend(captured.split(","))
    return tuple(found)


def confidence(kind: str, found: tuple[str, ...]) -> float:
    """Return the base confidence of the kind, changed by the features, between 0 and 1."""
    declared = rules.load("statements", "en").values["confidence"]
    value = float(declared["base"].get(kind, 0.7))
    value += sum(float(declared["features"].get(feature, 0.0)) for feature in found)
    return round(min(1.0, max(0.0, value)), 2)


@functools.lru_cache(maxsize=1)
def _hedges() -> re.Pattern[str]:
    words = sorted(rules.load("statements", "en").vocabulary["hedges"], key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b", re.IGNORECASE)
