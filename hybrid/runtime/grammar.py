"""Turn a JSON Schema into a GBNF grammar, and check answers against the schema.

The subset: objects whose properties are all required, in their order; strings with `maxLength` (at most 400) or with
`x-words`, the only words they may hold; `enum`, `const`, booleans; arrays with `maxItems` (at most 20). Anything else raises
GrammarError, so that no part of a schema is ignored. The grammar admits compact JSON alone: no white space between tokens,
no control characters in strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hybrid.errors import GrammarError

MAX_STRING = 400
MAX_ITEMS = 20
_NOTES = frozenset(("title", "description"))
_KEYS: Mapping[str, frozenset[str]] = {
    "object": frozenset(("properties", "required", "additionalProperties")),
    "array": frozenset(("items", "minItems", "maxItems")),
    "string": frozenset(("minLength", "maxLength", "x-words")),
    "boolean": frozenset(),
}
_JOINER = re.compile(r"[,;.]? |-|'")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# llama.cpp refuses a grammar whose repetitions grow too large, so the sizes above are limits and not advice.
_CHARACTER = r'character ::= [^"\\\x00-\x1F\x7F-\x9F\u2028\u2029] | "\\" ["\\]'
_JOIN = r"""join ::= [,;.]? " " | [-']"""


def grammar(schema: Mapping[str, Any]) -> str:
    """Return the GBNF grammar of a schema whose root is an object. Raises GrammarError for what is not in the subset."""
    if schema.get("type") != "object":
        raise GrammarError("the root of a schema must be an object", 'write {"type": "object", ...}')
    rules: dict[str, str] = {}
    root = _rule(schema, "root", rules)
    return "\n".join((f"root ::= {root}", *rules.values())) + "\n"


def parsed(text: str, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return the values of an answer, or None and the reason: `not JSON`, or where it departs from the schema."""
    try:
        values = json.loads(text)
    except ValueError:
        return None, "not JSON"
    reason = conforms(values, schema)
    return (None, reason) if reason else (values, None)


def conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    """Say where a value departs from a schema, without quoting it; None where it fits. Raises GrammarError."""
    kind = _kind(schema, "root")
    return _CONFORMS[kind](value, schema)


def _kind(schema: Mapping[str, Any], where: str) -> str:
    """Return the kind of a schema after refusing every key that is not understood."""
    if "enum" in schema or "const" in schema:
        allowed: frozenset[str] = frozenset(("enum", "type")) if "enum" in schema else frozenset(("const", "type"))
        kind = "choice"
    else:
        kind = str(schema.get("type"))
        if kind in ("integer", "number"):
            raise GrammarError(f"{where}: a {kind} needs an enum", "list the numbers that are allowed")
        if kind not in _KEYS:
            raise GrammarError(f"{where}: type {kind!r} is not supported", f"allowed: {', '.join(_KEYS)}, or an enum")
        allowed = _KEYS[kind] | {"type"}
    unknown = sorted(set(schema) - allowed - _NOTES)
    if unknown:
        raise GrammarError(f"{where}: {unknown[0]!r} is not supported", f"allowed here: {', '.join(sorted(allowed))}")
    return kind


def _rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    return _RULES[_kind(schema, where)](schema, where, rules)


def _object_rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    properties = _properties(schema, where)
    parts: list[str] = []
    for name, inner in properties.items():
        parts.append(
            _literal(f"{',' if parts else '{'}{_compact(name)}:", where) + " " + _rule(inner, f"{where}.{name}", rules)
        )
    return "(" + " ".join(parts) + ' "}")'


def _properties(schema: Mapping[str, Any], where: str) -> Mapping[str, Mapping[str, Any]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise GrammarError(f"{where}: an object needs properties", "an empty object says nothing")
    if sorted(schema.get("required", ())) != sorted(properties):
        raise GrammarError(f"{where}: every property must be required", "list all of them in required")
    if schema.get("additionalProperties", False) is not False:
        raise GrammarError(f"{where}: additional properties are not supported", "leave additionalProperties out")
    return properties


def _array_rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    least, most = _bounds(schema, ("minItems", "maxItems"), MAX_ITEMS, where)
    if not isinstance(schema.get("items"), Mapping):
        raise GrammarError(f"{where}: an array needs items", "give the schema of one item")
    name = f"item{len(rules)}"
    rules[name] = ""
    rules[name] = f"{name} ::= " + _rule(schema["items"], f"{where}[]", rules)
    if most == 0:
        return '"[]"'
    body = f'{name} ("," {name}){{{max(0, least - 1)},{most - 1}}}'
    return f'("[" {body} "]")' if least else f'("[" ({body})? "]")'


def _string_rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    if "x-words" in schema:
        return _words_rule(schema, where, rules)
    least, most = _bounds(schema, ("minLength", "maxLength"), MAX_STRING, where)
    rules["character"] = _CHARACTER
    return f'("\\"" character{{{least},{most}}} "\\"")'


def _words_rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    words = _words(schema, where)
    # A word and what joins it take two characters at least.
    most = _longest(schema, where) // 2
    name = f"word{len(rules)}"
    rules["join"] = _JOIN
    rules[name] = f"{name} ::= " + " | ".join(_literal(_compact(word)[1:-1], where) for word in words)
    return f'("\\"" {name} (join {name}){{0,{most}}} [.]? "\\"")'


def _words(schema: Mapping[str, Any], where: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(schema["x-words"]))
    if not words or not all(isinstance(word, str) and word and not _FORBIDDEN.search(word) for word in words):
        raise GrammarError(f"{where}: x-words must be words without control characters", "list at least one")
    return words


def _choice_rule(schema: Mapping[str, Any], where: str, rules: dict[str, str]) -> str:
    return "(" + " | ".join(_literal(value, where) for value in _choices(schema, where)) + ")"


def _choices(schema: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the values of an enum or const as compact JSON, each once."""
    values = schema["enum"] if "enum" in schema else [schema["const"]]
    if not isinstance(values, (list, tuple)) or not values:
        raise GrammarError(f"{where}: an enum needs values", "list at least one")
    if any(isinstance(value, (Mapping, list, tuple)) for value in values):
        raise GrammarError(f"{where}: an enum holds single values", "use text, numbers, true, false or null")
    return tuple(dict.fromkeys(_compact(value) for value in values))


def _bounds(schema: Mapping[str, Any], names: tuple[str, str], limit: int, where: str) -> tuple[int, int]:
    least, most = schema.get(names[0], 0), schema.get(names[1])
    if not isinstance(most, int) or not isinstance(least, int) or not 0 <= least <= most <= limit:
        raise GrammarError(f"{where}: {names[1]} must be a number up to {limit}", f"{names[0]} may not exceed it")
    return least, most


def _longest(schema: Mapping[str, Any], where: str) -> int:
    if "minLength" in schema:
        raise GrammarError(f"{where}: minLength is not supported beside x-words", "leave it out")
    return _bounds({"maxLength": MAX_STRING, **schema}, ("minLength", "maxLength"), MAX_STRING, where)[1]


def _literal(text: str, where: str) -> str:
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise GrammarError(f"{where}: text with half a character", "give valid Unicode")
    # Control characters would end a line of the grammar; JSON has escaped all but these already.
    escaped = re.sub("[\x7f-\x9f\u2028\u2029]", lambda m: f"\\u{ord(m.group()):04x}", text.replace("\\", "\\\\"))
    return '"' + escaped.replace('"', '\\"') + '"'


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object_conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    properties = _properties(schema, "root")
    if not isinstance(value, Mapping):
        return "not an object"
    if set(value) != set(properties):
        return "other keys than asked for"
    found = ((name, conforms(value[name], inner)) for name, inner in properties.items())
    return next((f"{name}: {reason}" for name, reason in found if reason), None)


def _array_conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    least, most = _bounds(schema, ("minItems", "maxItems"), MAX_ITEMS, "root")
    if not isinstance(value, (list, tuple)):
        return "not a list"
    if not least <= len(value) <= most:
        return "too few or too many items"
    return next((reason for reason in (conforms(item, schema["items"]) for item in value) if reason), None)


def _string_conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    if not isinstance(value, str):
        return "not text"
    if _FORBIDDEN.search(value):
        return "control characters"
    if "x-words" in schema:
        if len(value) > _longest(schema, "root"):
            return "too long"
        return None if _only(value.removesuffix("."), value, _words(schema, "root")) else "other words than allowed"
    least, most = _bounds(schema, ("minLength", "maxLength"), MAX_STRING, "root")
    return None if least <= len(value) <= most else "too short or too long"


def _only(bare: str, whole: str, words: tuple[str, ...]) -> bool:
    """Say whether the text is a sequence of the words; every place that words can reach is followed."""
    ends = {len(bare), len(whole)}
    open_places, seen = [0], {0}
    while open_places:
        place = open_places.pop()
        for word in words:
            end = place + len(word)
            if not whole.startswith(word, place):
                continue
            if end in ends:
                return True
            joined = _JOINER.match(whole, end)
            if joined and joined.end() not in seen:
                seen.add(joined.end())
                open_places.append(joined.end())
    return False


def _choice_conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    try:
        return None if _compact(value) in _choices(schema, "root") else "not among the choices"
    except (TypeError, ValueError):
        return "not among the choices"


def _boolean_conforms(value: Any, schema: Mapping[str, Any]) -> str | None:
    return None if isinstance(value, bool) else "not true or false"


_RULES: Mapping[str, Callable[[Mapping[str, Any], str, dict[str, str]], str]] = {
    "object": _object_rule,
    "array": _array_rule,
    "string": _string_rule,
    "choice": _choice_rule,
    "boolean": lambda schema, where, rules: '("true" | "false")',
}
_CONFORMS: Mapping[str, Callable[[Any, Mapping[str, Any]], str | None]] = {
    "object": _object_conforms,
    "array": _array_conforms,
    "string": _string_conforms,
    "choice": _choice_conforms,
    "boolean": _boolean_conforms,
}
