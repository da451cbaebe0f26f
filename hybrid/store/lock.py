"""The sidecar lock: shared for reads, exclusive for writes, one for every touch of the database file."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hybrid.errors import StoreError, StoreLockedError

# Windows locks the first 64 KiB against reading too, so the holder's number stands behind them.
_PID_OFFSET = 0x20000 if sys.platform == "win32" else 0
_LONGEST_PAUSE_S = 0.025


def lock_path(database: Path) -> Path:
    """Return the lock file of a database file."""
    return database.with_name(database.name + ".lock")


def turn_path(database: Path) -> Path:
    """Return the file whose lock says whose turn it is to wait for the lock proper."""
    return database.with_name(database.name + ".lock.turn")


@contextmanager
def locked(database: Path, *, exclusive: bool, timeout: float) -> Iterator[None]:
    """Hold the lock of a database file, waiting up to `timeout` seconds.

    Raises StoreLockedError when another holder keeps it, StoreError when the lock file cannot be used.
    """
    deadline = time.monotonic() + timeout
    with ExitStack() as turn:
        # Who waits keeps the turn: readers that follow one another would otherwise keep a writer out for good.
        turn.enter_context(_held(turn_path(database), database, True, deadline))
        with _held(lock_path(database), database, exclusive, deadline) as descriptor:
            turn.close()
            if exclusive:
                _write_holder(descriptor, str(os.getpid()))
            try:
                yield
            finally:
                if exclusive:
                    _write_holder(descriptor, "")


def holder(database: Path) -> int | None:
    """Return the process id that the exclusive holder wrote into the lock file; None where it says nothing."""
    try:
        with lock_path(database).open("rb") as file:
            file.seek(_PID_OFFSET)
            text = file.read(20).strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def locked_error(database: Path, pid: int | None) -> StoreLockedError:
    """Return the error that names the process holding a database file."""
    who = f"process {pid}" if pid is not None else "another process"
    return StoreLockedError(f"{database} is in use by {who}", "wait until it is done or end that process, then try again")


@contextmanager
def _held(path: Path, database: Path, exclusive: bool, deadline: float) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise StoreError(
            f"cannot write beside {database}: {error.strerror}", "give a database path in a folder that you may write to"
        ) from error
    try:
        pause = 0.002
        while not _try(descriptor, path, exclusive):
            if time.monotonic() >= deadline:
                raise locked_error(database, holder(database))
            # Jitter keeps several waiting processes from asking at the same moments.
            time.sleep(random.uniform(pause / 2, pause))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
        try:
            yield descriptor
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)


def _try(descriptor: int, path: Path, exclusive: bool) -> bool:
    import portalocker

    # Without pywin32 Windows has no shared lock here; readers then wait in turn.
    share = not exclusive and sys.platform != "win32"
    kind = portalocker.LockFlags.SHARED if share else portalocker.LockFlags.EXCLUSIVE
    try:
        portalocker.lock(descriptor, kind | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise StoreError(f"the file system does not lock {path.name}", "keep the database on a local disk") from error
    return True


def _release(descriptor: int) -> None:
    import portalocker

    portalocker.unlock(descriptor)


def _write_holder(descriptor: int, text: str) -> None:
    # The number only serves messages: a full disk must not stop the work.
    with suppress(OSError):
        os.ftruncate(descriptor, _PID_OFFSET)
        os.lseek(descriptor, _PID_OFFSET, os.SEEK_SET)
        os.write(descriptor, text.encode("ascii"))
