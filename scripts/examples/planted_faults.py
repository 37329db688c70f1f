"""Break a small page in ten ways and print the errors that the check reports.

Run as `python -m scripts.examples.planted_faults`. The page is `specimen.md`, next to this file; no
file is changed.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from scripts.book.check import problems
from scripts.book.settings import settings

FAULTS = {
    "a digit in a sentence": ("{{ 0.841 =", "{{ 0.842 ="),
    "a digit in a table": ("| 0.540 |", "| 0.541 |"),
    "a digit in an output": ("0.001]", "0.002]"),
    "a number bound to nothing": ("radians.", "radians, 0.8 of them."),
    "another heading": ("| sin   |", "| cos   |"),
    "another unit": ("1 radian =", "1 degree ="),
    "another work cited": ("devlin2019", "radford2019"),
    "a function renamed": ("shift_matrix nodoc", "shift_matrices nodoc"),
    "a formula broken": ("\\omega_i$", "\\omega_{i$"),
    "a reference nobody has": ("radians.", "radians.[^nobody2019]"),
}


WIDTH = 37  # characters; with a margin of two, this fits a phone
UNBREAKABLE = re.compile(r"'[^']*'|`[^`]*`|{{.*?}}")  # stays on one line


def plant(text: str, fault: str) -> str:
    """Return a page with a fault planted in it."""
    intact, broken = FAULTS[fault]
    if text.count(intact) != 1:
        raise ValueError(f"{intact!r} occurs {text.count(intact)} times in the page, not once")
    return text.replace(intact, broken)


def wrap(problem: str) -> list[str]:
    """Return the lines of a message, short enough for a phone."""
    tied = UNBREAKABLE.sub(lambda words: words[0].replace(" ", "\xa0"), problem)
    wrapper = textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)
    lines = [part for line in tied.splitlines() for part in wrapper.wrap(line.strip())]
    return [line.replace("\xa0", " ") for line in lines]


def main() -> None:
    """Print each fault and the errors reported for it."""
    text = Path(__file__).with_name("specimen.md").read_text(encoding="utf-8")
    accepted = settings(text)
    print("as it is:", "; ".join(problems(text, accepted)) or "nothing to report")
    for fault in FAULTS:
        print(f"\n{fault}:")
        for problem in problems(plant(text, fault), accepted):
            print(*(f"  {line}" for line in wrap(problem)), sep="\n")


if __name__ == "__main__":
    main()
