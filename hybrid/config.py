"""Settings: arguments before environment before file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from platformdirs import user_config_path, user_data_path

from hybrid.errors import UsageError

WEEKS = ("rolling", "calendar")


@dataclass(frozen=True, slots=True)
class Settings:
    """Hold what a caller may set.

    `weeks` says what "last week" means: the seven days before the reference (`rolling`) or the previous Monday–Sunday
    (`calendar`). `user` names the participant who is the user, `aliases` his other names. `language` is `auto` or a code.
    """

    schema: str = "memories"
    user: str | None = None
    aliases: tuple[str, ...] = ()
    account: str = "local"
    agent: str = "hybrid"
    language: str = "auto"
    weeks: str = "rolling"
    model: str = "auto"
    db: str | None = None
    deadline_s: float = 20.0

    def __post_init__(self) -> None:
        if self.weeks not in WEEKS:
            raise UsageError(f"weeks = {self.weeks!r} is not allowed", f"allowed: {', '.join(WEEKS)}")
        if self.deadline_s <= 0:
            raise UsageError("deadline_s must be positive", "the default is 20 seconds a model call")

    @classmethod
    def load(cls, file: Path | None = None, **arguments: Any) -> Settings:
        """Return the settings: arguments that are not None, then `HYBRID_*` variables, then the settings file.

        The file is `settings.toml` in the platform's user configuration folder, or `file`. Raises UsageError for a name or
        value that is not allowed.
        """
        path = file or user_config_path("hybrid") / "settings.toml"
        settings = cls()
        if path.is_file():
            settings = _updated(settings, _parsed(path), str(path))
        environment = {
            f.name: os.environ[f"HYBRID_{f.name.upper()}"] for f in fields(cls) if f"HYBRID_{f.name.upper()}" in os.environ
        }
        settings = _updated(settings, environment, "the environment")
        return _updated(settings, {k: v for k, v in arguments.items() if v is not None}, "the arguments")

    def db_path(self) -> Path:
        """Return the database file: as set, else `memories.duckdb` in the platform's user data folder."""
        return Path(self.db).expanduser() if self.db else user_data_path("hybrid") / "memories.duckdb"


def models_path() -> Path:
    """Return the folder where `hybrid model install` keeps the model files."""
    own = os.environ.get("HYBRID_MODELS")
    return Path(own).expanduser() if own else user_data_path("hybrid") / "models"


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", "correct the file or remove it") from error


def _updated(settings: Settings, values: Mapping[str, Any], where: str) -> Settings:
    known = {f.name for f in fields(Settings)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise UsageError(f"unknown setting {unknown[0]!r} in {where}", f"allowed: {', '.join(sorted(known))}")
    return replace(settings, **{name: _converted(name, value) for name, value in values.items()})


def _converted(name: str, value: Any) -> Any:
    if name == "aliases":
        names = value.split(",") if isinstance(value, str) else value
        return tuple(str(item).strip() for item in names if str(item).strip())
    if name == "deadline_s":
        try:
            return float(value)
        except ValueError as error:
            raise UsageError("deadline_s is not a number", "give seconds, for example 20") from error
    return str(value)
