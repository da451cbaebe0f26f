"""Open the database file for one piece of work at a time, under the sidecar lock; create it; write it anew."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid.errors import HybridError, StoreError
from hybrid.store.lock import locked, locked_error
from hybrid.store.migrations import migrate, newest, version

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MEMORY_LIMIT = "512MB"
_DAMAGED = "keep the file as it is; restore a backup, or import an export into a new file"

# What DuckDB's message holds -> what we say, what to do. The message itself may quote the key or stored text.
_MESSAGES: tuple[tuple[str, str, str], ...] = (
    ("not a valid DuckDB database", "is not a DuckDB file", "give another path; the file was left as it is"),
    ("Wrong encryption key", "does not open with this key", "give the key that the store was made with"),
    ("without a key", "is encrypted", "give the key that the store was made with"),
    (
        "is not encrypted",
        "is not encrypted, but a key was given",
        "open it without a key, or export it into a new store with one",
    ),
    ("Corrupt database file", "is damaged", _DAMAGED),
    ("Could not read enough bytes", "is damaged: it is cut short", _DAMAGED),
    ("newer version of DuckDB", "was written by a newer DuckDB", "update hybrid-extractor, or export with the newer version"),
    ("storage version", "was written by another DuckDB version", "export it with that version and import it here"),
    ("Permission denied", "may not be read and written", "check the owner and rights of the file and its folder"),
    ("No space left", "cannot grow: the disk is full", "free some space; nothing that was stored is lost"),
    ("Is a directory", "is a folder", "give the path of a file"),
)


@dataclass(frozen=True, slots=True)
class Database:
    """Name a database file, its key, and how many seconds to wait for another holder."""

    path: Path
    key: str | None = field(default=None, repr=False)
    timeout: float = 10.0

    @contextmanager
    def reading(self) -> Iterator[DuckDBPyConnection]:
        """Give a connection that can only read, beside other readers. Raises StoreError, StoreLockedError."""
        with locked(self.path, exclusive=False, timeout=self.timeout):
            self._present()
            with self._open(read_only=True) as connection:
                self._check(connection)
                yield connection

    @contextmanager
    def writing(self) -> Iterator[DuckDBPyConnection]:
        """Give the only connection, inside one transaction: all is kept at the end, or nothing after an exception."""
        with locked(self.path, exclusive=True, timeout=self.timeout):
            self._present()
            self._sweep()
            with self._open() as connection:
                self._check(connection)
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")

    def create(self) -> None:
        """Make the file and its folder when missing, and bring an older file to the newest version. Raises StoreError."""
        if not self._exists():
            self._make_folder()
        else:
            found, rewrite_owed = self._state()
            if rewrite_owed:
                self.rewrite()
            if found == newest():
                return
        with locked(self.path, exclusive=True, timeout=self.timeout):
            if not self._exists():
                self._make_file()
            with self._open() as connection:
                if version(connection) != newest():
                    self._check(connection, older_allowed=True)
                    migrate(connection)

    def rewrite(self) -> None:
        """Copy what is left into a fresh file and swap it in, so that no byte of removed rows remains."""
        with locked(self.path, exclusive=True, timeout=self.timeout):
            self._present()
            self._sweep()
            fresh = self.path.with_name(f"{self.path.name}.new-{uuid.uuid4().hex[:8]}")
            try:
                with self._open(access=True) as connection:
                    connection.execute(f"ATTACH {_literal(str(fresh))} AS fresh{self._options(False)}")
                    fresh.chmod(0o600)
                    _make_log(fresh)
                    connection.execute("COPY FROM DATABASE s TO fresh")
                    connection.execute("DELETE FROM fresh.pending")
                    connection.execute("CHECKPOINT fresh")
                    connection.execute("CHECKPOINT s")
                    connection.execute("USE memory")
                    connection.execute("DETACH fresh")
                # A log left of the old file would be applied to the new one.
                _beside(self.path, ".wal").unlink(missing_ok=True)
                fresh.replace(self.path)
            finally:
                fresh.unlink(missing_ok=True)
                _beside(fresh, ".wal").unlink(missing_ok=True)

    @contextmanager
    def _open(self, *, read_only: bool = False, access: bool = False) -> Iterator[DuckDBPyConnection]:
        import duckdb

        scratch = self.path.with_name(f"{self.path.name}.tmp-{uuid.uuid4().hex[:8]}")
        connection: DuckDBPyConnection | None = None
        try:
            scratch.mkdir(mode=0o700)
            connection = duckdb.connect(":memory:", config=_settings(scratch))
            self._attach(connection, read_only=read_only)
            if not access:
                connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            yield connection
        except (duckdb.Error, OSError) as error:
            raise self._translated(error) from (None if self.key else error)
        finally:
            if connection is not None:
                connection.close()
            shutil.rmtree(scratch, ignore_errors=True)
            if not read_only:
                self._drop_empty_log()

    def _attach(self, connection: DuckDBPyConnection, *, read_only: bool) -> None:
        if self.key is not None:
            connection.execute(f"LOAD {_literal(str(_extension('httpfs')))}")
            connection.execute("SET temp_file_encryption = true")
        connection.execute(f"ATTACH {_literal(str(self.path))} AS s{self._options(read_only)}")
        connection.execute("USE s")
        if not read_only:
            _make_log(self.path)

    def _options(self, read_only: bool) -> str:
        options = [f"ENCRYPTION_KEY {_literal(self.key)}"] if self.key is not None else []
        options += ["READ_ONLY"] if read_only else []
        return f" ({', '.join(options)})" if options else ""

    def _exists(self) -> bool:
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._translated(error) from error

    def _present(self) -> None:
        if not self._exists():
            raise StoreError(
                f"{self.path} is not there any more", "open the store again to make a new one, or put the file back"
            )

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder {self.path.parent}: {error.strerror}", "give a path that you may write to"
            ) from error

    def _make_file(self) -> None:
        fresh = Database(self.path.with_name(f"{self.path.name}.new-{uuid.uuid4().hex[:8]}"), self.key)
        try:
            with fresh._open() as connection:
                migrate(connection)
            fresh.path.chmod(0o600)
            fresh.path.replace(self.path)
        except OSError as error:
            raise self._translated(error) from error
        finally:
            fresh.path.unlink(missing_ok=True)

    def _state(self) -> tuple[int, bool]:
        with locked(self.path, exclusive=False, timeout=self.timeout), self._open(read_only=True) as connection:
            found = self._check(connection, older_allowed=True)
            owed = found == newest() and connection.execute("SELECT 1 FROM pending LIMIT 1").fetchone() is not None
            return found, owed

    def _check(self, connection: DuckDBPyConnection, *, older_allowed: bool = False) -> int:
        found = version(connection)
        if found is None:
            raise StoreError(
                f"{self.path} is a DuckDB file of another program", "give another path; the file was left as it is"
            )
        if found > newest():
            raise StoreError(
                f"{self.path} has version {found}, this library knows up to {newest()}",
                "update hybrid-extractor; nothing was changed",
            )
        if found < newest() and not older_allowed:
            raise StoreError(f"{self.path} has the older version {found}", "open the store again to bring it up to date")
        return found

    def _sweep(self) -> None:
        # Under the exclusive lock nobody else works: what lies here was left by a process that was killed.
        for left in self.path.parent.glob(f"{_glob_literal(self.path.name)}.tmp-*"):
            shutil.rmtree(left, ignore_errors=True)
        for left in self.path.parent.glob(f"{_glob_literal(self.path.name)}.new-*"):
            left.unlink(missing_ok=True)

    def _drop_empty_log(self) -> None:
        log = _beside(self.path, ".wal")
        if log.is_file() and log.stat().st_size == 0:
            log.unlink(missing_ok=True)

    def _translated(self, error: Exception) -> HybridError:
        message = str(error)
        if "Conflicting lock" in message or "Could not set lock" in message:
            pid = re.search(r"PID (\d+)", message)
            return locked_error(self.path, int(pid[1]) if pid else None)
        if "Unique file handle conflict" in message:
            return locked_error(self.path, os.getpid())
        for part, what, hint in _MESSAGES:
            if part in message:
                return StoreError(f"{self.path} {what}", hint)
        return StoreError(f"{self.path} cannot be used ({type(error).__name__})", "nothing of this call was stored")


def _settings(scratch: Path) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "memory_limit": _MEMORY_LIMIT,
        # A second thread takes longer to start than it saves here.
        "threads": 1,
        "temp_directory": str(scratch),
    }


def _extension(name: str) -> Path:
    import duckdb

    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    for folder in folders:
        file = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.is_file():
            return file
    raise StoreError(
        f"DuckDB's extension {name}, which encryption needs, is not installed for version {duckdb.__version__}",
        f"pip install duckdb-extension-{name}=={duckdb.__version__}",
    )


def _literal(text: str) -> str:
    # ATTACH and LOAD take no bound parameters.
    return "'" + text.replace("'", "''") + "'"


def _glob_literal(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)


def _make_log(path: Path) -> None:
    # DuckDB would make the log readable by everybody; it keeps the rights of one that is there.
    os.close(os.open(_beside(path, ".wal"), os.O_RDWR | os.O_CREAT, 0o600))


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
