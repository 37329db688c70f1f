"""The JSON Schema of a file of vectors: no unknown fields anywhere but in inputs."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import CONTRACTS, LICENSE, VERSION
from scripts.vectors.inputs import INPUTS, LAYOUT, NUMBERS, RULE, Field


def closed(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    """Return the schema of an object with these fields and no others."""
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def named(inner: Any) -> dict[str, Any]:
    """Return the schema of an object whose names are free."""
    return {"type": "object", "additionalProperties": inner}


def kind(*names: str) -> dict[str, Any]:
    """Return the schema of a value of these types."""
    return {"type": list(names) if len(names) > 1 else names[0]}


ANSWER = {"$ref": "#/$defs/answer"}
WIDTH = kind("integer")
NUMBER = kind("number")
CALL = {
    "object": WIDTH,
    "do": {"enum": ["rotate", "extend", "restart", "frequencies", "cast", "shift"]},
    "x": NUMBERS,
    "positions": NUMBERS,
    "length": WIDTH,
    "dtype": {"enum": ["bfloat16", "float32"]},
    "by": WIDTH,
    "first": WIDTH,
}


def inputs_of(fields: dict[str, Field], *optional: str) -> dict[str, Any]:
    """Return the schema of the inputs of a case."""
    left_out = [name for name, one in fields.items() if one.optional]
    return closed({name: one.kind for name, one in fields.items()}, *left_out, *optional)


def inputs_of_calls() -> dict[str, Any]:
    """Return the schema of the inputs of suite sequences."""
    settings = inputs_of(RULE | {"layout": LAYOUT}, "rule", "layout")
    calls = closed(CALL, *list(CALL)[2:])
    return closed(
        {
            "objects": {"type": "array", "items": settings},
            "calls": {"type": "array", "items": calls},
        }
    )


def schema() -> dict[str, Any]:
    """Return the schema."""
    tolerance = closed({"absolute": NUMBER, "relative": NUMBER})
    case = closed(
        {
            "id": {"type": "string", "pattern": "^[a-z0-9_]+/[a-z0-9-]+-[0-9]{3}$"},
            "input": kind("object"),
            "expected": ANSWER,
            "tolerance": closed(dict.fromkeys(CONTRACTS, tolerance), *CONTRACTS[1:]),
            "result": {"enum": ["valid", "acceptable", "invalid"]},
            "flags": {"type": "array", "items": kind("string")},
            "acceptable": named(ANSWER),
            "bugs": named(ANSWER),
        },
        "acceptable",
    )
    field = closed({"shape": kind("string"), "about": kind("string"), "optional": kind("boolean")})
    file = closed(
        {
            "version": {"const": VERSION},
            "license": kind("string"),
            "suite": {"enum": list(INPUTS)},
            "about": kind("string"),
            "answer": kind("string"),
            "conventions": named(kind("string")),
            "bugs": named(kind("string")),
            "inputs": named(field),
            "refusals": named(kind("string")),
            "cases": {"type": "array", "items": case},
        }
    )
    inputs = {suite: inputs_of(fields) for suite, fields in INPUTS.items()}
    rules = [
        {
            "if": {"properties": {"suite": {"const": suite}}},
            "then": {"properties": {"cases": {"items": {"properties": {"input": fields}}}}},
        }
        for suite, fields in (inputs | {"sequences": inputs_of_calls()}).items()
    ]
    numbers = {"type": "array", "items": {"anyOf": [NUMBER, kind("null"), NUMBERS]}}
    answer = {
        "anyOf": [
            kind("number", "null"),
            {"const": "-Infinity"},
            {"type": "array", "items": ANSWER},
            closed(
                {"frequencies": NUMBERS, "attention_factor": NUMBER, "softmax_factor": NUMBER},
                "softmax_factor",
            ),
            closed({"layers": {"type": "array", "items": ANSWER}}),
        ]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": LICENSE,
        "title": "Vectors of positional encodings",
        "$defs": {"numbers": numbers, "answer": answer},
        **file,
        "allOf": rules,
    }
