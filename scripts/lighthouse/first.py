"""How long a reader who has never run anything waits for the first result of Run."""

from __future__ import annotations

import statistics
from pathlib import Path

from scripts.lighthouse.weigh import opened
from scripts.site.host import hosted

CHAPTER = "chapters/by-hand/"  # whose first example needs numpy, and nothing before it
WAIT = """() => new Promise((done, fail) => {
    const example = document.querySelector(".runs");
    const begun = performance.now();
    const look = () => {
        const said = example.querySelector("[role=status]")?.textContent ?? "";
        if (said.startsWith("Done")) done((performance.now() - begun) / 1000);
        if (said.startsWith("Python could not")) fail(said);
    };
    new MutationObserver(look).observe(example, {childList: true, subtree: true});
    example.querySelector(".run button").click();
})"""


def first_result(folder: Path, *, runs: int) -> float:
    """Return the seconds from the click to what Python printed, the median of several browsers."""
    with hosted(folder) as host:
        waits = []
        for _ in range(runs):
            with opened(host, CHAPTER) as page:
                page.wait_for_selector(".run button")
                waits.append(float(page.evaluate(WAIT)))
    return statistics.median(waits)
