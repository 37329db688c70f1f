"""Mathematics set while the site is built: KaTeX's HTML to see, its MathML to hear.

`pymdownx.arithmatex` finds the formulas; this hands each to the KaTeX of `node_modules`, run by
QuickJS. The reader's browser runs nothing. TeX that KaTeX does not understand stops the build.
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
# A formula, and what stands right against it: a bracket, a full stop, the rest of a word.
FORMULA = re.compile(
    r"(?P<before>((?<![^\s<>])[^\s<>]+)?)"
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>'
    r"(?P<after>[^\s<>]*)",
    re.S,
)
BASE = '<span class="katex-base">'  # a part of a formula that stays whole
MAY_BREAK = '<span class="may-break"><wbr></span>'  # a line that is otherwise kept whole
SHORT = 12  # signs; a formula no longer than this stands on one line


class BadTeXError(ValueError):
    """KaTeX does not understand a formula."""


@cache
def _katex() -> Any:
    if not KATEX.is_file():
        raise FileNotFoundError("KaTeX is not installed here: `make site` installs it, by `npm ci`")
    context = quickjs.Context()
    context.eval(KATEX.read_text(encoding="utf-8"))
    return context


@cache
def render(tex: str, *, display: bool = False) -> str:
    """Return a formula as HTML and MathML."""
    options = {"displayMode": display, "throwOnError": True, "strict": "error"}
    try:
        # As JSON, since QuickJS hands out a long string as a rope that its binding cannot read.
        call = f"JSON.stringify(katex.renderToString({json.dumps(tex)}, {json.dumps(options)}))"
        return str(json.loads(_katex().eval(call)))
    except quickjs.JSException as error:
        raise BadTeXError(f"{str(error).splitlines()[0]} in {tex!r}") from None


def _rendered(match: re.Match[str]) -> str:
    tex = html.unescape(match["tex"]).strip()
    if match["open"] == "[":
        formula = _searchable_once(render(tex, display=True))
        return f'{match["before"]}<div class="arithmatex math">{formula}</div>{match["after"]}'
    kind = "arithmatex short" if _signs(tex) <= SHORT else "arithmatex"
    formula = f'<span class="{kind}">{_searchable_once(render(tex))}</span>'
    if not (match["before"] or match["after"]):
        return formula
    # A browser may break a line on either side of a formula, and no character forbids it.
    whole = f'<span class="formula-end">{match["before"]}{formula}{match["after"]}</span>'
    return whole if kind.endswith("short") else _breaking_inside(whole)


def _breaking_inside(formula: str) -> str:
    """Let a line that is otherwise kept whole break where KaTeX parts a formula."""
    before, base, after = formula.partition(BASE)
    return before + base + after.replace(BASE, MAY_BREAK + BASE)


def _signs(tex: str) -> int:
    """Return about how many signs the reader sees of a formula."""
    return len(re.findall(r"\\[A-Za-z]+|\\.|[^\s{}_^]", tex))


def _searchable_once(formula: str) -> str:
    """Keep the MathML from the search, which has the same letters from the HTML beside it.

    It is the MathML because the search forgets what it leaves out at the first inner tag of the
    same name, and the HTML is spans in spans.
    """
    return formula.replace("<math ", "<math data-search-exclude ")


class _Mathematics(Postprocessor):
    def run(self, text: str) -> str:
        return FORMULA.sub(_rendered, text)


class MathematicsExtension(Extension):
    """Set the formulas that arithmatex has marked."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Run last, when the page is HTML."""
        md.postprocessors.register(_Mathematics(md), "book-mathematics", 1)


makeExtension = MathematicsExtension  # the name that Python-Markdown looks for
