"""Links to the reference from before the package had wings lead to the same functions."""

from __future__ import annotations

import importlib
import re

import pytest

import posenc
from scripts.site.former_reference_anchors import on_page_content
from tests.package.test_wings import FORMER

PLACES = [(module, name) for module, names in FORMER.items() for name in names.split()]


def heading(name: str) -> str:
    """Return the heading that the reference has for a public name."""
    thing = getattr(posenc, name)
    return f'<h2 id="{thing.__module__}.{thing.__qualname__}" class="doc doc-heading">'


@pytest.mark.parametrize(("module", "name"), PLACES)
def test_heading_has_the_place_that_the_name_had(module: str, name: str) -> None:
    html = on_page_content(f"{heading(name)}<code>{name}</code></h2>")
    assert f"posenc.{module}.{name}" in re.findall(r'id="(.+?)"', html)


def test_method_keeps_its_place_too() -> None:
    module = importlib.import_module("posenc.embeddings.sinusoidal")
    method = f"{module.PositionalEncoding.get_encoding.__qualname__}"
    html = on_page_content(f'<h3 id="posenc.embeddings.sinusoidal.{method}"></h3>')
    assert f'<span id="posenc.sinusoidal.{method}"></span></h3>' in html


def test_other_headings_stay_as_they_are() -> None:
    html = '<h2 id="posenc.nn.alibi.AlibiBias"></h2><p id="posenc.scores.alibi.alibi_bias"></p>'
    assert on_page_content(html) == html
