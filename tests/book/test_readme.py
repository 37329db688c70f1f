"""The files that a newcomer reads first are short, and refer only to things that exist."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown.extensions.toc import slugify

from scripts import ROOT
from scripts.book.evaluate import corrections
from scripts.book.text import outside_code, spans

LANGUAGE = "scripts/book/README.md"
FRONT_DOOR = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", LANGUAGE)
LINK = re.compile(r"""\]\(([^)\s]+)|\b(?:src|srcset|href)="([^"\s]+)""")
HEADING = re.compile(r"^#+ (.+?)(?: \{ ?#([\w-]+) ?\})?$", re.MULTILINE)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    return "".join(text[start:end] for start, end, _ in outside_code(text))


def code(text: str) -> Iterator[str]:
    """Yield the code of a page, inline and in blocks."""
    return (text[span.start : span.end] for span in spans(text) if span.kind in {"code", "fence"})


def links(text: str) -> Iterator[str]:
    """Yield the links of a page that do not leave the checkout."""
    for match in LINK.finditer(prose(text)):
        if "://" not in (link := match[1] or match[2]):
            yield link


def anchors(path: Path) -> set[str]:
    """Return the names of a page's headings, given or as a forge makes them."""
    headings = HEADING.findall(path.read_text(encoding="utf-8"))
    return {anchor or slugify(heading.replace("`", ""), "-") for heading, anchor in headings}


def link_target_exists(link: str, folder: Path = ROOT) -> bool:
    """Return whether a link leads to a file or a folder, and to a heading of it if it names one."""
    address, _, anchor = link.partition("#")
    path = folder / unquote(address)
    return path.exists() and (not anchor or anchor in anchors(path))


@pytest.mark.parametrize("name", FRONT_DOOR)
def test_every_link_resolves(name: str) -> None:
    file = ROOT / name
    found = [link if not link.startswith("#") else file.name + link for link in links(read(name))]
    assert [link for link in found if not link_target_exists(link, file.parent)] == []


def test_the_links_are_found() -> None:
    assert {"LICENSE", "docs", "docs/figures/plate-light.svg"} <= set(links(read("README.md")))
    assert "../../docs/data/facts.yml" in set(links(read(LANGUAGE)))
    assert link_target_exists("CONTRIBUTING.md#report-something-wrong")
    assert link_target_exists("docs/trust/how-checked.md#what-is-tied")
    assert not link_target_exists("CONTRIBUTING.md#gone") and not link_target_exists("gone.md")


@pytest.mark.parametrize(("name", "most"), [("CONTRIBUTING.md", 150), ("ARCHITECTURE.md", 80)])
def test_newcomer_reads_it_in_one_sitting(name: str, most: int) -> None:
    assert len(read(name).splitlines()) <= most


def test_architecture_names_every_room_and_wing() -> None:
    named = set(re.findall(r"`(\w+)/?`", read("ARCHITECTURE.md")))
    folders = {path.parent.name for path in ROOT.glob("scripts/*/__init__.py")}
    wings = {path.parent.name for path in ROOT.glob("posenc/[a-z]*/__init__.py")}
    assert folders | {"nn", "diagnose", "vectors"} <= named
    assert [wing for wing in wings if wing not in read("ARCHITECTURE.md")] == []


def test_examples_of_the_page_language_are_correct() -> None:
    examples = re.findall(r"```markdown\n(.*?)```", read(LANGUAGE), re.S)
    assert [corrections(example) for example in examples] == [[]] * 9


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_is_a_target(name: str) -> None:
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
    named = {goal for part in code(read(name)) for goal in re.findall(r"\bmake ([a-z-]+)", part)}
    assert "serve" in named
    assert named <= set(targets)


def test_every_make_command_is_listed_by_make_help() -> None:
    """Parts of other commands are named in a second line of `.PHONY`, and are not listed."""
    phony = re.findall(r"^\.PHONY: (.+)$", read("Makefile"), re.MULTILINE)[0]
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE) == phony.split()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_module_that_is_run_exists(name: str) -> None:
    named = {run for part in code(read(name)) for run in re.findall(r" -m ([a-z_.]+)", part)}
    assert named
    files = (path.relative_to(ROOT) for path in (ROOT / "scripts").rglob("*.py"))
    ours = {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}
    others = [module for module in named - ours if not module.startswith("scripts")]
    assert named - ours == {*others}
    assert [other for other in others if not PathFinder.find_spec(other.partition(".")[0])] == []
