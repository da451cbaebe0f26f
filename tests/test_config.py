"""Settings: arguments before environment before file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hybrid.config import Settings, models_path
from hybrid.errors import UsageError


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("HYBRID_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('user = "Vera"\nweeks = "calendar"\naliases = ["V", " Veronika "]\ndeadline_s = 5\n', encoding="utf-8")
    return path


def test_file_is_read(file: Path) -> None:
    settings = Settings.load(file)
    assert (settings.user, settings.weeks, settings.aliases, settings.deadline_s) == (
        "Vera",
        "calendar",
        ("V", "Veronika"),
        5.0,
    )
    assert settings.schema == "memories"


def test_environment_comes_before_the_file_and_arguments_before_both(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_USER", "Otto")
    monkeypatch.setenv("HYBRID_ALIASES", "O, Ott ,")
    monkeypatch.setenv("HYBRID_DEADLINE_S", "2.5")
    settings = Settings.load(file)
    assert (settings.user, settings.weeks, settings.aliases, settings.deadline_s) == ("Otto", "calendar", ("O", "Ott"), 2.5)
    given = Settings.load(file, user="Mila", weeks="rolling")
    assert (given.user, given.weeks, given.aliases) == ("Mila", "rolling", ("O", "Ott"))


def test_argument_that_is_none_counts_as_not_given(file: Path) -> None:
    assert Settings.load(file, user=None).user == "Vera"


def test_missing_file_leaves_the_defaults(tmp_path: Path) -> None:
    assert Settings.load(tmp_path / "nowhere.toml") == Settings()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('colour = "red"', "colour"),
        ("user = ", "not TOML"),
        ('weeks = "lunar"', "weeks"),
        ('deadline_s = "soon"', "deadline_s"),
        ("deadline_s = 0", "deadline_s"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        Settings.load(path)
    assert caught.value.hint


def test_unknown_argument_is_named() -> None:
    with pytest.raises(UsageError, match="colour"):
        Settings.load(colour="red")


def test_variables_of_other_things_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    monkeypatch.setenv("HYBRID_MODELS", str(tmp_path))
    assert Settings.load(tmp_path / "nowhere.toml") == Settings()
    assert models_path() == tmp_path


def test_database_is_where_it_was_said_or_in_the_user_s_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(db="~/a.duckdb").db_path() == Path.home() / "a.duckdb"
    monkeypatch.setenv("HYBRID_DB", "here.duckdb")
    assert Settings.load().db_path() == Path("here.duckdb")
    assert Settings().db_path().name == "memories.duckdb"
    assert Settings().db_path().parent.name == "hybrid"
