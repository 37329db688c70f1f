"""`mkdocs serve` shows edits completely: the page, its links and the search index."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from matplotlib import font_manager
from matplotlib.figure import Figure
from mkdocs.config import load_config
from mkdocs.structure.files import File

from scripts import DOCS, ROOT
from scripts.book import citations, pages
from scripts.figures import _render
from scripts.setup.environment import INSTALL
from scripts.site import rebuild, serve
from scripts.site.generated_pages import generated_pages
from scripts.site.moved_places import folders, left
from scripts.site.serve import free_port

Read = Callable[[str], str]

SHEET = "chapters/formula-sheet.md"
# The pages that the tests edit or read; links to pages that are missing only warn.
KEPT = {
    "index.md",
    "reference/combine.md",
    "reference/frequencies.md",
    "reference/index.md",
    SHEET,
}
# The one page that is made from data; others would need the pages that are missing.
MADE = "reference/models.md"
# A short stand-in for a page that takes long to build and is not edited.
OTHER = "# Attention\n\nFour positions.\n"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources of a few pages."""
    copy = tmp_path_factory.mktemp("served") / "book"
    copy.mkdir()
    without = shutil.ignore_patterns("__pycache__", "*.gzip", "*.whl", "*.zip")
    for name in ("docs", "posenc", "scripts", "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=without)
    for page in (copy / "docs").rglob("*.md"):
        if str(page.relative_to(copy / "docs")) not in KEPT:
            page.unlink()
    (copy / "docs" / "chapters" / "attention.md").write_text(OTHER, "utf-8")
    for name in (
        ".gitignore",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "README.md",
        "constraints.txt",
        "mkdocs.yml",
        "package-lock.json",
        "posenc_pytest.py",
        "pyproject.toml",
        "setup.py",
    ):
        shutil.copy(ROOT / name, copy)
    edit(copy / "mkdocs.yml", "strict: true", "strict: false")
    with (copy / "scripts" / "book" / "pages.py").open("a", encoding="utf-8") as listed:
        listed.write(f"MADE = {{path: MADE[path] for path in ['{MADE}']}}\n")
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    (copy / "tmp").mkdir()
    return copy


@pytest.fixture(scope="module")
def activated(book: Path) -> dict[str, str]:
    """Return what `activate` sets, for a `.venv` into which the copy has been installed.

    The other packages, `mkdocs` among them, are those of the tests.
    """
    scripts = book / ".venv" / "bin"
    venv.create(book / ".venv", symlinks=True)
    (packages,) = (book / ".venv").glob("lib/python*/site-packages")
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib"))
    install = [str(scripts / "python"), *INSTALL, ".", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--ignore-installed"], cwd=book, check=True, capture_output=True)
    mkdocs = Path(sys.executable).with_name("mkdocs").read_text()
    (scripts / "mkdocs").write_text(mkdocs.replace(sys.executable, str(scripts / "python")))
    (scripts / "mkdocs").chmod(0o755)
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"PATH": path, "TMPDIR": str(book / "tmp")}


@pytest.mark.slow
def test_mkdocs_build_works_as_it_is_typed(book: Path, activated: dict[str, str]) -> None:
    """Runs before any edit of the package, after which the wheel for *Run* is built again."""
    command = ["mkdocs", "build", "--quiet", "--site-dir", "built"]
    done = subprocess.run(
        command, cwd=book, env=activated, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (
        "Four positions" in (book / "built" / "chapters" / "attention" / "index.html").read_text()
    )


@contextmanager
def serving(
    book: Path, environment: dict[str, str], port: int, *command: str
) -> Iterator[tuple[Read, Path]]:
    """Run `make serve`, or another command; yield a function that fetches a page, and the log."""
    make_serve = ("python", "-u", "-m", "scripts.site.serve", f"--port={port}")
    log = book / "tmp" / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command or make_serve, cwd=book, env=environment, stdout=output, stderr=output
        )

    def fetch(path: str) -> str:
        try:
            with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
                return str(answer.read().decode())
        except URLError:
            assert server.poll() is None, log.read_text()
            return ""

    try:
        yield fetch, log
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_later_start_serves_the_last_build_and_rebuilds_what_has_changed(
    book: Path, activated: dict[str, str]
) -> None:
    port, chapter = free_port(), "chapters/attention/"
    source, sheet = book / "docs/chapters/attention.md", book / "docs" / SHEET
    site = book / "build" / "served" / str(port)
    with serving(book, activated, port) as (fetch, log):
        wait_for("Four positions", lambda: fetch(chapter))
        wait_for("up to date", log.read_text)
        assert re.search(r"Building the book: (\d+) of \1 pages", log.read_text())

    edit(source, "Four positions", r"Five $\nothing$ positions")  # cannot be built
    with serving(book, activated, port) as (fetch, log):
        assert "Four positions" in wait_for("positions", lambda: fetch(chapter))
        wait_for("stays as it was last built", log.read_text)
        assert "Four positions" in fetch(chapter)
        edit(source, "Five", "5")  # while it is served, and still broken
        wait_for("stays as", lambda: log.read_text().partition("stays as")[2])
        assert "Four positions" in fetch(chapter)

    edit(source, r"5 $\nothing$ ", "Five ")
    before = page_times(site)
    with serving(book, activated, port) as (fetch, log):
        wait_for("up to date", log.read_text)
        assert "Five positions" in fetch(chapter)
        changed = {path for path, when in page_times(site).items() if before.get(path) != when}
        assert changed == {"chapters/attention/index.html"}
        found = {*searched_pages(fetch)}
        assert {"chapters/formula-sheet/", "reference/combine/", chapter} <= found

        edit(book / "scripts" / "site" / "progress.py", '"""Says', '"""Tells')
        wait_for("starts again", log.read_text)
        before = page_times(site)
        wait_for("nothing is older", lambda: "" if is_older(site, before) else "nothing is older")

    text = sheet.read_text("utf-8")
    sheet.unlink()
    with serving(book, activated, port) as (fetch, log):
        wait_for("up to date", log.read_text)
        assert not fetch("chapters/formula-sheet/")
        assert "chapters/formula-sheet/" not in searched_pages(fetch)
    sheet.write_text(text, "utf-8")
    edit(source, "Five", "Four")


def is_older(site: Path, before: dict[str, int]) -> bool:
    """Return whether any page of a site is as old as it was before."""
    now = page_times(site)
    return not now or any(before.get(path) == when for path, when in now.items())


def searched_pages(fetch: Read) -> list[str]:
    """Return the pages that the search finds."""
    return [path for path, *_ in json.loads(fetch("search/index.json"))["pages"]]


@pytest.fixture(scope="module")
def fetch(book: Path, activated: dict[str, str]) -> Iterator[Read]:
    """Serve the copy with mkdocs until the tests end, and return what fetches a page."""
    port = free_port()
    command = ("mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}")
    with serving(book, activated, port, *command) as (fetch, _):
        wait_for("Four positions", lambda: fetch("chapters/attention/"))
        yield fetch


def wait_for(words: str, page: Callable[[], str]) -> str:
    """Return the page once it contains these words."""
    end = time.monotonic() + 300
    while words not in (found := page()):
        assert time.monotonic() < end, f"{words!r} did not show"
        time.sleep(0.1)
    return found


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


PAGES = {SHEET: "chapters/formula-sheet/", "reference/index.md": "reference/"}


@pytest.mark.slow
@pytest.mark.parametrize("source", PAGES)
def test_edited_page_keeps_its_links_and_the_search_index(
    source: str, book: Path, fetch: Read
) -> None:
    edit(book / "docs" / source, "\n# ", f"\n# Edited {len(source)}, ")
    page = wait_for(f"Edited {len(source)}, ", lambda: fetch(PAGES[source]))
    assert 'combine/#posenc.embeddings.combine.add"' in page
    pages = json.loads(fetch("search/index.json"))["pages"]
    titles = {path: title for path, title, _ in pages}
    assert titles[PAGES[source]].startswith(f"Edited {len(source)}, ")
    assert {"reference/", "chapters/attention/", "reference/combine/"} <= titles.keys()


@pytest.mark.slow
def test_only_the_pages_that_show_an_edited_docstring_are_made_again(
    book: Path, fetch: Read
) -> None:
    site = served_by_mkdocs(book)
    before = page_times(site)
    edit(book / "posenc" / "frequency.py", "Return the frequency", "Return, edited, the frequency")
    wait_for("Return, edited, the frequency", lambda: fetch("reference/frequencies/"))
    changed = {path for path, when in page_times(site).items() if before[path] != when}
    assert changed == {"reference/frequencies/index.html"}


@pytest.mark.slow
def test_all_pages_are_made_again_when_the_data_changes(book: Path, fetch: Read) -> None:
    site = served_by_mkdocs(book)
    before = page_times(site)
    edit(book / "docs" / "data" / "references.yml", "\n", "\n# edited\n")
    wait_for("edited", lambda: "edited" if before != page_times(site) else "")
    fetch("chapters/attention/")  # answered after the build
    assert all(when != before[path] for path, when in page_times(site).items())


@pytest.mark.slow
def test_a_made_page_shows_its_edited_data(book: Path, fetch: Read) -> None:
    edit(book / "docs" / "data" / "models.yml", "name: Transformer-XL", "name: Edited-XL")
    assert "Edited-XL" in wait_for("Edited-XL", lambda: fetch("reference/models/"))


def served_by_mkdocs(book: Path) -> Path:
    """Return the folder that `mkdocs serve` serves, beside which another may be built."""
    (site,) = (path for path in (book / "tmp").glob("mkdocs_*") if not path.suffix)
    return site


def page_times(site: Path) -> dict[str, int]:
    """Return the modification time of each page of a served site that a build may leave alone."""
    always = [*(old.removesuffix(".md") for old in left()), *folders(pages.paths())]
    written = {"404.html", *(f"{place}/index.html" for place in always)}
    found = {}
    for page in rebuild.files_below(site):
        path = page.relative_to(site).as_posix()
        if page.suffix == ".html" and path not in written:
            with suppress(FileNotFoundError):  # while a build replaces it
                found[path] = page.stat().st_mtime_ns
    return found


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("posenc/frequency.py", {"reference/frequencies.md", "chapters/by-hand/code.md"}),
        ("posenc/nn/t5.py", {"reference/t5.md"}),
        ("posenc/scores/t5.py", {"reference/t5.md", "schemes/t5.md"}),
    ],
)
def test_module_outdates_the_pages_that_document_or_embed_it(
    changed: str, expected: set[str]
) -> None:
    found = rebuild.affected_pages(sources(), [Path(changed)])
    assert {page.src_uri for page in found} == expected


def test_watched_folder_outside_the_checkout_outdates_every_page(tmp_path: Path) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), watch=[str(tmp_path)])  # as `--watch` does
    (tmp_path / "posenc").mkdir()
    (tmp_path / "posenc" / "t5.py").touch()
    (changed,) = (Path(path) for path in rebuild.sources(config) if path.startswith(".."))
    assert len(rebuild.affected_pages(sources(), [changed])) == len(sources())


def test_drawing_outdates_the_pages_that_name_it() -> None:
    found = rebuild.affected_pages(sources(), [Path("docs/figures/waves-phone-light.svg")])
    named = {page.src_uri for page in sources() if "waves-light.svg" in page.content_string}
    assert {page.src_uri for page in found} == named
    assert 0 < len(named) < len(sources())


def test_file_deleted_during_the_scan_does_not_stop_the_build(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    assert rebuild.digest(tmp_path / "there")
    assert not rebuild.digest(tmp_path / "gone")
    assert not rebuild.digest(tmp_path)


def test_folder_deleted_during_the_scan_does_not_stop_the_build(tmp_path: Path) -> None:
    for path in ("first/kept", "second/deleted/page"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    found = rebuild.files_below(tmp_path)
    first = next(found)
    shutil.rmtree(tmp_path / ("second" if first.name == "kept" else "first"))
    assert [first, *found] == [first]


def test_files_of_settings_and_of_editors_are_not_watched(tmp_path: Path) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(tmp_path))
    settings = tmp_path / "data" / "settings" / "index.tsv"
    settings.parent.mkdir(parents=True)
    settings.touch()
    for name in ("facts.yml", ".facts.yml.swp", "facts.yml~"):
        (tmp_path / "data" / name).touch()
    names = {Path(path).name for path in rebuild.sources(config) if path.startswith("..")}
    assert names == {"facts.yml"}


def test_script_outdates_every_page() -> None:
    found = rebuild.affected_pages(
        sources(), [Path("posenc/scores/t5.py"), Path("scripts/book/run.py")]
    )
    assert len(found) == len(sources())


@pytest.mark.parametrize(
    ("changed", "cleared"),
    [
        ("docs/index.md", False),
        ("docs/assets/built/stamp", False),
        ("docs/data/references.yml", True),
        ("posenc/scores/t5.py", True),
        ("scripts/book/run.py", True),
        ("", True),
    ],
)
def test_change_of_more_than_pages_and_assets_clears_the_caches(
    changed: str, cleared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path))
    rebuild.store(tmp_path, rebuild.UNBUILT | {"sources": {changed: "before"}})
    monkeypatch.setattr(rebuild, "sources", lambda config: {changed: "now"})
    monkeypatch.setattr(rebuild, "generated_pages", lambda config: [])
    steps: list[str] = []
    for name in ("clear_caches", "build_anew", "build_again", "write_state"):
        monkeypatch.setattr(rebuild, name, lambda *_, name=name: steps.append(name))
    rebuild.update(tmp_path, lambda folder: config)
    assert (steps[0] == "clear_caches") is cleared
    assert steps[cleared].startswith("build")


def test_a_made_page_is_built_again_if_its_text_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path))
    known = rebuild.texts(generated_pages(config)) | {"docs/trust/sources.md": "another"}
    rebuild.store(tmp_path, rebuild.UNBUILT | {"sources": known})
    built: list[File] = []
    monkeypatch.setattr(rebuild, "sources", lambda config: {})
    monkeypatch.setattr(rebuild, "write_state", lambda *_: None)
    monkeypatch.setattr(rebuild, "build_again", lambda _, outdated: built.extend(outdated))
    rebuild.update(tmp_path, lambda folder: config)
    assert [page.src_uri for page in built] == ["trust/sources.md"]


def test_only_the_caches_of_the_book_are_cleared() -> None:
    before = citations.references()
    assert re.compile("a+") is re.compile("a+")
    rebuild.clear_caches({"other": citations})
    assert citations.references() is before
    rebuild.clear_caches({"re": re, "scripts.book.citations": citations})
    assert citations.references() is not before
    assert citations.references() == before


def test_typefaces_outlive_their_cleared_cache() -> None:
    for _ in range(2):
        rebuild.clear_caches({"scripts.figures._render": _render})
        _render.svg(Figure())
    faces = [face for face in font_manager.fontManager.ttflist if face.name == _render.PLAIN]
    assert len(faces) >= 2
    assert all(Path(face.fname).is_file() for face in faces)


@pytest.mark.parametrize("text", ['{"sour', "", "[]", "3", '{"sources": {}}', b"\xff"])
def test_torn_or_foreign_state_means_a_build_anew(text: str | bytes, tmp_path: Path) -> None:
    content = text.encode() if isinstance(text, str) else text
    (tmp_path / rebuild.STATE).write_bytes(content)
    assert rebuild.read_state(tmp_path) == rebuild.UNBUILT


def test_state_is_never_partly_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rebuild.store(tmp_path, rebuild.UNBUILT)

    def stop(self: Path, text: str, encoding: str) -> None:
        self.write_bytes(text.encode(encoding)[:5])
        raise OSError("no space is left")

    monkeypatch.setattr(Path, "write_text", stop)
    with pytest.raises(OSError, match="no space"):
        rebuild.store(tmp_path, rebuild.UNBUILT | {"references": {"a": "b"}})
    assert rebuild.read_state(tmp_path) == rebuild.UNBUILT


def test_server_goes_on_until_code_that_fails_is_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scripts" / "late.py"
    file.parent.mkdir()
    late = ModuleType("scripts.late")
    late.__file__ = str(file)
    builders: list[Callable[[], None]] = []
    done: list[str] = []

    def save(code: str, when: int) -> None:
        file.write_text(code)
        os.utime(file, (when, when))

    def fail(*_: object) -> None:
        monkeypatch.setitem(sys.modules, "scripts.late", late)  # loaded by this build
        raise ValueError("a page cannot be built")

    def server(*, builder: Callable[[], None], **_: object) -> SimpleNamespace:
        builders.append(builder)
        return SimpleNamespace(
            url="", watch=done.append, serve=lambda: None, shutdown=lambda: done.append("shut down")
        )

    config = SimpleNamespace(
        plugins=SimpleNamespace(on_startup=lambda **_: None),
        site_url="http://127.0.0.1:8000/",
        docs_dir="docs",
        config_file_path="mkdocs.yml",
        watch=[],
    )
    monkeypatch.setattr(serve, "ROOT", tmp_path)
    monkeypatch.setattr(serve, "SERVED", tmp_path)
    monkeypatch.setattr(serve, "Server", server)
    monkeypatch.setattr(serve, "configuration", lambda port, site: config)
    monkeypatch.setattr(serve, "restart", lambda: done.append("restarted"))
    monkeypatch.setattr(rebuild, "update", fail)
    (tmp_path / "8000").mkdir()
    rebuild.store(tmp_path / "8000", rebuild.UNBUILT | {"sources": {"": "built"}})
    serve.serve(8000)
    save("answer = 1", 1)
    with pytest.raises(ValueError, match="cannot be built"):
        builders[0]()
    save("answer = ", 2)
    with pytest.raises(SyntaxError):
        builders[0]()
    assert "restarted" not in done
    save("answer = 2", 3)
    with pytest.raises(ValueError, match="cannot be built"):
        builders[0]()
    assert "restarted" in done


def sources() -> list[File]:
    """Return the sources of all pages, as mkdocs knows them."""
    return [File(path, str(DOCS), "site", True) for path in pages.written_pages()]
