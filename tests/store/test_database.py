from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from hybrid.errors import StoreError, StoreLockedError, UsageError
from hybrid.store import Store


def remains(path: Path, words: bytes) -> list[str]:
    """Return the files beside the database, and it, that hold the words."""
    return [p.name for p in path.parent.rglob("*") if p.is_file() and words in p.read_bytes()]


def refused(path: Path, key: str | None = None) -> StoreError:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as caught:
        Store(path, key)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert (path.read_bytes() if path.is_file() else None) == before
    return caught.value


def test_an_encrypted_store_hides_its_words_and_opens_with_its_key(path: Path) -> None:
    store = Store(path, 'o\'pen "sesame"')
    store.add("The heron lives in Aveiro.", "event", id="m1")
    assert Store(path, 'o\'pen "sesame"').search("heron")[0].id == "m1"
    assert remains(path, b"heron") == []
    store.add("The stork lives in Silves.", "event", id="m2")
    assert store.forget("m1") == 1
    assert [memory.id for memory in Store(path, 'o\'pen "sesame"').list()] == ["m2"]
    assert remains(path, b"stork") == []


def test_a_plain_store_can_be_read_without_a_key(path: Path) -> None:
    Store(path).add("The heron lives in Aveiro.", "event")
    assert remains(path, b"heron") == [path.name]


@pytest.mark.parametrize(
    ("made", "opened", "what"), [("a", "b", "does not open"), ("a", None, "encrypted"), (None, "b", "not encrypted")]
)
def test_the_wrong_key_is_told_apart(path: Path, made: str | None, opened: str | None, what: str) -> None:
    Store(path, made).add("The heron lives in Aveiro.", "event")
    error = refused(path, opened)
    assert what in error.message
    assert Store(path, made).search("heron")


def test_an_error_never_shows_the_key(path: Path) -> None:
    Store(path, "sesame")
    error = refused(path, "wrong-sesame-42")
    assert "sesame" not in f"{error!r} {error.hint} {error.__cause__!r} {Store(path, 'sesame')._database!r}"


def test_an_empty_key_is_refused(path: Path) -> None:
    with pytest.raises(UsageError):
        Store(path, "")


@pytest.mark.parametrize("content", [b"dear diary\n" * 500, b"SQLite format 3\x00" + bytes(8192), b"x", os.urandom(50_000)])
def test_a_file_of_another_kind_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert str(path) in refused(path).message


def test_a_damaged_file_is_said_to_be_damaged(path: Path) -> None:
    Store(path).add("The heron lives in Aveiro.", "event")
    content = bytearray(path.read_bytes())
    content[4200:12_000] = bytes(7800)
    path.write_bytes(content)
    assert "damaged" in refused(path).message


def test_a_file_that_was_cut_short_is_refused(path: Path) -> None:
    Store(path).add("The heron lives in Aveiro.", "event")
    path.write_bytes(path.read_bytes()[:5000])
    assert "damaged" in refused(path).message


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    assert Store(path).list() == []


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Store(tmp_path)
    assert caught.value.hint


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError) as caught:
        Store(tmp_path / "file" / "memories.duckdb")
    assert caught.value.hint


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user whom rights can stop")
def test_a_folder_without_the_right_to_write_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError):
            Store(tmp_path / "memories.duckdb")
    finally:
        tmp_path.chmod(0o700)


def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE birds (name VARCHAR)")
    assert "another program" in refused(path).message


def test_a_newer_version_is_left_alone(path: Path) -> None:
    Store(path).add("The heron lives in Aveiro.", "event")
    with contextlib.closing(duckdb.connect(str(path))) as connection:
        connection.execute("INSERT INTO schema_version VALUES (9999, now()::TIMESTAMP)")
    error = refused(path)
    assert "9999" in error.message
    assert "update" in error.hint


def test_duckdb_s_own_lock_names_the_process(path: Path) -> None:
    Store(path)
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreLockedError) as caught:
            Store(path)
        other.communicate(b"")
    if sys.platform != "win32":
        assert str(other.pid) in caught.value.message
    assert Store(path).list() == []


def test_a_connection_in_this_process_counts_as_a_lock(path: Path) -> None:
    store = Store(path)
    with contextlib.closing(duckdb.connect(str(path))), pytest.raises(StoreLockedError):
        store.list()
    assert store.list() == []


def test_sql_of_the_store_reaches_no_other_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a\n1\n")
    with store._database.reading() as connection:
        with pytest.raises(duckdb.Error):
            connection.execute(f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")
        with pytest.raises(duckdb.Error):
            connection.execute("SET enable_external_access = true")
        with pytest.raises(duckdb.Error):
            connection.execute("INSTALL spatial")


def test_an_exception_inside_a_write_keeps_nothing_of_it(store: Store) -> None:
    def interrupted() -> None:
        with store._database.writing() as connection:
            connection.execute("INSERT INTO pending VALUES ('rewrite')")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM pending").fetchall() == [(0,)]


KILLED = """
import os, signal, sys
from hybrid.store import Store
store = Store(sys.argv[1])
with store._database.writing() as connection:
    connection.execute("INSERT INTO postings SELECT 'heron' || i, 'm' || i, 1 FROM range(200000) r(i)")
    if sys.argv[2] == "after":
        connection.execute("COMMIT")
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
"""


@pytest.mark.parametrize(("moment", "rows"), [("before", 0), ("after", 200_000)])
def test_a_process_killed_while_writing_leaves_a_readable_file(path: Path, moment: str, rows: int) -> None:
    Store(path).add("The stork lives in Silves.", "event", id="m1")
    subprocess.run([sys.executable, "-c", KILLED, str(path), moment], check=False, timeout=60)
    store = Store(path, timeout=2)
    assert store.get("m1").text == "The stork lives in Silves."
    with store._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM postings WHERE term LIKE 'heron%'").fetchall() == [(rows,)]
    store.add("The heron lives in Aveiro.", "event")
    assert len(store.list()) == 2
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, f"{path.name}.lock", f"{path.name}.lock.turn"]
