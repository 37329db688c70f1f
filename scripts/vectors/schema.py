"""The JSON Schema of a file of vectors: no unknown fields anywhere but in inputs."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import CONTRACTS, VERSION


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


NUMBERS = {"$ref": "#/$defs/numbers"}
ANSWER = {"$ref": "#/$defs/answer"}
WIDTH = kind("integer")
NUMBER = kind("number")
RULE = {
    "rule": kind("string"),
    "d": WIDTH,
    "base": NUMBER,
    "length": WIDTH,
    "factor": NUMBER,
    "trained_length": WIDTH,
    "short": NUMBERS,
    "long": NUMBERS,
    "low": NUMBER,
    "high": NUMBER,
    "fast": NUMBER,
    "slow": NUMBER,
    "ramp": {"enum": ["pairs", "turns"]},
    "truncate": kind("boolean"),
    "mscale": NUMBER,
    "mscale_all_dim": NUMBER,
    "attention_factor": NUMBER,
    "rotary_d": WIDTH,
}
LAYOUT = {"layout": kind("string"), "base": NUMBER}
CALL = {
    "object": WIDTH,
    "do": {"enum": ["rotate", "extend", "restart", "frequencies", "cast"]},
    "x": NUMBERS,
    "positions": NUMBERS,
    "length": WIDTH,
    "dtype": {"enum": ["bfloat16", "float32"]},
}
INPUTS: dict[str, dict[str, Any]] = {
    "frequencies": closed(RULE, *list(RULE)[2:]),
    "config": closed({"config": kind("object"), "length": WIDTH}, "length"),
    "rotation": closed(
        {"x": NUMBERS, "positions": NUMBERS, "frequencies": NUMBERS, "rotary_d": WIDTH} | LAYOUT,
        "frequencies",
        "rotary_d",
        "base",
    ),
    "scores": closed(
        dict.fromkeys(("query", "key", "query_positions", "key_positions"), NUMBERS) | LAYOUT
    ),
    "rotation_2d": closed({"x": NUMBERS, "positions": NUMBERS, "first": kind("string")} | LAYOUT),
    "mrope": closed(
        {
            "x": NUMBERS,
            "positions": NUMBERS,
            "sections": NUMBERS,
            "interleaved_sections": kind("boolean"),
        }
        | LAYOUT
    ),
    "sinusoidal": closed(
        {
            "positions": NUMBERS,
            "d_model": WIDTH,
            "base": NUMBER,
            "order": kind("string"),
            "first": kind("string"),
            "shift": WIDTH,
        }
    ),
    "alibi": closed({"heads": NUMBER}),
    "alibi_bias": closed(
        {
            "heads": WIDTH,
            "query_length": WIDTH,
            "key_length": WIDTH,
            "query_offset": WIDTH,
            "causal": kind("boolean"),
        },
        "query_offset",
    ),
    "t5": closed(
        {
            "relative": NUMBERS,
            "bidirectional": kind("boolean"),
            "buckets": WIDTH,
            "max_distance": WIDTH,
        }
    ),
    "swin": closed({"window": NUMBER}),
    "shaw": closed({"query_length": WIDTH, "key_length": WIDTH, "max_distance": NUMBER}),
    "resize": closed({"table": NUMBERS, "rows": WIDTH}),
    "positions": closed(
        {"mask": NUMBERS, "lengths": NUMBERS, "queries": WIDTH}, "mask", "lengths", "queries"
    ),
    "sequences": closed(
        {
            "objects": {
                "type": "array",
                "items": closed(
                    RULE | {"layout": kind("string")}, "rule", "layout", *list(RULE)[2:]
                ),
            },
            "calls": {"type": "array", "items": closed(CALL, *list(CALL)[2:])},
        }
    ),
}


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
    file = closed(
        {
            "version": {"const": VERSION},
            "suite": {"enum": list(INPUTS)},
            "about": kind("string"),
            "answer": kind("string"),
            "conventions": named(kind("string")),
            "bugs": named(kind("string")),
            "cases": {"type": "array", "items": case},
        }
    )
    inputs = [
        {
            "if": {"properties": {"suite": {"const": suite}}},
            "then": {"properties": {"cases": {"items": {"properties": {"input": fields}}}}},
        }
        for suite, fields in INPUTS.items()
    ]
    numbers = {"type": "array", "items": {"anyOf": [NUMBER, kind("null"), NUMBERS]}}
    answer = {
        "anyOf": [
            kind("number", "null"),
            {"const": "-Infinity"},
            {"type": "array", "items": ANSWER},
            closed({"frequencies": NUMBERS, "attention_factor": NUMBER}),
        ]
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Vectors of positional encodings",
        "$defs": {"numbers": numbers, "answer": answer},
        **file,
        "allOf": inputs,
    }
