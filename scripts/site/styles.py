"""A style sheet as a browser is done with it soonest: the same look, by fewer and simpler rules.

A rule costs time at every page, whether or not anything there has its class: one that could end
anywhere is held against each of a chapter's 14 000 elements, at every change of width or colours.
So what no page has is left out, and `:is(.a, .b)` is written as the list that it stands for, which
a browser looks up by its names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

COMMENT = re.compile(r"/\*.*?\*/", re.S)
RULE = re.compile(r"(?P<selectors>[^{};]+)(?P<style>\{[^{}]*\})")
EMPTY = re.compile(r"@(?:media|supports)[^{};]*\{\s*\}")
# What is said of an element itself, without what is asked in brackets.
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
CLASS = re.compile(r"\.(-?[A-Za-z_](?:[\w-]|\\.)*)")
# Names of one kind, which weigh the same, so that the list has the weight of each of its parts.
CHOICE = re.compile(
    r"^(?P<before>(?:[^()]|\([^()]*\))*?)"
    r"(?:(?<![\w\])-]):is\((?P<tags>[a-z]\w*(?:,\s*[a-z]\w*)*)\)"
    r"|:is\((?P<classes>\.[\w-]+(?:,\s*\.[\w-]+)*)\))"
    r"(?P<after>.*)$",
    re.S,
)

CLASSES = re.compile(r"""\bclass=["']?([^"'>]*)""")
SCRIPT = re.compile(r"<script[^>]*>(.+?)</script>", re.S)
# A script names a class that it gives without the dot by which it looks for one.
WORD = re.compile(r"(?<![.\w-])-?[A-Za-z_][\w-]*")
BARE_TABLE = re.compile(r"<table(?![^>]*\bclass=)")
BARE = "table:not([class])"


def used(pages: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Return the classes that elements have or may be given, and `BARE` if a table has none.

    Examples:
        >>> sorted(used(['<p class="one two">'], ['a.three(`four-${n}`)']))
        ['a', 'four-', 'n', 'one', 'two']
    """
    found: set[str] = set()
    for page in pages:
        found.update(*map(str.split, CLASSES.findall(page)))
        found.update(*map(WORD.findall, SCRIPT.findall(page)))
        found.update([BARE] if BARE_TABLE.search(page) else [])
    return found.union(*map(WORD.findall, scripts))


def lean(css: str, seen: set[str]) -> str:
    """Return a style sheet without what can match nothing that has been seen.

    Examples:
        >>> lean("/* Why. */p :is(.a, .b){top:0}@media print{.c,.d .a{top:0}}", {"a", "b"})
        'p .a,p .b{top:0}'
    """
    css = RULE.sub(partial(_rule, seen), COMMENT.sub("", css))
    while EMPTY.search(css):
        css = EMPTY.sub("", css)
    return css


def _rule(seen: set[str], rule: re.Match[str]) -> str:
    kept = [part for part in parts(rule["selectors"]) if may_match(part, seen)]
    written = [choice for part in kept for choice in _choices(part)]
    return ",".join(written) + rule["style"] if written else ""


def parts(selectors: str) -> list[str]:
    """Return the selectors of a list, which are parted by commas outside of brackets."""
    found, depth = [""], 0
    for sign in selectors:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return [part.strip() for part in found]


def may_match(selector: str, seen: set[str]) -> bool:
    """Say whether all classes have been seen that an element and those around it must have."""
    if BARE in selector and BARE not in seen:
        return False
    while BRACKETS.search(selector):
        selector = BRACKETS.sub("", selector)
    return all(_is_seen(name.replace("\\", ""), seen) for name in CLASS.findall(selector))


def _is_seen(name: str, seen: set[str]) -> bool:
    """Say whether a name has been seen, or in a script one of its beginnings, as in `a--${b}`."""
    return name in seen or any(name[: dash.end()] in seen for dash in re.finditer("-", name))


def _choices(selector: str) -> list[str]:
    """Return a selector once for each name that its `:is()` lists, as long as they weigh the same.

    Examples:
        >>> _choices(".a :is(td, th) :is(.b, .c):hover")
        ['.a td .b:hover', '.a td .c:hover', '.a th .b:hover', '.a th .c:hover']
        >>> _choices(".a:is(td, th) :is(.b, p)")
        ['.a:is(td, th) :is(.b, p)']
    """
    choice = CHOICE.match(selector)
    if not choice:
        return [selector]
    names = parts(choice["tags"] or choice["classes"])
    written = [choice["before"] + name + choice["after"] for name in names]
    return [part for one in written for part in _choices(one)]
