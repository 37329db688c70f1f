"""The strictest Content-Security-Policy with which all of the book works, as an HTTP header.

Inline scripts are allowed by their hashes, so no other inline script can run. The build prints the
header and writes it to the site's `_headers`, a file that several hosts read.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

NAME = "Content-Security-Policy"
HEADERS = "_headers"

SCRIPT = re.compile(r"<script\b(?P<about>[^>]*)>(?P<code>.*?)</script>", re.S)
IS_CODE = re.compile(r"^(?!.*\ssrc=)(?!.*\stype=[\"']?application/json)", re.S)

DIRECTIVES = {
    "default-src": "'self'",
    # Run compiles Python's interpreter.
    "script-src": "'self' 'wasm-unsafe-eval'",
    # KaTeX positions the parts of formulas with thousands of style attributes.
    "style-src-attr": "'unsafe-inline'",
    # The theme's icons are in its style sheet.
    "img-src": "'self' data:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}


def policy(pages: Iterable[str]) -> str:
    """Return the policy for these pages: same origin only, and only their inline scripts."""
    scripts = " ".join(sorted({hashed(code) for page in pages for code in inline_scripts(page)}))
    values = DIRECTIVES | {"script-src": f"{DIRECTIVES['script-src']} {scripts}".rstrip()}
    return "; ".join(f"{name} {value}" for name, value in values.items())


def inline_scripts(page: str) -> list[str]:
    """Return the code of the inline scripts in a page."""
    found = SCRIPT.finditer(page)
    return [script["code"] for script in found if IS_CODE.match(script["about"])]


def hashed(code: str) -> str:
    """Return the hash that allows an inline script in a policy."""
    return f"'sha256-{b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def write(site: Path) -> str:
    """Write the policy of a built site to its `_headers`, and return the header."""
    pages = (page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html")))
    line = f"{NAME}: {policy(pages)}"
    (site / HEADERS).write_text(f"/*\n  {line}\n", encoding="utf-8")
    return line


def headers(site: Path) -> dict[str, str]:
    """Return the headers in a site's `_headers`, or none if the file does not exist."""
    file = site / HEADERS
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    pairs = (line.strip().partition(": ") for line in lines if line.startswith(" "))
    return {name: value for name, _, value in pairs}
