"""The page of configurations, long-context/configurations.md, from `configurations.yml`."""

from __future__ import annotations

from posenc import RotaryConfig
from posenc.config.explain import explained
from scripts.book.configurations import Configuration, configurations, not_read
from scripts.book.evaluate import corrected_page
from scripts.book.models_page import NONE, RULE_NAMES
from scripts.book.template import filled

NOT_SAID = "not said"
NO_BREAK = "\u00a0"  # a space at which no line breaks

NUMBERS = {"head", "base", "trained", "promised", "never round"}
SOURCES = {"models.yml": "Models of today"}
LAYERS = {"full_attention": "full attention", "sliding_attention": "with a window"}


def page(path: str) -> str:
    """Return the whole page as Markdown, with its bound numbers computed."""
    missing = [{"model type": f"`{kind}`", "why": why} for kind, why in not_read().items()]
    return corrected_page(filled("configurations", rows=rows(), numbers=NUMBERS, missing=missing))


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
