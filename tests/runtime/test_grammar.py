"""One table, two judges: llama.cpp with the compiled grammar, and our own check of finished answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hybrid.errors import GrammarError
from hybrid.runtime.binding import Model
from hybrid.runtime.grammar import conforms, grammar, parsed


def of(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT = of(text={"type": "string", "maxLength": 12})
LONG = of(text={"type": "string", "minLength": 1, "maxLength": 400})
KIND = of(kind={"enum": ["plan", "event", 'a "quoted" one', "back\\slash", "two\nlines"]})
NUMBER = of(n={"type": "integer", "enum": [1, 12, 3]}, r={"type": "number", "enum": [0.5, 1.0]})
FLAGS = of(sure={"type": "boolean"}, fixed={"const": "yes"}, none={"enum": [None, "x"]})
LIST = of(tags={"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3})
SOME = of(tags={"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "maxItems": 3})
NEST = of(items={"type": "array", "items": of(k={"enum": ["x"]}, t={"type": "string", "maxLength": 4}), "maxItems": 2})
WORDS = of(
    text={"type": "string", "maxLength": 60, "x-words": ["Orla", "keeps", "four", "geese", "O'Dea", 'so-"called"', "No."]}
)

ADMITTED = [
    (TEXT, '{"text":""}'),
    (TEXT, '{"text":"twelve chars"}'),
    (TEXT, '{"text":"żółw 龟 🐢"}'),
    (TEXT, '{"text":"say \\"hi\\""}'),
    (LONG, json.dumps({"text": "ab " * 133}, separators=(",", ":"))),
    (KIND, '{"kind":"plan"}'),
    (KIND, '{"kind":"a \\"quoted\\" one"}'),
    (KIND, '{"kind":"back\\\\slash"}'),
    (KIND, '{"kind":"two\\nlines"}'),
    (NUMBER, '{"n":12,"r":0.5}'),
    (NUMBER, '{"n":1,"r":1.0}'),
    (FLAGS, '{"sure":true,"fixed":"yes","none":null}'),
    (LIST, '{"tags":[]}'),
    (LIST, '{"tags":["a","b","a"]}'),
    (SOME, '{"tags":["a","b"]}'),
    (NEST, '{"items":[{"k":"x","t":"ab"},{"k":"x","t":""}]}'),
    (WORDS, '{"text":"Orla keeps four geese."}'),
    (WORDS, '{"text":"four geese, Orla\'keeps; O\'Dea-Orla"}'),
    (WORDS, '{"text":"No. four so-\\"called\\" geese"}'),
]
REFUSED = [
    (TEXT, '{"text":"thirteen char"}'),
    (TEXT, '{"text":"a\tb"}'),
    (TEXT, '{"text":"a\\tb"}'),
    (TEXT, '{"text":"a\\u0007b"}'),
    (TEXT, '{"text":"a\u2028b"}'),
    (TEXT, '{"text":3}'),
    (TEXT, '{"other":"a"}'),
    (TEXT, '{"text":"a","more":"b"}'),
    (TEXT, '["a"]'),
    (TEXT, '{"text":"a"'),
    (LONG, '{"text":""}'),
    (KIND, '{"kind":"case"}'),
    (KIND, '{"kind":"pla"}'),
    (NUMBER, '{"n":2,"r":0.5}'),
    (NUMBER, '{"n":"1","r":0.5}'),
    (NUMBER, '{"n":1,"r":0.7}'),
    (FLAGS, '{"sure":1,"fixed":"yes","none":null}'),
    (FLAGS, '{"sure":true,"fixed":"no","none":null}'),
    (LIST, '{"tags":["a","b","a","b"]}'),
    (LIST, '{"tags":["c"]}'),
    (LIST, '{"tags":"a"}'),
    (SOME, '{"tags":["a"]}'),
    (NEST, '{"items":[{"k":"y","t":"ab"}]}'),
    (NEST, '{"items":[{"k":"x","t":"abcde"}]}'),
    (WORDS, '{"text":"Orla keeps five geese."}'),
    (WORDS, '{"text":"Orlakeeps"}'),
    (WORDS, '{"text":"Orla  keeps"}'),
    (WORDS, '{"text":"Orla keeps "}'),
    (WORDS, '{"text":"Orla keeps!"}'),
    (WORDS, '{"text":""}'),
]
# What only the grammar refuses: the parsed values are the same.
LOOSE = [(TEXT, '{ "text":"a"}'), (TEXT, '{"text": "a"}'), (TEXT, '{"text":"a"}\n'), (KIND, '```{"kind":"plan"}')]


def admitted(model: Model, schema: dict[str, Any], text: str) -> bool:
    with model.constraint(grammar(schema)) as constraint:
        for token in model.tokenize(text, marks=False):
            if not constraint.admits(token):
                return False
            constraint.accept(token)
        return constraint.admits(model.tokenize("<|im_end|>", marks=True)[0])


@pytest.mark.parametrize(("schema", "text"), ADMITTED)
def test_the_grammar_and_the_check_admit_what_fits(model: Model, schema: dict[str, Any], text: str) -> None:
    assert admitted(model, schema, text)
    assert parsed(text, schema) == (json.loads(text), None)


@pytest.mark.parametrize(("schema", "text"), REFUSED)
def test_the_grammar_and_the_check_refuse_what_does_not_fit(model: Model, schema: dict[str, Any], text: str) -> None:
    assert not admitted(model, schema, text)
    values, reason = parsed(text, schema)
    assert values is None
    assert reason


@pytest.mark.parametrize(("schema", "text"), LOOSE)
def test_the_grammar_admits_compact_json_alone(model: Model, schema: dict[str, Any], text: str) -> None:
    assert not admitted(model, schema, text)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"enum": ["a"]}, "maxItems": 2},
        {"type": "object", "properties": {}, "required": []},
        {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": []},
        {**of(a={"type": "boolean"}), "additionalProperties": True},
        {**of(a={"type": "boolean"}), "minProperties": 1},
        of(a={"type": "string"}),
        of(a={"type": "string", "maxLength": 401}),
        of(a={"type": "string", "maxLength": 20, "pattern": "a+"}),
        of(a={"type": "string", "maxLength": 20, "format": "date"}),
        of(a={"type": "string", "minLength": 5, "maxLength": 4}),
        of(a={"type": "string", "maxLength": 20, "x-words": []}),
        of(a={"type": "string", "maxLength": 20, "x-words": ["a\nb"]}),
        of(a={"type": "string", "minLength": 1, "maxLength": 20, "x-words": ["a"]}),
        of(a={"type": "integer"}),
        of(a={"type": "number", "minimum": 0, "maximum": 1}),
        of(a={"type": "array", "items": {"enum": ["a"]}}),
        of(a={"type": "array", "items": {"enum": ["a"]}, "maxItems": 21}),
        of(a={"type": "array", "maxItems": 2}),
        of(a={"type": "array", "items": {"enum": ["a"]}, "maxItems": 2, "uniqueItems": True}),
        of(a={"type": ["string", "null"], "maxLength": 4}),
        of(a={"enum": []}),
        of(a={"enum": [["a"]]}),
        of(a={"enum": ["\ud800"]}),
        of(a={"anyOf": [{"type": "boolean"}]}),
        of(a={}),
    ],
)
def test_a_schema_outside_the_subset_is_an_error_and_never_ignored(schema: dict[str, Any]) -> None:
    with pytest.raises(GrammarError):
        grammar(schema)


def test_the_largest_schema_compiles(model: Model) -> None:
    text = {"type": "string", "maxLength": 400}
    words = {"type": "string", "maxLength": 400, "x-words": [f"word{n}" for n in range(120)]}
    items = {"type": "array", "items": of(a=text, b=words), "minItems": 1, "maxItems": 20}
    with model.constraint(grammar(of(a=text, b=words, c=items, d={"enum": [str(n) for n in range(200)]}))) as constraint:
        assert constraint.admits(model.tokenize("{", marks=False)[0])


def test_a_grammar_that_llama_cpp_refuses_is_an_error_and_no_crash(model: Model) -> None:
    with pytest.raises(GrammarError), model.constraint("root ::= ("):
        pass


def test_reasons_do_not_quote_the_answer() -> None:
    for schema, text in REFUSED:
        _, reason = parsed(text, schema)
        assert reason is not None
        assert "geese" not in reason
        assert "thirteen" not in reason


def test_the_order_of_keys_is_the_grammars_business() -> None:
    schema = of(a={"type": "boolean"}, b={"type": "boolean"})
    assert conforms({"b": True, "a": False}, schema) is None
