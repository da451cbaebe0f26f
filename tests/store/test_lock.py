from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hybrid.errors import StoreLockedError
from hybrid.store import Store
from hybrid.store.lock import holder, lock_path, locked

HOLD = """
import sys
from pathlib import Path
from hybrid.store.lock import locked
with locked(Path(sys.argv[1]), exclusive=sys.argv[2] == "exclusive", timeout=5):
    print("held", flush=True)
    sys.stdin.read()
"""


def hold(path: Path, kind: str) -> subprocess.Popen[bytes]:
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(path), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline().strip() == b"held"
    return other


def test_an_exclusive_holder_in_another_process_is_named(store: Store, path: Path) -> None:
    store.add("Rui sails.", "event")
    impatient = Store(path, timeout=0.2)
    with hold(path, "exclusive") as other:
        for call in (impatient.list, lambda: impatient.add("Rui swims.", "event"), lambda: Store(path, timeout=0.2)):
            began = time.monotonic()
            with pytest.raises(StoreLockedError) as caught:
                call()
            assert time.monotonic() - began < 2
            assert f"process {other.pid}" in caught.value.message
            assert caught.value.hint
        other.communicate(b"")
    assert [memory.text for memory in store.list()] == ["Rui sails."]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no shared lock here")
def test_readers_share_and_keep_writers_out(store: Store, path: Path) -> None:
    impatient = Store(path, timeout=0.2)
    with hold(path, "shared") as other:
        assert impatient.list() == []
        with pytest.raises(StoreLockedError, match="another process"):
            impatient.add("Rui swims.", "event")
        other.communicate(b"")


def test_a_waiting_call_goes_on_when_the_holder_is_done(store: Store, path: Path) -> None:
    with hold(path, "exclusive") as other:
        timer = threading.Timer(0.2, other.communicate, (b"",))
        timer.start()
        assert store.add("Rui sails.", "event").text == "Rui sails."
        timer.join()


def test_a_killed_holder_holds_nothing(store: Store, path: Path) -> None:
    with hold(path, "exclusive") as other:
        other.kill()
    assert store.add("Rui sails.", "event")


def test_the_lock_file_names_the_holder_only_while_it_holds(path: Path) -> None:
    assert holder(path) is None
    with locked(path, exclusive=True, timeout=1):
        assert holder(path) == os.getpid()
    assert holder(path) is None
    lock_path(path).write_text("nonsense")
    assert holder(path) is None


def test_three_processes_lose_nothing(path: Path) -> None:
    Store(path)
    code = (
        "import sys; from hybrid.store import Store; s = Store(sys.argv[1], timeout=60)\n"
        "for n in range(4): s.add(f'Person {n} of {sys.argv[2]} sails.', 'event', id=f'{sys.argv[2]}-{n}')"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abc"]
    assert [other.wait(timeout=60) for other in others] == [0, 0, 0]
    assert {memory.id for memory in Store(path).list()} == {f"{name}-{n}" for name in "abc" for n in range(4)}


def test_readers_that_follow_one_another_let_a_writer_in(store: Store, path: Path) -> None:
    began, done = threading.Barrier(4), threading.Event()

    def read() -> None:
        own = Store(path)
        began.wait()
        while not done.is_set():
            own.list()

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        began.wait()
        assert Store(path, timeout=5).add("Rui sails.", "event")
    finally:
        done.set()
        for reader in readers:
            reader.join()
