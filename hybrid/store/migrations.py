"""Bring a database file to the newest version, one numbered SQL file and one transaction after the other."""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import TYPE_CHECKING

from hybrid.errors import StoreError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NAME = re.compile(r"(\d{4})_\w+\.sql")


@functools.lru_cache(maxsize=1)
def migrations() -> tuple[tuple[int, str], ...]:
    """Return the migrations as (version, SQL), in order. Raises StoreError where the installation lacks them."""
    folder = resources.files("hybrid.store").joinpath("migrations")
    found = [(int(m[1]), entry) for entry in folder.iterdir() if (m := _NAME.fullmatch(entry.name))]
    if not found:
        raise StoreError("the store's migrations are missing from the installation", "install hybrid-extractor again")
    return tuple((number, entry.read_text(encoding="utf-8")) for number, entry in sorted(found, key=lambda item: item[0]))


def newest() -> int:
    """Return the version that this library writes."""
    return migrations()[-1][0]


def version(connection: DuckDBPyConnection) -> int | None:
    """Return the version of the open database: 0 for one without tables, None for one that is not a store."""
    names = {
        row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 's'").fetchall()
    }
    if "schema_version" not in names:
        return None if names else 0
    row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(row[0]) if row is not None and row[0] is not None else 0


def migrate(connection: DuckDBPyConnection) -> None:
    """Apply the migrations that the open database lacks."""
    have = version(connection) or 0
    if have == 0:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL, applied_at TIMESTAMP NOT NULL)"
        )
    for number, sql in migrations():
        if number <= have:
            continue
        connection.execute("BEGIN")
        connection.execute(sql)
        connection.execute("INSERT INTO schema_version SELECT ?, now() AT TIME ZONE 'UTC'", [number])
        connection.execute("COMMIT")
