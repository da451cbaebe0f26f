"""Content is found in a checkout, and in a user's own folder before that."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hybrid import content
from hybrid.api import extract
from hybrid.data import Conversation, Message
from hybrid.errors import ContentError
from hybrid.stages.secrets import find_secrets

ROOT = Path(content.__file__).parent.parent
BADGE = """
version: 1
rules:
  - id: secrets.badge
    description: An invented badge number.
    languages: [en]
    kind: badge
    pattern: '(?P<secret>BADGE-[0-9]{4})'
    examples: ["my badge is BADGE-1234"]
    negative_examples: ["my badge is blue"]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    for kind in content.KINDS:
        (tmp_path / kind).mkdir()
    return tmp_path


@pytest.mark.parametrize("kind", content.KINDS)
def test_checkout_holds_each_kind(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HYBRID_CONTENT", raising=False)
    assert content.folders(kind) == (ROOT / kind,)
    assert content.listing(kind, "*")


@pytest.mark.parametrize("kind", content.KINDS)
def test_own_folder_comes_first(own: Path, kind: str) -> None:
    assert content.folders(kind) == (own / kind, ROOT / kind)


def test_own_folder_may_hold_only_one_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    (tmp_path / "rules").mkdir()
    assert content.folders("rules")[0] == tmp_path / "rules"
    assert content.folders("prompts") == (ROOT / "prompts",)


def test_own_folder_that_is_not_there_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path / "nowhere"))
    assert content.folders("rules") == (ROOT / "rules",)


def test_own_file_stands_for_the_shipped_one(own: Path) -> None:
    shipped = content.find("rules", "secrets.yaml")
    (own / "rules" / "secrets.yaml").write_text(BADGE, encoding="utf-8")
    assert content.find("rules", "secrets.yaml") == own / "rules" / "secrets.yaml"
    assert [path for path in content.listing("rules", "secrets*.yaml") if path.name == "secrets.yaml"] != [shipped]
    assert content.find("rules", "speakers.yaml") == ROOT / "rules" / "speakers.yaml"


def test_own_rules_are_used_and_leave_with_the_folder(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "my badge is BADGE-1234"
    assert find_secrets(text) == []
    (own / "rules" / "secrets.yaml").write_text(BADGE, encoding="utf-8")
    assert [(s.start, s.end, s.kind) for s in find_secrets(text)] == [(12, 22, "badge")]
    monkeypatch.delenv("HYBRID_CONTENT")
    assert find_secrets(text) == []


def test_own_policy_changes_what_a_schema_gives(own: Path) -> None:
    said = Conversation((Message("user", "I love kayaking."),))
    assert extract(said).outputs
    text = (ROOT / "rules" / "memories.toml").read_text(encoding="utf-8")
    strict = "\n".join(
        "confidence_threshold = 1.1" if line.startswith("confidence_threshold") else line for line in text.splitlines()
    )
    assert strict != text
    (own / "rules" / "memories.toml").write_text(strict, encoding="utf-8")
    assert extract(said).outputs == ()


def test_listing_gives_each_name_once_in_order(own: Path) -> None:
    shutil.copy2(ROOT / "rules" / "speakers.yaml", own / "rules" / "speakers.yaml")
    (own / "rules" / "aaa.yaml").write_text("rules: []", encoding="utf-8")
    names = [path.name for path in content.listing("rules", "*.yaml")]
    assert names == sorted(set(names))
    assert names[0] == "aaa.yaml"


def test_missing_file_names_where_it_was_looked_for(own: Path) -> None:
    with pytest.raises(ContentError, match=r"rules/dreams\.yaml does not exist") as caught:
        content.find("rules", "dreams.yaml")
    assert str(own / "rules") in caught.value.hint
    assert str(ROOT / "rules") in caught.value.hint


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ContentError, match="dreams") as caught:
        content.folders("dreams")
    assert "prompts" in caught.value.hint
