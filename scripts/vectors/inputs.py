"""What a case of each suite gives: for the schema, the files, the command and the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

NUMBERS = {"$ref": "#/$defs/numbers"}
KINDS = {
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "text": {"type": "string"},
    "yes or no": {"type": "boolean"},
    "object": {"type": "object"},
}


@dataclass(frozen=True)
class Field:
    """One input.

    Args:
        shape: a key of KINDS, or lengths of axes in brackets.
        about: what it is.
        optional: whether a case may lack it.
        schema: its JSON Schema; None for that of its shape.
    """

    shape: str
    about: str
    optional: bool = False
    schema: Any = None

    def written(self) -> dict[str, Any]:
        """Return the field as a file tells it."""
        return {"shape": self.shape, "about": self.about, "optional": self.optional}

    @property
    def kind(self) -> Any:
        """The JSON Schema of its values."""
        return self.schema or KINDS.get(self.shape, NUMBERS)


def may(shape: str, about: str, schema: Any = None) -> Field:
    """Return an input that a case may lack."""
    return Field(shape, about, True, schema)


BASE = Field("number", "base of the frequencies")
LAYOUT = Field("text", "pairs: interleaved are neighbours, half are d/2 apart")
X = "vectors to rotate"
HEAD = Field("integer", "width of a head, even")
RULE = {
    "rule": Field("text", "how the frequencies are scaled"),
    "d": HEAD,
    "base": may("number", "base of the frequencies"),
    "length": may("integer", "tokens of the sequence; for dynamic and longrope"),
    "factor": may("number", "how many times longer than trained"),
    "trained_length": may("integer", "tokens of a sequence in training"),
    "short": may("[d/2]", "divisors up to the trained length; for longrope"),
    "long": may("[d/2]", "divisors beyond the trained length; for longrope"),
    "low": may("number", "turns below which a pair is slowed; for llama3"),
    "high": may("number", "turns above which a pair is kept; for llama3"),
    "fast": may("number", "turns above which a pair is kept; for yarn"),
    "slow": may("number", "turns below which a pair is slowed; for yarn"),
    "ramp": may(
        "text",
        "what the ramp of yarn runs over: pairs as in released code, or turns as in the paper",
        {"enum": ["pairs", "turns"]},
    ),
    "truncate": may(
        "yes or no", "whether the ends of the ramp over pairs are rounded to integers; for yarn"
    ),
    "mscale": may("number", "numerator of yarn's attention factor"),
    "mscale_all_dim": may("number", "denominator of yarn's attention factor"),
    "attention_factor": may("number", "the attention factor itself; for yarn and longrope"),
    "rotary_d": may("integer", "how many of d dimensions rotate; for proportional"),
}
SETTINGS = "settings of each object: d, base, layout, and as in frequencies"
CALLS = "calls in order: object, do, and x, positions, length, dtype, by or first"
INPUTS: dict[str, dict[str, Field]] = {
    "frequencies": RULE,
    "config": {
        "config": Field("object", "a configuration as transformers writes it"),
        "length": may("integer", "tokens of the whole sequence"),
    },
    "rotation": {
        "x": Field("[…, length, d]", X),
        "positions": Field("[length] or [batch, length]", "of each vector, integers or reals"),
        "frequencies": may("[rotary_d/2]", "of each pair; in place of base"),
        "rotary_d": may("integer", "how many dimensions rotate, the first ones; all if missing"),
        "part": may("text", "first or last: the dimensions that rotate; first if missing"),
        "pairs": may(
            "text",
            "part or head: which is split into halves to form pairs, in the layout half; part if"
            " missing",
        ),
        "inverse": may("yes or no", "whether x is rotated already and is to be rotated back"),
        "layout": LAYOUT,
        "base": may("number", "base of the frequencies; where frequencies are missing"),
    },
    "scores": {
        "query": Field("[queries, d]", "vectors, not yet rotated"),
        "key": Field("[keys, d]", "vectors, not yet rotated"),
        "query_positions": Field("[queries]", "of each query, integers"),
        "key_positions": Field("[keys]", "of each key, integers"),
        "layout": LAYOUT,
        "base": BASE,
    },
    "rotation_2d": {
        "x": Field("[patches, d]", X),
        "positions": Field("[patches, 2]", "row and column of each patch, integers or reals"),
        "first": Field("text", "row or column: the axis that owns the first half of d"),
        "layout": LAYOUT,
        "base": BASE,
    },
    "mrope": {
        "x": Field("[length, d]", X),
        "positions": Field("[3, length]", "time, height and width of each vector, integers"),
        "sections": Field("[3]", "how many pairs each axis rotates"),
        "interleaved_sections": Field("yes or no", "whether the axes are interleaved"),
        "layout": LAYOUT,
        "base": BASE,
    },
    "sinusoidal": {
        "positions": Field("[length]", "integers or reals"),
        "d_model": Field("integer", "width of a row"),
        "base": BASE,
        "order": Field("text", "interleaved: sine and cosine are neighbours; or halves"),
        "first": Field("text", "sine or cosine"),
        "shift": Field("integer", "0 or 1, subtracted from the denominator d_model/2"),
    },
    "alibi": {
        "heads": Field("number", "how many heads, in all ranks together"),
        "rank": may("integer", "which shard of the heads is asked for; from 0"),
        "ranks": may("integer", "into how many equal shards the heads are split"),
    },
    "alibi_bias": {
        "heads": Field("integer", "how many heads"),
        "query_length": Field("integer", "how many queries"),
        "key_length": Field("integer", "how many keys, from 0 on"),
        "query_offset": may("integer", "the first query's position; 0 if missing"),
        "causal": Field("yes or no", "whether later keys are hidden"),
    },
    "t5": {
        "relative": Field("any", "key − query, integers in one or two axes", schema=NUMBERS),
        "bidirectional": Field("yes or no", "whether keys ahead have buckets of their own"),
        "buckets": Field("integer", "how many buckets"),
        "max_distance": Field(
            "integer", "the distance from which on all distances share the last bucket"
        ),
    },
    "swin": {"window": Field("number", "patches on a side")},
    "shaw": {
        "query_length": Field("integer", "how many queries, from 0 on"),
        "key_length": Field("integer", "how many keys, from 0 on"),
        "max_distance": Field("number", "where distances are clipped"),
    },
    "resize": {
        "table": Field("[length, width]", "the learned rows"),
        "rows": Field("integer", "how many rows the new table has"),
    },
    "positions": {
        "mask": may("[batch, length]", "1 for tokens, 0 for padding; this or lengths"),
        "lengths": may("[sequences]", "of sequences packed into one row; this or mask"),
        "segments": may(
            "[batch, length]", "the sequence of each token in a packed row, from 1; 0 for padding"
        ),
        "queries": may("integer", "how many of the last tokens are asked for; all if missing"),
        "first_row": may(
            "integer", "the position of the first token of each sequence; 0 if missing"
        ),
    },
    "sequences": {
        "objects": Field("list of objects", SETTINGS),
        "calls": Field("list of objects", CALLS),
    },
    "swin_rectangle": {
        "height": Field("integer", "rows of patches"),
        "width": Field("integer", "columns of patches"),
    },
    "deberta": {
        "relative": Field("any", "key − query, integers in one or two axes", schema=NUMBERS),
        "max_distance": Field("integer", "where distances are clipped, or the last bucket begins"),
        "buckets": may("integer", "how many buckets on each side; if missing, rows are asked for"),
    },
    "mrope_positions": {
        "parts": Field(
            "list",
            "of each part: how many tokens; or, for a grid, frames, height and width",
            schema={"type": "array"},
        ),
        "intervals": may("number", "how far frames are apart in time; 1 if missing"),
        "after": may("text", "largest or sides: where the part after a grid begins"),
    },
    "resize_grid": {
        "grid": Field("[height, width, d]", "the learned rows"),
        "sizes": Field("[2]", "the new height and width"),
        "kernel": Field("text", "linear or cubic"),
        "corners": Field("yes or no", "whether the corner positions keep their values"),
        "antialias": Field("yes or no", "whether the kernel is widened where the grid shrinks"),
    },
}

# Why inputs are nonsense, by the flag of their cases.
LAYOUTS = {"unknown layout": "layout must be interleaved or half."}
HEADS = {"heads": "There must be a whole number of heads, at least one."}
BASES = {"base": "base must be positive."}
REFUSALS: dict[str, dict[str, str]] = {
    "frequencies": BASES
    | {
        "width": "d must be even and at least 2, and for ntk at least 4.",
        "factor": "factor must be at least 1: a context is stretched, not shrunk.",
        "length": "Lengths must be at least 1.",
        "limits": "The limit above which pairs are kept must not be below the limit below which"
        " they are slowed.",
        "shape": "short and long must have a divisor for each pair.",
        "divisors": "Divisors must be positive.",
        "partial": "rotary_d must be even, and at most d.",
        "unknown rule": "rule must be one that the suite has.",
    },
    "config": {
        "scaling": "The rule must be known and have all its values, with a factor of at least 1.",
        "unread key": "A key that no program reads is taken to be misspelt.",
        "odd width": "The width of a head must be even.",
        "width": "The heads must share hidden_size evenly.",
        "base": "rope_theta must be a number.",
        "contradiction": "The base must not be given twice with different values.",
    },
    "rotation": BASES
    | LAYOUTS
    | {
        "odd width": "The width of a vector must be even: a pair has two dimensions.",
        "partial": "rotary_d must be even, and at most the width of a vector.",
        "shape": "There must be a position for each vector, and a frequency for each pair.",
    },
    "rotation_2d": LAYOUTS
    | {
        "width": "The width of a vector must be a multiple of 4: pairs for two axes.",
        "axes": "A patch must have two positions, its row and its column.",
        "shape": "There must be a row and a column for each patch.",
        "unknown axis": "first must be row or column.",
    },
    "mrope": LAYOUTS
    | {
        "sections": "sections must be three counts that add up to the pairs of a head.",
        "axes": "positions must have a row for time, for height and for width.",
        "shape": "There must be a position on each axis for each vector.",
    },
    "scores": LAYOUTS
    | {
        "shape": "Queries and keys must have one width, and a position each.",
        "odd width": "The width of a head must be even: a pair has two dimensions.",
    },
    "sinusoidal": BASES
    | {
        "width": "d_model must be even and at least 2.",
        "unknown order": "order must be interleaved or halves, and first sine or cosine.",
        "shift": "With one pair, a shift of 1 divides by zero.",
    },
    "alibi": HEADS
    | {"shard": "The heads must be split evenly, and rank must be one of the shards."},
    "alibi_bias": HEADS
    | {
        "length": "Lengths must not be negative.",
        "offset": "The first query must not be before position 0.",
    },
    "t5": {
        "odd": "Both directions must have as many buckets: their number is even.",
        "too few": "There must be 2 buckets, or 4 for both directions.",
        "max_distance": "max_distance must lie beyond the distances that have their own bucket.",
        "not an integer": "Relative positions must be integers.",
    },
    "swin": {"window": "A window must have a whole number of patches on a side, at least one."},
    "shaw": {
        "max_distance": "max_distance must be a whole number, 0 or more.",
        "length": "Lengths must not be negative.",
    },
    "resize": {
        "rows": "There must be at least one row.",
        "empty": "A table without rows has nothing to interpolate.",
        "shape": "The rows of a table must have one width.",
    },
    "positions": {
        "length": "Lengths must be whole numbers, 0 or more.",
        "mask": "A mask must have 1 for tokens and 0 for padding.",
        "shape": "The rows of a mask must have one length.",
        "queries": "No more tokens can be asked for than there are.",
        "first_row": "A table has no row before 0.",
    },
    "sequences": {},
    "swin_rectangle": {},
    "deberta": {
        "odd": "buckets must be even, and at least 4.",
        "max_distance": "max_distance must be 1 or more, and lie beyond the single buckets.",
    },
    "mrope_positions": {
        "sizes": "A part must not have fewer than 0 tokens, and no side of a grid may be 0.",
        "interval": "Frames must not go back in time.",
    },
    "resize_grid": {
        "sizes": "There must be at least one row and column.",
        "unknown kernel": "kernel must be linear or cubic.",
        "contradiction": "With antialias, cells are aligned, and corners cannot keep their values.",
    },
}
