"""What the tests of the store share: an open store, and a short conversation of our own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from hybrid.data import Span, Statement, Turn, reference
from hybrid.memory import Memory
from hybrid.store import ConversationRecord, Store

Record = Callable[..., ConversationRecord]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.duckdb"


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Give an empty store to tests that write nothing into it."""
    return Store(tmp_path_factory.mktemp("untouched") / "memories.duckdb")


@pytest.fixture
def store(path: Path, untouched: Store) -> Store:
    # Copying is several times faster than making one; test_migrations makes them.
    shutil.copy2(untouched.path, path)
    return Store(path)


@pytest.fixture
def record() -> Record:
    def make(
        conversation: str = "c1",
        *texts: str,
        schema: str = "memories",
        user: str | None = None,
        subject: str = "Ines",
    ) -> ConversationRecord:
        said = texts or ("I moved to Porto in May.", "I keep two tortoises.")
        time = datetime(2024, 6, 3, 9, 30)
        turns = tuple(Turn(reference(n), "user", subject, time, text, n - 1, 0, "s1") for n, text in enumerate(said, 1))
        statements = tuple(
            Statement(
                id=f"{conversation}-s{n}",
                kind="event",
                subject=subject,
                speaker=subject,
                role="user",
                text=text.replace("I ", f"{subject} "),
                topic="life",
                quote=text,
                evidence=(Span(reference(n), 0, len(text)),),
            )
            for n, text in enumerate(said, 1)
        )
        return ConversationRecord(
            conversation, schema, "talk.txt", "text", time, user, (subject,), turns=turns, statements=statements
        )

    return make


@pytest.fixture
def memory() -> Callable[..., Memory]:
    def make(memory_id: str, text: str = "Ines moved to Porto.", **values: object) -> Memory:
        given: dict[str, object] = {"schema": "memories", "category": "event", "subject": "Ines", "conversation": "c1"}
        return Memory(id=memory_id, text=text, **(given | values))  # type: ignore[arg-type]

    return make
