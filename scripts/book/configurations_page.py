"""The page of configurations, docs/long-context/configurations.md, from `configurations.yml`."""

from __future__ import annotations

from posenc import RotaryConfig
from posenc.config.explain import explained
from scripts import DOCS
from scripts.book.configurations import Configuration, configurations
from scripts.book.evaluate import corrections
from scripts.book.models_page import NONE, RULE_NAMES
from scripts.book.text import corrected

PAGE = DOCS / "long-context" / "configurations.md"
NOT_SAID = "not said"
NO_BREAK = "\u00a0"  # a space at which no line breaks

HEAD = """\
---
title: Configurations of models
description: Rule, base and lengths of published models, as their configurations have them.
audience: anyone who wants to see the rotary settings of a published model
time: a minute, to look up a model
needs: nothing; the rules, to read their names
---
# Configurations of models { #configurations }

The rotary settings of {{ 0 = len(configurations.configurations()) }} models as their
configurations have them, and what [`read_config`](../reference/config.md) makes of each. A name
opens the configuration in the [workbench](workbench.md).
{ .lead }

- **head** is the width of a head, in brackets the rotated part of it if that is not all.
- **trained** and **promised** are the lengths that the configuration states, in tokens. Without a
  rule it states one, which counts as trained.
- **never round** says how many pairs complete no turn within the trained length or, if the
  configuration states a window, within that; where the trained length is not said, within the
  promised one, after the rule. Pairs that stand still do not count.
- **read in** is where the settings were read: in mlc-llm, which keeps copies of published
  configurations, the preset of this name in its
  [`model_preset.py`](https://github.com/mlc-ai/mlc-llm/blob/main/python/mlc_llm/model/model_preset.py);
  in transformers 5.23, the defaults of this class, which are those of the model; or in the table of
  [Models of today](../reference/models.md), under the name of the model.

What became of a model in training, with a source for each value, is in
[Models of today](../reference/models.md). Its lengths are those that authors report, and they may
differ from the ones that a configuration states: that of Apertus says 8192, and with this base it
was trained on {{ 0,000 = models.model("apertus")["trained"] }}.

"""

CAPTION = """
/// table-caption | <
    attrs: {class: configurations}

Rotary settings as published, a row for each type of layers.
///

Checked by `test_published_configurations_are_read_as_transformers_reads_them`,
`test_there_are_enough_models_of_every_rule`,
`test_configurations_and_the_table_of_models_have_the_same_base_and_rule`,
`test_page_of_configurations_is_the_one_that_is_made`
{ .checked }
"""

NUMBERS = {"head", "base", "trained", "promised", "never round"}
SOURCES = {"models.yml": "Models of today"}
LAYERS = {"full_attention": "full attention", "sliding_attention": "with a window"}


def page() -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    text = HEAD + table() + CAPTION
    return corrected(text, corrections(text))


def table() -> str:
    """Return the table of all configurations, bound to `rows`."""
    found = rows()
    align = ["--:" if name in NUMBERS else "---" for name in found[0]]
    lines = [list(found[0]), align, *(list(cells.values()) for cells in found)]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"<!-- table: configurations_table() -->\n{body}"


def rows() -> list[dict[str, str]]:
    """Return the cells of the table by their headings, a row for each type of layers."""
    return [row(one, layers) for one in configurations() for layers in one.layers()]


def row(one: Configuration, layers: RotaryConfig) -> dict[str, str]:
    """Return the cells of one type of layers of a model by their headings."""
    rotating = [pair for pair in explained(layers)["pairs"] if pair["frequency"]]
    kind = layers.layer_type
    return {
        "model": f"[{one.name}](workbench.md?workbench.model={one.key})"
        + (f", {LAYERS[kind]}" if kind else ""),
        "rule": rule(layers),
        "head": f"{layers.d}" + (f" ({layers.rotary_d})" if layers.rotary_d != layers.d else ""),
        "base": f"{layers.base:,.10g}",
        "trained": _counted(layers.trained_length),
        "promised": _counted(layers.length),
        "never round": f"{sum(pair['never_round'] for pair in rotating)} of {len(rotating)}",
        "layout": layers.layout or NOT_SAID,
        "read in": f"{SOURCES.get(one.source, one.source)}, `{one.where}`",
    }


def rule(layers: RotaryConfig) -> str:
    """Return a rule by its name and its factor, a dash if there is none."""
    if layers.scheme == "default":
        return NONE
    factor = f" ×{NO_BREAK}{layers.factor:.10g}" if layers.factor != 1 else ""
    return RULE_NAMES[layers.scheme] + factor


def _counted(length: int | None) -> str:
    return NOT_SAID if length is None else f"{length:,}"
