"""The strictest Content-Security-Policy with which all of the book works, as an HTTP header.

Inline scripts are allowed by their hashes, so no other inline script can run. The build prints the
header, with two others, and writes them to the site's `_headers`, a file that several hosts read.

Any site may frame the pages of framed_explorers.py; only this one may frame the others. A host that
finds two policies for a path sends both, and a browser obeys both. So one block of `_headers`
covers all paths, also those where nothing is, with what all have in common, and each folder except
that of framed_explorers.py has a second policy, which only says who may frame its pages.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from scripts.site import framed_explorers

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
}
FRAMED = "frame-ancestors 'self'"
OTHERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "strict-origin-when-cross-origin"}


@dataclass(frozen=True)
class Block:
    """A block of `_headers`: a path, or the beginning of paths and `*`, and headers by name."""

    path: str
    headers: dict[str, str]

    def matches(self, path: str) -> bool:
        """Return whether the block is for a path, which begins with a slash."""
        return path.startswith(self.path[:-1]) if self.path.endswith("*") else path == self.path


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
    """Write the headers of a built site to its `_headers`, and return those of the book."""
    everywhere = policy(page_text(file) for file in sorted(site.rglob("*.html")))
    by_path = {path: {NAME: FRAMED} for path in paths(site)}
    by_path["/*"] = {NAME: everywhere} | OTHERS
    blocks = [f"{path}\n{_lines(headers, '  ')}\n" for path, headers in by_path.items()]
    (site / HEADERS).write_text("\n".join(blocks), encoding="utf-8")
    return _lines({NAME: f"{everywhere}; {FRAMED}"} | OTHERS)


def _lines(headers: dict[str, str], indent: str = "") -> str:
    """Return headers as lines."""
    return "\n".join(f"{indent}{name}: {value}" for name, value in headers.items())


def page_text(file: Path) -> str:
    """Return the text of a page."""
    return file.read_text(encoding="utf-8")


def paths(site: Path) -> list[str]:
    """Return the paths of what only this site may frame: pages beside the home page, folders."""
    pages = [f"/{page.name}" for page in sorted(site.glob("*.html"))]
    folders = [f"/{folder.name}/*" for folder in sorted(site.iterdir()) if folder.is_dir()]
    framed = f"/{framed_explorers.FOLDER}/*"
    return ["/", *pages, *(folder for folder in folders if folder != framed)]


def blocks(site: Path) -> list[Block]:
    """Return the blocks of a site's `_headers`, or none if the file does not exist."""
    file = site / HEADERS
    found: list[Block] = []
    for line in page_text(file).splitlines() if file.is_file() else []:
        if line.startswith("/"):
            found.append(Block(line, {}))
        elif line.strip():
            name, _, value = line.strip().partition(": ")
            found[-1].headers[name] = value
    return found


def headers(blocks: Iterable[Block], path: str) -> dict[str, str]:
    """Return the headers for a path; if two blocks have the same header, both values are sent.

    Examples:
        >>> both = [Block("/*", {"A": "1"}), Block("/b/*", {"A": "2"})]
        >>> headers(both, "/b/")
        {'A': '1, 2'}
    """
    found: dict[str, str] = {}
    for block in blocks:
        for name, value in block.headers.items() if block.matches(path) else ():
            found[name] = f"{found[name]}, {value}" if name in found else value
    return found
