from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb
import pytest

from hybrid.errors import StoreError
from hybrid.store import Store
from hybrid.store.migrations import migrations, newest


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, newest() + 1))


def test_a_new_file_has_the_newest_version(path: Path) -> None:
    Store(path)
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        assert connection.execute("SELECT version FROM schema_version ORDER BY version").fetchall() == [
            (number,) for number, _ in migrations()
        ]


def test_a_file_without_its_tables_is_brought_up_to_date(path: Path) -> None:
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL, applied_at TIMESTAMP NOT NULL)")
    store = Store(path)
    assert store.add("Ines sails.", "habit")
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        assert connection.execute("SELECT max(version) FROM schema_version").fetchall() == [(newest(),)]


def test_a_file_that_became_newer_meanwhile_is_refused(store: Store, path: Path) -> None:
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        connection.execute("INSERT INTO schema_version VALUES (?, now()::TIMESTAMP)", [newest() + 1])
    for call in (store.list, lambda: store.add("Ines sails.", "habit"), lambda: Store(path)):
        with pytest.raises(StoreError, match="version"):
            call()
