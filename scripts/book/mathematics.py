"""Renders formulas while the site is built: HTML for display, MathML for screen readers.

`pymdownx.arithmatex` finds the formulas; KaTeX from `node_modules`, run by QuickJS, renders them.
The reader's browser runs no script for them. TeX that KaTeX cannot parse stops the build.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from typing import Any

import quickjs
from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

from scripts import ROOT

KATEX = ROOT / "node_modules" / "katex" / "dist" / "katex.min.js"
# A formula with the text that touches it: a bracket, a full stop, the rest of a word.
FORMULA = re.compile(
    r"(?P<before>((?<![^\s<>])[^\s<>]+)?)"
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>'
    r"(?P<after>[^\s<>]*)",
    re.S,
)
BASE = '<span class="katex-base">'  # a part of a formula that never breaks
MAY_BREAK = '<span class="may-break"><wbr></span>'  # allows a line break inside nowrap text
SHORT = 12  # symbols; a formula up to this length, or of one part, never breaks


class BadTeXError(ValueError):
    """KaTeX cannot parse a formula."""


@cache
def _katex() -> Any:
    if not KATEX.is_file():
        raise FileNotFoundError("KaTeX is not installed; `make site` or `npm ci` installs it")
    context = quickjs.Context()
    context.eval(KATEX.read_text(encoding="utf-8"))
    return context


@cache
def render(tex: str, *, display: bool = False) -> str:
    """Return a formula as HTML and MathML."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    try:
        # As JSON, because QuickJS returns a long string as a rope, which its binding cannot read.
        call = f"JSON.stringify(katex.renderToString({json.dumps(tex)}, {json.dumps(options)}))"
        return str(json.loads(_katex().eval(call)))
    except quickjs.JSException as error:
        raise BadTeXError(f"{str(error).splitlines()[0]} in {tex!r}") from None


def _rendered_formula(match: re.Match[str]) -> str:
    tex = html.unescape(match["tex"]).strip()
    if match["open"] == "[":
        formula = render(tex, display=True)
        return f'{match["before"]}<div class="arithmatex math">{formula}</div>{match["after"]}'
    formula = render(tex)
    never_breaks = _signs(tex) <= SHORT or formula.count(BASE) < 2
    kind = "arithmatex short" if never_breaks else "arithmatex"
    formula = f'<span class="{kind}">{formula}</span>'
    if not (match["before"] or match["after"]):
        return formula
    # Browsers may break a line on either side of a formula, and no character prevents that.
    whole = f'<span class="formula-end">{match["before"]}{formula}{match["after"]}</span>'
    return whole if kind.endswith("short") else _breaking_inside(whole)


def _breaking_inside(formula: str) -> str:
    """Allow line breaks between the parts of a formula, inside nowrap text."""
    before, base, after = formula.partition(BASE)
    return before + base + after.replace(BASE, MAY_BREAK + BASE)


def _signs(tex: str) -> int:
    """Return the approximate number of visible symbols in a formula."""
    return len(re.findall(r"\\[A-Za-z]+|\\.|[^\s{}_^]", tex))


class _Mathematics(Postprocessor):
    def run(self, text: str) -> str:
        return FORMULA.sub(_rendered_formula, text)


class MathematicsExtension(Extension):
    """Renders the formulas that arithmatex has marked."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run last, when the page is HTML."""
        md.postprocessors.register(_Mathematics(md), "book-mathematics", 1)


makeExtension = MathematicsExtension  # the name that Python-Markdown looks for
