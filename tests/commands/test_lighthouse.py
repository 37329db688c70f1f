"""Page weights have limits, and so have the scores that do not depend on speed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from scripts import ROOT
from scripts.book.evaluate import corrections
from scripts.site.host import serve_folder
from scripts.site.lighthouse import report
from scripts.site.lighthouse.audit import Score, audit, faults, grades
from scripts.site.lighthouse.weigh import KINDS, Weight, by_kind, opened, page_weight
from tests.site.served import Site

CHAPTER = "chapters/by-hand/"
FLOOR = 95


# The site


@pytest.fixture(scope="module")
def read(site: Site, browser: Browser) -> Iterator[tuple[Weight, Page]]:
    """Open the chapter on a phone, and scroll to its end once it is laid out."""
    with serve_folder(site.folder) as host, opened(host, CHAPTER, browser) as page:
        yield page_weight(host, CHAPTER, page), page


def test_a_first_chapter_opens_under_its_limit(read: tuple[Weight, Page]) -> None:
    found, _ = read
    assert sum(found.opened.values()) == found.total < report.LIMIT, found.opened
    assert (
        found.opened["pictures"] < 20_000 < found.read - found.total
    )  # figures load when scrolled to
    assert min(found.opened[kind] for kind in ("HTML", "style", "scripts", "typefaces")) > 5000


def test_a_page_scores_well_in_accessibility_best_practices_and_seo(
    site: Site, browser: Browser
) -> None:
    """One small page; axe-core runs on every page in tests/site/test_every_page.py."""
    del browser  # without one this is skipped; Lighthouse starts its own
    with serve_folder(site.folder) as host:
        found = audit(host.url + "explore/", ["accessibility", "best-practices", "seo"])
    assert min(grades(found).values()) >= FLOOR, faults(found)
    assert len(grades(found)) == 3


# The page


def test_the_page_prints_what_was_measured() -> None:
    page, found = report.PAGE.read_text(encoding="utf-8"), report.read()
    assert report.page_with_results(page, found) == page
    for name in report.HEADS:
        assert f'site.table("{name}")' in page


def test_committed_results_cover_todays_pages_with_the_pinned_tools() -> None:
    found = report.read()
    assert [one.path for one in found.weights] == list(report.NAMES)
    assert [one.path for one in found.scores] == list(report.NAMES)
    locked = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    for name in report.PACKAGES:
        assert found.versions[name] == locked[f"node_modules/{name}"]["version"], "make lighthouse"


# Reporting


def example_report() -> report.Report:
    weight = Weight(CHAPTER, dict.fromkeys(KINDS, 2000), 15_500)
    score = Score(CHAPTER, 97, 100, 99, 100, 0.002, 1.44, 3, ("heading-order",))
    part = report.Part("figures", 2, 1_500_000)
    versions = {"lighthouse": "1.0"}
    return report.Report(
        "2026-11-20",
        "here",
        versions,
        (weight,),
        (score,),
        (part,),
        {"numpy-2.0.1-any.whl": 1_600_000, "a.js": 1600},
        2.5,
    )


def test_a_report_reads_back_as_it_was_written(tmp_path: Path) -> None:
    report.write(example_report(), tmp_path / "lighthouse.json")
    assert report.read(tmp_path / "lighthouse.json") == example_report()


def test_missed_goals_are_listed() -> None:
    assert example_report().missed_goals() == [
        "chapter 1: performance 97, not 98",
        "chapter 1: best practices 99, not 100",
    ]
    moved = replace(example_report().scores[0], performance=98, best_practices=100, shift=0.02)
    heavy = replace(example_report().weights[0], opened={"HTML": 250_000})
    assert replace(example_report(), scores=(moved,), weights=(heavy,)).missed_goals() == [
        "chapter 1: moves by 0.020",
        "chapter 1: 250 KB",
    ]


def test_tables_hold_the_numbers_of_a_report() -> None:
    found = example_report()
    assert found.weight("chapter 1").total == 12_000
    for name, expected in {
        "weights": [[2, 2, 2, 2, 2, 2, 12, 15.5]],
        "scores": [[97, 100, 99, 100, 0.002, 1.44]],
        "parts": [[2, 1.5], [2, 1.5]],
    }.items():
        rows = [[*row.values()][1:] for row in found.table(name)]
        np.testing.assert_allclose(rows, expected)
    assert [row["KB"] for row in found.table("run")] == pytest.approx([1600.0, 1.6, 1601.6])


def test_rows_of_the_page_are_replaced_by_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "```pycon\n>>> site = given\n```\n\n"
    for name, head in report.HEADS.items():
        rule = "|".join(["---", *["--:"] * head.count("|")])
        page += f'<!-- table: site.table("{name}") -->\n| {head} |\n|{rule}|\n| old | 1 |\n\n'
    made = report.page_with_results(page, example_report())
    assert "| old" not in made
    assert "| chapter 1 | 97 | 100 | 99 | 100 | 0.002 | 1.4 |" in made
    assert "| `numpy-….whl` | 1600 |" in made
    assert report.page_with_results(made, example_report()) == made
    monkeypatch.setattr("builtins.given", example_report(), raising=False)
    assert corrections(made) == []
    assert [one.should for one in corrections(made.replace("0.002", "0.003"))] == ["0.002"]


def test_bytes_are_counted_by_kind() -> None:
    sent = [("/", 1), ("/a/", 2), ("/404.html", 4), ("/a.css", 8), ("/a.mjs", 16), ("/b.js", 32)]
    sent += [("/a.woff2", 64), ("/a.svg", 128), ("/search_index.json", 256)]
    assert list(by_kind(sent).values()) == [7, 8, 48, 64, 128, 256]


def test_every_file_of_a_site_is_in_one_part(tmp_path: Path) -> None:
    for name in ("index.html", "assets/a.css", "assets/built/python/a.whl", "figures/a.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"1234567")
    found = report.parts(tmp_path)
    assert [(part.files, part.bytes) for part in found] == [(1, 7)] * len(report.PARTS)


def test_faults_are_weighted_audits_that_fail_outside_performance() -> None:
    references = [{"id": name, "weight": weight} for name, weight in (("a", 3), ("b", 1), ("c", 0))]
    found = {
        "categories": {
            "seo": {"score": 0.5, "auditRefs": references},
            "performance": {"score": None, "auditRefs": [{"id": "d", "weight": 1}]},
        },
        "audits": {
            name: {"score": score} for name, score in zip("abcd", (0, 1, 0, 0), strict=True)
        },
    }
    assert faults(found) == ["a"]
    assert grades(found) == {"seo": 50, "performance": 0}


# A page on a phone

SHIFT = """() => new Promise(done => {
    let moved = 0;
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) moved += entry.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(moved), 500);
})"""


def test_a_page_does_not_shift_while_it_loads(read: tuple[Weight, Page]) -> None:
    _, page = read
    assert page.evaluate(SHIFT) <= report.MOST_SHIFT


def test_a_link_to_a_heading_lands_there_without_layout_shift(site: Site, browser: Browser) -> None:
    with serve_folder(site.folder) as host, opened(host, f"{CHAPTER}#pictures", browser) as page:
        top = page.locator("#pictures").evaluate("place => place.getBoundingClientRect().top")
        assert 0 <= top < 100
        moved = page.evaluate(SHIFT)
        if moved > report.MOST_SHIFT:  # a typeface that comes late moves a line
            page.reload(wait_until="networkidle")
            moved = page.evaluate(SHIFT)
        assert moved <= report.MOST_SHIFT
