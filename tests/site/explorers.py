"""Helpers to open and use an explorer, and to print numbers as it does."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import Locator, Page, expect

from posenc import sinusoidal_encoding
from scripts import DOCS

# *Watch it break* runs models in a worker and has tests of its own, test_watch_browser.py.
OTHERS = {"index", "watch"}
EXPLORERS = sorted(path.stem for path in DOCS.glob("explore/*.md") if path.stem not in OTHERS)
FOLLOW = """view => {
    const link = document.createElement("a");
    link.href = view;
    document.querySelector("article").append(link);
    link.click();
    link.remove();
}"""


def printed(value: float, decimals: int = 3) -> str:
    """Return a number as the book prints it."""
    return f"{value:.{decimals}f}".replace("-", "−")


def printed_all(values: np.ndarray, decimals: int = 3) -> str:
    return ", ".join(printed(value, decimals) for value in values.tolist())


def status(page: Page, name: str) -> Locator:
    return page.locator(f"explore-{name} [role=status]")


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name, exact=True)


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("spinbutton", name=name, exact=True)


def reach(page: Page, name: str) -> None:
    """Open an explorer in the state of a first visit."""
    page.goto(f"explore/{name}/")
    expect(status(page, name)).not_to_be_empty()


def follow(page: Page, view: str) -> None:
    """Follow a link that changes only the query of the address."""
    page.evaluate(FOLLOW, view)


def row_read(row: int, width: int) -> re.Pattern[str]:
    """Return a pattern of what the heatmap says of a row."""
    entries = sinusoidal_encoding(np.array(row), width)
    shown = printed_all(entries) if width <= 8 else printed_all(entries[:6])
    return re.compile(f"^Row {row}, dimensions 0 to {width - 1}: {re.escape(shown)}")
