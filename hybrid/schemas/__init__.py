"""The four schemas: one understanding, four policies."""

from __future__ import annotations

from typing import Any

from hybrid.errors import UsageError
from hybrid.schemas import candidates, entries, facts, memories
from hybrid.schemas.schema import OutputModel, Schema

SCHEMAS: tuple[Schema[Any], ...] = (memories.SCHEMA, facts.SCHEMA, entries.SCHEMA, candidates.SCHEMA)

__all__ = ["SCHEMAS", "OutputModel", "Schema", "named"]


def named(name: str) -> Schema[Any]:
    """Return the schema of this name. Raises UsageError."""
    found = next((schema for schema in SCHEMAS if schema.name == name), None)
    if found is None:
        raise UsageError(f"unknown schema {name!r}", f"allowed: {', '.join(schema.name for schema in SCHEMAS)}")
    return found
