"""What a program calls: annotate, extract, remember, and Extractor for live use."""

from __future__ import annotations

from hybrid.api.extraction import Extraction, Usage, annotate, extract
from hybrid.api.live import Extractor
from hybrid.api.remembering import remember

__all__ = ["Extraction", "Extractor", "Usage", "annotate", "extract", "remember"]
