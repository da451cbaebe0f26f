"""Bind many values as one JSON text: the driver takes far longer for a Python list, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# SQL that reads a bound JSON text as rows of one column.
TEXTS = """(SELECT unnest(from_json(?, '["VARCHAR"]')))"""
NUMBERS = """(SELECT unnest(from_json(?, '["BIGINT"]')))"""


def bound(values: Iterable[Any]) -> str:
    """Return the values as the JSON text that TEXTS or NUMBERS reads."""
    return json.dumps(list(values), ensure_ascii=False)


def insert_rows(
    connection: DuckDBPyConnection, table: str, types: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows with one statement. `types` gives the columns that are written, with their SQL types."""
    if not rows:
        return
    names = ", ".join(name for name, _ in types)
    shape = json.dumps([{name: kind for name, kind in types}])
    values = ", ".join(f"r.{name}" for name, _ in types)
    content = json.dumps([{name: _plain(row[name]) for name, _ in types} for row in rows], ensure_ascii=False)
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {values} FROM (SELECT unnest(from_json(?, '{shape}')) AS r)", [content]
    )


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
