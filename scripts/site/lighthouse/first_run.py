"""Measures how long the first result of Run takes in a browser with an empty cache."""

from __future__ import annotations

import statistics
from pathlib import Path

from scripts.site.host import serve_folder
from scripts.site.lighthouse.weigh import opened

CHAPTER = "chapters/by-hand/"  # its first example needs only numpy
WAIT = """() => new Promise((done, fail) => {
    const example = document.querySelector(".runs");
    const begun = performance.now();
    const look = () => {
        const status = example.querySelector("[role=status]")?.textContent ?? "";
        if (status.startsWith("Done")) done((performance.now() - begun) / 1000);
        if (status.startsWith("Python could not")) fail(status);
    };
    new MutationObserver(look).observe(example, {childList: true, subtree: true});
    example.querySelector(".run button").click();
})"""


def first_result(folder: Path, *, runs: int) -> float:
    """Return the median time in seconds from the click to Python's output, over several runs."""
    with serve_folder(folder) as host:
        waits = []
        for _ in range(runs):
            with opened(host, CHAPTER) as page:
                page.wait_for_selector(".run button")
                waits.append(float(page.evaluate(WAIT)))
    return statistics.median(waits)
