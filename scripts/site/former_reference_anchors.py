"""Keeps the places of the reference from before the package had wings.

A link to `#posenc.alibi.alibi_slopes` leads to the heading `#posenc.scores.alibi.alibi_slopes`.
"""

from __future__ import annotations

import re
from typing import Any

HEADING = re.compile(
    r'(?P<tag><h\d id="posenc\.(?P<module>(?:axes|embeddings|graphs|rotary|scores)\.\w+'
    r'|frequency|positions)(?P<name>\.[\w.]+)"[^>]*>)'
)
RENAMED = {
    "frequency": "frequencies",
    "positions": "relative",
    "rotary.rope": "rotary",
    "scores.dot_product": "attention",
}


def on_page_content(html: str, **_: Any) -> str:
    """Put the former place of each function and class into its heading."""
    return HEADING.sub(_with_former_place, html)


def _with_former_place(heading: re.Match[str]) -> str:
    module = heading["module"]
    former = RENAMED.get(module, module.rpartition(".")[2])
    return f'{heading["tag"]}<span id="posenc.{former}{heading["name"]}"></span>'
