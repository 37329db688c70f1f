"""The Markdown copies have the content of their pages, and llms.txt lists them all."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from urllib.parse import urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from scripts import ROOT
from scripts.book import pages
from scripts.book.numbers import bindings
from scripts.book.sessions import sessions, without_hidden_sessions
from scripts.book.unrendered import LEFT
from scripts.site import markdown_copies
from scripts.site.install_lines import with_embed_address, with_source_address, with_wheel_address
from scripts.site.plain_markdown import hide_code
from tests.site.served import Site

PAGES = pages.paths()
SMALL = """\
---
title: Small
description: Two numbers and a link.
---
# Small { #small }

One, {{ 0.841 = np.sin(1) }}, [another](prove-it.md#there)
and [`frequencies`][posenc.frequencies].[^su2021]
{ .lead }

$$
{{ 1.5e-3 = 3 / 2000 }}
$$

![Waves.](../figures/waves-light.svg)

/// figure-caption | 1.2 #figure-1-2
As far as {{ 512 = fact("bert-positions") }}.
///

!!! correction "Often printed otherwise"

    It is so.
    { .right }

--src-- posenc.frequency.frequencies nodoc

::: posenc.__main__
    options:
      show_root_heading: false
"""


copied = cache(markdown_copies.copy)


def test_copies_contain_no_page_language() -> None:
    left = re.compile(rf"{LEFT.pattern}|\{{ #|\]\[|^:::|^--src--|</?div", LEFT.flags | re.M)
    found = {path: left.search(hide_code(copied(path))[0]) for path in PAGES}
    assert {path: match for path, match in found.items() if match} == {}


def test_copies_contain_the_sessions_of_their_pages() -> None:
    for path in PAGES:
        there, here = (
            [(session.source, session.printed) for session in sessions(text)]
            for text in (without_hidden_sessions(pages.text(path)), copied(path))
        )
        assert here[: len(there)] == there or set(there) <= set(here), path


def test_a_copy_has_every_number_of_its_page() -> None:
    for path in PAGES:
        made = copied(path).replace("{,}", ",")
        for binding in bindings(pages.text(path)):
            printed = binding.printed.replace("−", "-").lstrip("-+").partition("e")[0]
            assert printed in made, f"{path}: {binding.printed}"


def test_links_of_a_copy_resolve(site: Site) -> None:
    for path in PAGES:
        copy = markdown_copies.page(path).copy
        made = (site.folder / copy).read_text(encoding="utf-8")
        complete = copied(path)
        for completed in (with_wheel_address, with_embed_address, with_source_address):
            complete = completed(complete, site.url)
        assert made == complete, path
        for target in re.findall(r"!?\[[^\[\]]+\]\(([^)\s]+)\)", hide_code(made)[0]):
            parts = urlsplit(target)
            if not parts.scheme and parts.path:
                place = posixpath.join(posixpath.dirname(copy), parts.path)
                assert (site.folder / posixpath.normpath(place)).is_file(), f"{copy}: {target}"


def test_a_small_page_is_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "text", {"chapters/small.md": SMALL}.get)
    main = (ROOT / "posenc" / "__main__.py").read_text(encoding="utf-8").rstrip()
    made = markdown_copies.copy("chapters/small.md")
    code = re.search(
        r"From `posenc/frequency.py`:\n\n```python\ndef frequencies\(.+?\n```", made, re.S
    )
    assert code is not None
    expected = (
        "# Small\n\n> Two numbers and a link.\n\n"
        "One, 0.841, [another](../prove-it/index.md#there)\n"
        "and `frequencies`. ([Su et al. 2021](https://arxiv.org/abs/2104.09864))\n\n"
        "$$\n1.5 \\times 10^{-3}\n$$\n\n![Waves.](../../figures/waves-light.svg)\n\n"
        "**Figure 1.2**\nAs far as 512.\n\n"
        "> **Often printed otherwise**\n>\n> **Right.** It is so.\n\n"
        f"CODE\n\nFrom `posenc/__main__.py`:\n\n````python\n{main}\n````\n"
    )
    assert made.replace(code[0], "CODE") == expected


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ("https://example.org/a.md", "https://example.org/a.md"),
        ("#here", "#here"),
        ("attention.md", "../attention/index.md"),
        ("../index.md", "../../index.md"),
        ("../reference/index.md#map", "../../reference/index.md#map"),
        ("../explore/waves.md?waves.pair=2", "../../explore/waves/index.html?waves.pair=2"),
        ("../assets/built/build-it.ipynb", "../../assets/built/build-it.ipynb"),
    ],
)
def test_link_leads_to_the_copy_unless_it_sets_an_explorer(target: str, seen: str) -> None:
    page = markdown_copies.page("chapters/formula-sheet.md")
    assert markdown_copies._relative(page, target) == seen


# The list


def entries(text: str) -> list[str]:
    """Return the addresses in a list, checking that it has the form of llms.txt."""
    head, *parts = re.split(r"^## .+\n\n", text, flags=re.M)
    assert re.match(r"# .+\n\n> .+\n\n(?!#)", head)
    lines = [line for part in parts for line in part.strip().splitlines()]
    found = [re.fullmatch(r"- \[[^\]]+\]\((\S+)\): \S.*", line) for line in lines]
    assert None not in found, lines
    return [entry[1] for entry in found if entry]


def test_the_list_names_every_page_once(site: Site) -> None:
    named = entries((site.folder / markdown_copies.LIST).read_text(encoding="utf-8"))
    assert sorted(named) == sorted(markdown_copies.page(path).copy for path in PAGES)
    assert all((site.folder / name).is_file() for name in named)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://book.example/posenc/", "https://book.example/posenc/"),
        ("http://127.0.0.1:8000/", ""),
        ("http://localhost/", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_links_are_absolute_if_the_site_has_an_address(url: str | None, base: str) -> None:
    config = {"site_url": url, "site_name": "Book", "site_description": "About", "nav": NAV}
    assert entries(markdown_copies.llms_txt(config)) == [
        f"{base}index.md",
        f"{base}chapters/by-hand/index.md",
    ]


NAV = [{"Home": "index.md"}, {"The book": [{"In": [{"By hand": "chapters/by-hand/index.md"}]}]}]


def test_page_links_its_copy_and_the_list(site: Site) -> None:
    for path in PAGES:
        page = (site.folder / markdown_copies.page(path).copy).with_suffix(".html")
        head = LexborHTMLParser(page.read_text(encoding="utf-8"))
        targets = {
            "alternate": page.with_suffix(".md"),
            "describedby": site.folder / markdown_copies.LIST,
        }
        for rel, target in targets.items():
            (link,) = head.css(f"head > link[rel~={rel}]")
            assert (page.parent / link.attrs.sget("href")).samefile(target), path
