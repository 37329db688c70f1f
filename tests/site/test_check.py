"""Wrong links, titles, anchors and file sizes of a site are found when it is built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import ROOT
from scripts.book.check import problems
from scripts.book.links_and_anchors import duplicate_anchors
from scripts.site import build, check

HERE = "https://example.org/book/"
HEAD = '<title>{title}</title><link rel="canonical" href="{here}">'


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a small site without a fault."""
    pages = {
        "index.html": f'<a href="one/#there">1</a><a href="{HERE}one/">2</a>'
        '<source srcset="c.svg"><img src="a.svg">',
        "one/index.html": '<h2 id="there">There</h2> <a href="/book/?x=1#top">up</a>',
        "404.html": '<a href="/book/one/">elsewhere</a>',
    }
    for n, (name, body) in enumerate(pages.items()):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        title = "Home" if name != "one/index.html" else f"Page {n}"
        page = f'{HEAD.format(title=title, here=HERE)}<body id="top">{body}'
        (tmp_path / name).write_text(page, "utf-8")
    for name in ("a.svg", "c.svg"):
        (tmp_path / name).write_text("<svg/>", "utf-8")
    return tmp_path


def plant(page: Path, old: str, new: str) -> None:
    text = page.read_text("utf-8")
    assert text.count(old) == 1
    page.write_text(text.replace(old, new), "utf-8")


def test_a_site_without_faults_passes(site: Path) -> None:
    assert check.problems(site) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (f"{HERE}one/", f"{HERE}gone/", "leads to gone/index.html, which does not exist"),
        (f"{HERE}one/", f"{HERE}one/#gone", "leads to #gone, which one/index.html does not have"),
        ("one/#there", "one/#gone", "leads to #gone, which one/index.html does not have"),
        ("a.svg", "b.svg", "b.svg leads to b.svg, which does not exist"),
        ("c.svg", "d.svg", "d.svg leads to d.svg, which does not exist"),
    ],
)
def test_dead_absolute_link_to_the_site_is_found(site: Path, old: str, new: str, says: str) -> None:
    plant(site / "index.html", old, new)
    (found,) = check.problems(site)
    assert found.startswith("index.html: ")
    assert says in found


def test_links_to_other_hosts_and_in_scripts_are_not_followed(site: Path) -> None:
    elsewhere = '<a href="https://example.org/other/">o</a><script>`<a href="${x}">`</script>'
    plant(site / "index.html", "<img", f"{elsewhere}<img")
    assert check.problems(site) == []


@pytest.mark.parametrize(
    "tag",
    [
        "<a title='x > y' href='gone/'>",
        "<a href=gone/>",
        '<a\nHREF = "gone/">',
        "<a href='gone/'/>",
    ],
)
def test_link_is_followed_however_its_tag_is_written(tag: str, site: Path) -> None:
    plant(site / "index.html", "<img", f"{tag}x</a><img")
    assert check.problems(site) == [
        "index.html: gone/ leads to gone/index.html, which does not exist"
    ]


@pytest.mark.parametrize("link", [HERE, HERE.removesuffix("/"), f"{HERE}?x=1", "/book"])
def test_absolute_link_is_followed_with_and_without_its_last_slash(link: str, site: Path) -> None:
    plant(site / "one" / "index.html", "up<", f'up</a><a href="{link}#top">x<')
    assert check.problems(site) == []
    plant(site / "one" / "index.html", f"{link}#top", f"{link}#gone")
    (found,) = check.problems(site)
    assert "leads to #gone, which index.html does not have" in found


@pytest.mark.parametrize(
    "text",
    [
        '<p title="the id=x here">a</p><p id="x">',
        "<p title='<p id=x>'>a</p><p id=x>",
        '<!-- <p id="x"> --><p id="x">',
        '<script>`<p id="x">`</script><p id="x">',
    ],
)
def test_only_an_attribute_is_an_anchor(text: str) -> None:
    assert duplicate_anchors(text) == []
    assert duplicate_anchors(f"{text}</p><b id='x'>") == ["#x occurs 2 times"]


def test_two_pages_of_one_title_are_found(site: Path) -> None:
    plant(site / "one" / "index.html", "Page 1", "Home")
    assert check.problems(site) == ["index.html and one/index.html have the same title, 'Home'"]


def test_an_anchor_that_a_page_has_twice_is_found(site: Path) -> None:
    plant(site / "one" / "index.html", "</h2>", '</h2><p id="there">again</p>')
    assert check.problems(site) == ["one/index.html: #there occurs 2 times"]


@pytest.mark.parametrize(("name", "size"), [("a.svg", 120_001), ("a.png", 50_001), ("a.js", 2**18)])
def test_a_file_that_is_far_too_large_is_found(site: Path, name: str, size: int) -> None:
    (site / name).write_bytes(bytes(size))
    (found,) = check.problems(site)
    assert found.startswith(f"{name} has {size:,} bytes")


def test_files_fetched_on_request_have_their_own_limit(site: Path) -> None:
    python = site / "assets" / "built" / "python"
    python.mkdir(parents=True)
    (python / "numpy.whl").write_bytes(bytes(3_000_000))
    assert check.problems(site) == []
    (python / "numpy.whl").write_bytes(bytes(5_000_000))
    assert len(check.problems(site)) == 1


def test_faulty_site_stops_the_build(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.site.build.minify", lambda folder: None)
    monkeypatch.setattr("scripts.site.markdown_copies.write", lambda folder: None)
    build.finish(site)
    (site / "a.svg").unlink()
    with pytest.raises(SystemExit, match=r"a\.svg, which does not exist"):
        build.finish(site)


def test_a_pages_own_check_finds_a_doubled_anchor() -> None:
    page = "# A { #a }\n\nOne.\n\n## B { #b }\n\nTwo.\n"
    assert problems(page) == []
    assert problems(page.replace("#b", "#a")) == ["the anchor #a occurs 2 times"]


def committed() -> dict[str, int]:
    """Return the files that are or would be committed, and their sizes."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("what is committed is known to git alone, and this is no checkout")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    paths = {name: ROOT / name for name in names.split("\0") if name}
    return {name: path.stat().st_size for name, path in paths.items() if path.is_file()}


def test_no_committed_file_is_far_too_large() -> None:
    files = committed()
    assert len(files) > 500
    assert list(check.too_large(files, check.COMMITTED)) == []
    planted = files | {"docs/assets/scan.png": 2_000_000}
    assert len(list(check.too_large(planted, check.COMMITTED))) == 1
