"""Render prompt files: a fixed part, checked examples, and a variable part."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hybrid import content
from hybrid.errors import ContentError, PromptError

_BORDER = re.compile(r"^---[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SHARE = 2 / 3


@dataclass(frozen=True, slots=True)
class Prompt:
    """Hold a rendered prompt: the fixed system text, examples as (user, assistant) pairs, and the user text."""

    system: str
    examples: tuple[tuple[str, str], ...]
    user: str


@dataclass(frozen=True, slots=True)
class Example:
    """Hold one few-shot example: the values of the variable part and the answer expected for them."""

    values: Mapping[str, Any]
    answer: Mapping[str, Any]


def render(name: str, **values: Any) -> Prompt:
    """Return the prompt `prompts/<name>.jinja` for these values.

    System text and examples are the same to the byte in every call. Raises PromptError for a missing or malformed file and
    for a variable that is not given.
    """
    fixed, variable = sections(name)
    shown = tuple((_filled(name, variable, example.values), _compact(example.answer)) for example in examples(name))
    return Prompt(_filled(name, fixed, {}), shown, _filled(name, variable, values))


def sections(name: str) -> tuple[str, str]:
    """Return the source of the fixed and of the variable part. Raises PromptError where one is missing."""
    path = _path(f"{name}.jinja")
    return _sections(path, path.stat().st_mtime_ns)


def examples(name: str) -> tuple[Example, ...]:
    """Return the examples of a prompt; none where it has no file of examples. Raises PromptError for a malformed file."""
    path = next(iter(content.listing("prompts", f"{name}.examples.yaml")), None)
    return () if path is None else _examples(path, path.stat().st_mtime_ns)


def checked_examples(name: str) -> tuple[Example, ...]:
    """Return the examples of a prompt after proving each against its own values.

    Names and numbers of the answer occur in the values, most longer words do, and a `quote` does letter by letter. Raises
    PromptError for the first that does not hold, and where the example does not render.
    """
    found = examples(name)
    _, variable = sections(name)
    for number, example in enumerate(found, 1):
        _filled(name, variable, example.values)
        problem = _problem(example)
        if problem:
            raise PromptError(f"prompts/{name}.examples.yaml: example {number}: {problem}", "see prompts/README.md")
    return found


def _problem(example: Example) -> str | None:
    source = " ".join(_texts(example.values))
    given = {_folded(word) for word in _WORD.findall(source)}
    quotes = [str(v) for k, v in example.answer.items() if k == "quote"]
    if any(quote not in source for quote in quotes):
        return "its quote does not occur in its values"
    longer, known = 0, 0
    for text in _texts(example.answer):
        for word in _WORD.finditer(text):
            folded = _folded(word.group())
            name = word.group()[0].isupper() and word.start() > 0
            if (name or any(c.isdigit() for c in folded)) and folded not in given:
                return f"{word.group()!r} does not occur in its values"
            if len(folded) >= 4:
                longer += 1
                known += any(folded[:4] == other[:4] for other in given)
    return "too few of its words occur in its values" if longer and known / longer < _SHARE else None


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _folded(word: str) -> str:
    return re.sub(r"['’]s$", "", word.casefold())


def _compact(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def _path(file: str) -> Path:
    try:
        return content.find("prompts", file)
    except ContentError as error:
        raise PromptError(error.message, error.hint) from error


@functools.lru_cache(maxsize=64)
def _sections(path: Path, _mtime: int) -> tuple[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"prompts/{path.name} cannot be read: {type(error).__name__}", "write it in UTF-8") from error
    border = _BORDER.search(text)
    if border is None:
        raise PromptError(f"prompts/{path.name} has no line ---", "it parts the fixed from the variable part")
    fixed, variable = text[: border.start()].strip(), text[border.end() :].strip()
    if not fixed or not variable:
        raise PromptError(f"prompts/{path.name} lacks a part", "text stands above and below the line ---")
    return fixed, variable


@functools.lru_cache(maxsize=64)
def _examples(path: Path, _mtime: int) -> tuple[Example, ...]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise PromptError(f"prompts/{path.name} is not YAML", "correct the file") from error
    wanted = "a list of mappings with the keys values and answer"
    if not isinstance(raw, list):
        raise PromptError(f"prompts/{path.name} is not a list", wanted)
    for entry in raw:
        if not isinstance(entry, Mapping) or not all(isinstance(entry.get(key), Mapping) for key in ("values", "answer")):
            raise PromptError(f"prompts/{path.name} holds an example of another form", wanted)
    return tuple(Example(entry["values"], entry["answer"]) for entry in raw)


def _filled(name: str, source: str, values: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError

    try:
        return str(_compiled(source, content.folders("prompts")).render(values)).strip()
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError) as error:
        # Only the kind of error is told: its text may hold a value, and values are conversation text.
        what = error.message if isinstance(error, TemplateError) and not values else type(error).__name__
        raise PromptError(
            f"prompts/{name}.jinja does not render: {what}", f"given: {', '.join(values) or 'nothing'}"
        ) from error


@functools.lru_cache(maxsize=128)
def _compiled(source: str, folders: tuple[Path, ...]) -> Any:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader([str(folder) for folder in folders]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=False,
        keep_trailing_newline=False,
    )
    return environment.from_string(source)
