"""Page weights have limits, and so have the scores that do not depend on speed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from scripts import ROOT
from scripts.site import lighthouse
from scripts.site.host import Host, serve_folder
from tests.site.served import Site

CHAPTER = "chapters/by-hand/"
PICTURES = f"{CHAPTER}pictures/"
MOST_SHIFT = 0.01
# The phone that Lighthouse emulates.
PHONE: dict[str, Any] = {"viewport": {"width": 412, "height": 823}, "device_scale_factor": 1.75}
SCROLL_TO_THE_END = """async () => {
    for (let at = 0; at < document.body.scrollHeight; at += innerHeight) {
        scrollTo({top: at, behavior: "instant"});
        await new Promise(done => setTimeout(done, 20));
    }
}"""


# The site


@contextmanager
def opened(host: Host, path: str, browser: Browser) -> Iterator[Page]:
    """Open a page on a phone with an empty cache, and wait until it has no pending requests."""
    with browser.new_page(**PHONE, is_mobile=True) as page:
        page.goto(host.url + path, wait_until="networkidle")
        yield page


def sent_bytes(host: Host, *suffixes: str) -> int:
    """Return the bytes that a host has sent, of all files or of those with these suffixes."""
    return sum(size for path, size in host.sent if Path(path).suffix in suffixes or not suffixes)


@pytest.fixture(scope="module")
def chapter(site: Site, browser: Browser) -> Iterator[tuple[Host, Page]]:
    """Open the chapter on a phone."""
    with serve_folder(site.folder) as host, opened(host, CHAPTER, browser) as page:
        yield host, page


def test_a_first_chapter_opens_under_its_limit(chapter: tuple[Host, Page]) -> None:
    host, _ = chapter
    assert sent_bytes(host) < lighthouse.CHAPTER_LIMIT, host.sent
    for kinds in ([""], [".css"], [".js", ".mjs"], [".woff2"]):
        assert sent_bytes(host, *kinds) > 5000, kinds
    assert sent_bytes(host, ".svg", ".png") < 20_000


def test_figures_load_when_a_reader_scrolls_to_them(site: Site, browser: Browser) -> None:
    with serve_folder(site.folder) as host, opened(host, PICTURES, browser) as page:
        before = sent_bytes(host)
        page.evaluate(SCROLL_TO_THE_END)
        page.wait_for_load_state("networkidle")
        assert sent_bytes(host) > before + 20_000


def test_a_page_scores_well_in_accessibility_best_practices_and_seo(
    site: Site, browser: Browser
) -> None:
    """One small page; axe-core runs on every page in tests/site/test_every_page.py."""
    del browser  # without one this is skipped; Lighthouse starts its own
    with serve_folder(site.folder) as host:
        report = lighthouse.audit(f"{host.url}explore/", lighthouse.CATEGORIES[1:])
    assert len(lighthouse.scores(report)) == 3
    assert min(lighthouse.scores(report).values()) >= 95


# The report


def example_report(performance: float, seo: float = 1) -> dict[str, Any]:
    """Return the parts of Lighthouse's report that the script reads."""
    grades = dict(zip(lighthouse.CATEGORIES, (performance, 1, 1, seo), strict=True))
    return {
        "lighthouseVersion": "13.0",
        "environment": {
            "hostUserAgent": "Mozilla/5.0 HeadlessChrome/1.2 Safari/5",
            "benchmarkIndex": 875,
        },
        "categories": {name: {"score": score} for name, score in grades.items()},
        "audits": {
            "cumulative-layout-shift": {"numericValue": 0.0021},
            "largest-contentful-paint": {"numericValue": 1440.0},
            "total-byte-weight": {"numericValue": 99_700 + 1000 * performance},
            "without-a-number": {},
        },
    }


def test_committed_results_are_of_listed_pages_and_the_pinned_lighthouse() -> None:
    results = json.loads(lighthouse.RESULTS.read_text("utf-8"))
    assert {row["page"] for row in results["pages"]} <= {*lighthouse.PAGES.values()}
    locked = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    assert results["lighthouse"] == locked["node_modules/lighthouse"]["version"], "make lighthouse"


def test_the_run_with_the_median_performance_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = iter(example_report(performance) for performance in (0.5, 0.97, 0.9))
    monkeypatch.setattr(lighthouse, "audit", lambda url, slowdown: next(reports))
    report = lighthouse.median_report("url", 3, 4.0)
    assert [*lighthouse.row(CHAPTER, report).values()] == [
        *("chapter 1", 90, 100, 100, 100),
        *(0.002, 1.4, 101),
    ]


@pytest.mark.parametrize(
    ("indices", "expected"), [((1750,) * 3, 4.0), ((3000, 875, 900), 2.1), ((100,) * 3, 1.0)]
)
def test_a_slow_machine_is_slowed_down_less(
    indices: Sequence[int], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = iter({"environment": {"benchmarkIndex": index}} for index in indices)
    monkeypatch.setattr(lighthouse, "audit", lambda url, categories: next(reports))
    assert lighthouse.calibrated_slowdown("url") == expected


@pytest.mark.parametrize(
    ("seo", "status", "printed"),
    [(0.95, 0, "| home | 90 | 100 | 100 | 95 |"), (0.94, 1, "home: seo 94, not 95")],
)
def test_results_are_written_and_a_score_below_its_floor_fails(
    seo: float,
    status: int,
    printed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    python = tmp_path / "site" / "assets" / "built" / "python"
    python.mkdir(parents=True)
    (python / "a.whl").write_bytes(b"1234567")
    head = '<!-- table: site["pages"] -->\n| page |\n|---|\n'
    page = tmp_path / "page.md"
    page.write_text(f"```pycon\n>>> site = None\n```\n\n{head}| old |\n\nEnd.\n", "utf-8")
    monkeypatch.setattr(lighthouse, "PAGE", page)
    monkeypatch.setattr(lighthouse, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr("scripts.book.update.update", lambda path: [])
    monkeypatch.setattr(lighthouse, "audit", lambda *given, **named: example_report(0.9, seo))
    monkeypatch.setattr(sys, "argv", ["lighthouse", "--site", str(tmp_path / "site")])
    assert lighthouse.main() == status
    assert printed in capsys.readouterr().out
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [row["page"] for row in results["pages"]] == [*lighthouse.PAGES.values()]
    assert (results["lighthouse"], results["browser"]) == ("13.0", "HeadlessChrome/1.2")
    assert results["slowdown"] == 2
    assert results["site"] == {"files": 1, "bytes": 7, "python": 7}
    assert lighthouse.table(results["pages"]) in page.read_text("utf-8")
    assert "| old |" not in page.read_text("utf-8")
    assert page.read_text("utf-8").endswith("\n\nEnd.\n")


# A page on a phone

SHIFT = """() => new Promise(done => {
    let moved = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) moved += entry.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(moved), 500);
})"""


def test_a_page_does_not_shift_while_it_loads(chapter: tuple[Host, Page]) -> None:
    _, page = chapter
    assert page.evaluate(SHIFT) <= MOST_SHIFT


def test_a_link_to_a_heading_lands_there_without_layout_shift(site: Site, browser: Browser) -> None:
    with serve_folder(site.folder) as host, opened(host, f"{PICTURES}#similarity", browser) as page:
        top = page.locator("#similarity").evaluate("place => place.getBoundingClientRect().top")
        assert 0 <= top < 100
        moved = page.evaluate(SHIFT)
        if moved > MOST_SHIFT:  # a typeface that comes late moves a line
            page.reload(wait_until="networkidle")
            moved = page.evaluate(SHIFT)
        assert moved <= MOST_SHIFT
