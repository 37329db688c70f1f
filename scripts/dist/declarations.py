"""The types of the npm package, written from the schema of the vectors."""

from __future__ import annotations

import json
from typing import Any

from scripts import ROOT

SCHEMA = ROOT / "docs" / "vectors" / "schema_v1.json"
FIXED = """\
// Types of posenc-vectors, written from schema_v1.json.

/** Nested lists of numbers; null where there is none. */
export type Numbers = (number | null | Numbers)[];
/** An answer; "-Infinity" is a hidden key, and null stands where any value will do. */
export type Answer =
  | number
  | null
  | "-Infinity"
  | Answer[]
  | { frequencies: Numbers; attention_factor: number };
export type Contract = "float64" | "float32 angle" | "bfloat16 result";
export type Status =
  | "passed"
  | "acceptable"
  | "failed"
  | "refused"
  | "unrefused"
  | "unsupported";

export interface Case<S extends SuiteName = SuiteName> {
  readonly id: string;
  readonly input: Inputs[S];
  /** null if the input must be refused. */
  readonly expected: Answer;
  readonly tolerance: { readonly [C in Contract]?: { absolute: number; relative: number } };
  readonly result: "valid" | "acceptable" | "invalid";
  readonly flags: readonly string[];
  readonly acceptable?: { readonly [convention: string]: Answer };
  readonly bugs: { readonly [bug: string]: Answer };
}

export interface Suite<S extends SuiteName = SuiteName> {
  readonly version: 1;
  readonly suite: S;
  readonly about: string;
  readonly answer: string;
  readonly conventions: { readonly [name: string]: string };
  readonly bugs: { readonly [name: string]: string };
  readonly cases: readonly Case<S>[];
}

export interface Outcome {
  readonly case: Case;
  readonly status: Status;
  /** What is wrong, or why it is refused or unsupported. */
  readonly said: string;
  readonly place: string;
  /** The convention or the known bugs that give this answer. */
  readonly like: readonly string[];
  /** The reason in the list of known differences, if the case stands there. */
  readonly known?: string;
}

export interface Options {
  contract?: Contract;
  /** Lines of an id or a pattern such as "t5/far-*", then "#" and the reason. */
  known?: string;
  /** Count as wrong what must be refused and is answered. */
  strict?: boolean;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** What is wrong and not known, and what is known and passes. */
  readonly unexpected: readonly Outcome[];
  /** How many failures each known bug explains. */
  readonly bugs: { readonly [name: string]: number };
  /** 0 if nothing is unexpected, 1 if something is, 2 if no case was tested. */
  readonly status: 0 | 1 | 2;
  toString(): string;
}

/** To be thrown by a function that does not offer what a case asks for. */
export class Unsupported extends Error {}
export const suites: readonly SuiteName[];
export function load<S extends SuiteName>(suite: S): Suite<S>;
/** Judge one answer. */
export function judge(case_: Case, answer: unknown, contract?: Contract): Omit<Outcome, "known">;
/**
 * Test a function against a suite. The function gets the input of a case and returns the answer; it
 * throws what it refuses. For the suite "sequences", pass a function that returns an object.
 */
export function check<S extends SuiteName>(
  suite: S,
  answer: (input: any) => unknown,
  options?: Options,
): Report;
"""
SIMPLE = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}


def declarations() -> str:
    """Return the declarations: an input type for each suite, then what is the same for all."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    inputs = {
        rule["if"]["properties"]["suite"]["const"]: rule["then"]["properties"]["cases"]["items"][
            "properties"
        ]["input"]
        for rule in schema["allOf"]
    }
    lines = [f"  {name}: {type_of(inner)};" for name, inner in inputs.items()]
    named = ["", "export interface Inputs {", *lines, "}", "export type SuiteName = keyof Inputs;"]
    return FIXED + "\n".join([*named, ""])


def type_of(schema: dict[str, Any]) -> str:
    """Return the TypeScript type of what a schema allows."""
    if "$ref" in schema:
        return "Numbers"
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    kind = schema["type"]
    if kind == "array":
        return f"({type_of(schema['items'])})[]" if "items" in schema else "unknown[]"
    if kind == "object":
        return _type_of_object(schema)
    return SIMPLE[kind]


def _type_of_object(schema: dict[str, Any]) -> str:
    """Return the type of an object: its fields, or any at all."""
    if "properties" not in schema:
        return "{ [key: string]: unknown }"
    required = schema["required"]
    fields = [
        f"{name}{'' if name in required else '?'}: {type_of(inner)}"
        for name, inner in schema["properties"].items()
    ]
    return f"{{ {'; '.join(fields)} }}"
