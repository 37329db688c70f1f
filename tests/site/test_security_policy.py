"""The whole book works under the security policy of the build, which refuses all else."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.site import security_policy
from scripts.site.host import Host, serve_folder
from tests.site.served import Site
from tests.site.visits import DESK, PATIENCE

HASH = re.compile(r"'sha256-[\w+/=]+'")
PLANTED = "<script>document.title = 'planted'</script>"

# Violations by the page and its workers are reported to the host, and to the page.
LISTEN = """() => {
    window.refused = [];
    addEventListener("securitypolicyviolation", (event) =>
        refused.push(`${event.effectiveDirective}: ${event.blockedURI} ${event.sample}`));
}"""
KNOWN = "http://refused.invalid/"  # an image that no page may load
KINDS = {
    "home": "",
    "chapter": "chapters/by-hand/",
    "questions": "chapters/check-yourself/quiz/",
    "explorer": "explore/rope/",
    "listings": "chapters/by-hand/why/",
    "reference": "reference/rotary/",
    "exercises": "practise/rotation/",
    "ledger": "trust/claims/",
    "nothing": "no/such/page/",
}


@dataclass(frozen=True)
class Strict:
    """The site on a host that sends the policy, and the violations reported to it."""

    host: Host
    folder: Path
    page: Page

    def refused(self) -> list[str]:
        """Return what a policy has refused since the page was opened.

        Reports take their time: what was refused before has come once a refusal of now has.
        """
        self.page.evaluate(f"new Image().src = '{KNOWN}'")
        end = time.monotonic() + PATIENCE / 1000
        while not any(KNOWN in report for report in self.host.reports):
            assert time.monotonic() < end, "the host has heard of no refusal"
            self.page.wait_for_timeout(20)
        self.page.wait_for_timeout(100)  # reports of workers take longer
        found: list[str] = self.page.evaluate("refused")
        return [one for one in found + self.host.reports if KNOWN not in one]


@pytest.fixture(scope="module")
def strict(
    site: Site, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Strict]:
    """Serve the built site with the policy of the book, for all paths."""
    folder = tmp_path_factory.mktemp("strict") / "site"
    shutil.copytree(site.folder, folder)
    with serve_folder(folder) as host:
        host.headers |= security_policy.headers(security_policy.blocks(folder), "/")
        assert HASH.search(host.headers[security_policy.NAME])
        host.headers[security_policy.NAME] += "; report-uri /refused"  # from workers too
        with browser.new_context(base_url=host.url, viewport=DESK) as window:
            window.set_default_timeout(PATIENCE)
            window.add_init_script(f"({LISTEN})()")
            yield Strict(host, folder, window.new_page())


@pytest.fixture(autouse=True)
def _forget(strict: Strict) -> None:
    strict.host.reports.clear()


@pytest.mark.parametrize("path", KINDS.values(), ids=KINDS)
def test_every_kind_of_page_keeps_the_policy(path: str, strict: Strict) -> None:
    strict.page.goto(path, wait_until="networkidle")
    strict.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    strict.page.wait_for_load_state("networkidle")
    assert strict.page.evaluate("document.documentElement.classList.contains('js')")
    assert strict.refused() == []


def test_run_answers_under_the_policy(strict: Strict) -> None:
    """The last example is run, and so all above it."""
    strict.page.goto(KINDS["chapter"])
    listing = strict.page.locator(".runs").last
    listing.get_by_role("button", name="Run").click()
    expect(listing.get_by_role("status")).to_have_text("Done: the output is as recorded.")
    assert strict.refused() == []


def test_exercise_is_checked_under_the_policy(strict: Strict) -> None:
    strict.page.goto(KINDS["exercises"])
    listing = strict.page.locator(".answer").first
    listing.get_by_role("button", name="Check").click()
    expect(listing.locator(".run [role=status]")).to_have_text("Not yet.")
    assert strict.refused() == []


def test_models_run_under_the_policy(strict: Strict) -> None:
    strict.page.goto("explore/watch/?watch.scheme=alibi")
    strict.page.get_by_role("button", name="Watch it break").click()
    expect(strict.page.locator(".watch .summary")).to_contain_text("perplexity")
    assert strict.refused() == []


def test_run_says_when_the_policy_refuses_webassembly(strict: Strict, browser: Browser) -> None:
    """In a context of its own: a cached worker keeps the policy that it was cached with."""
    allowed = strict.host.headers[security_policy.NAME]
    strict.host.headers[security_policy.NAME] = allowed.replace(" 'wasm-unsafe-eval'", "")
    try:
        with browser.new_context(base_url=strict.host.url, viewport=DESK) as window:
            page = window.new_page()
            page.goto(KINDS["listings"])
            listing = page.locator(".runs").first
            listing.get_by_role("button", name="Run").click()
            status = listing.get_by_role("status")
            expect(status).to_contain_text("could not be fetched", timeout=PATIENCE)
    finally:
        strict.host.headers[security_policy.NAME] = allowed


def test_search_works_under_the_policy(strict: Strict) -> None:
    strict.page.goto(KINDS["chapter"])
    strict.page.locator(".search-field").click()
    strict.page.locator(".search-field").fill("wavelength")
    expect(strict.page.locator(".search-excerpt mark").first).to_be_attached()
    assert strict.refused() == []


def test_page_is_fetched_under_the_policy_when_its_link_is_pressed(strict: Strict) -> None:
    strict.page.goto(KINDS["chapter"])
    strict.host.sent.clear()
    strict.page.locator(".tabs a").last.hover()
    strict.page.mouse.down()
    address = strict.page.locator(".tabs a").last.evaluate("link => link.pathname")
    for _ in range(600):  # up to a minute
        if address in dict(strict.host.sent):
            break
        strict.page.wait_for_timeout(100)
    assert address in dict(strict.host.sent)
    strict.page.mouse.up()
    strict.page.wait_for_url(f"**{address}")
    assert [path for path, _ in strict.host.sent].count(address) == 1
    assert strict.refused() == []


def test_policy_allows_colours_and_the_notebook(strict: Strict) -> None:
    strict.page.goto(KINDS["chapter"])
    notebook = strict.page.locator("a[href$='.ipynb']").first
    with strict.page.expect_download() as download:
        notebook.evaluate("link => { link.download = ''; link.click(); }")
    assert download.value.failure() is None
    strict.page.locator("[data-md-component=palette] label:not([hidden])").first.click()
    expect(strict.page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    assert strict.refused() == []


def test_an_added_script_is_refused(strict: Strict) -> None:
    page = strict.folder / "reference" / "combine" / "index.html"
    whole = page.read_text("utf-8")
    page.write_text(whole.replace("</body>", f"{PLANTED}</body>"), "utf-8")
    strict.page.goto("reference/combine/", wait_until="networkidle")
    assert strict.page.title() != "planted"
    assert [one for one in strict.refused() if one.startswith("script-src-elem: inline")]
    page.write_text(whole, "utf-8")


def test_refused_request_of_a_worker_is_reported(strict: Strict) -> None:
    """Otherwise the test of *Run* would miss violations by its worker."""
    strict.page.goto(KINDS["explorer"])
    worker = strict.folder / "assets" / "planted.js"
    worker.write_text("try { eval('1') } catch { postMessage('refused') }", "utf-8")
    begin = "new Promise((hear) => { new Worker('/assets/planted.js').onmessage = hear })"
    strict.page.evaluate(f"async () => {{ await {begin} }}")
    for _ in range(600):  # up to a minute
        if not strict.host.reports:
            strict.page.wait_for_timeout(100)
    assert '"blocked-uri":"eval"' in strict.host.reports[0]


def test_a_policy_names_each_script_once_and_leaves_data_out() -> None:
    data = '<script type="application/json">{}</script><script src="a.js"></script>'
    found = HASH.findall(security_policy.policy([PLANTED + data, PLANTED]))
    # printf "document.title = 'planted'" | openssl dgst -sha256 -binary | base64
    assert found == ["'sha256-uAoT3lHtQK/nnYfnhgl1yInd/ZwMkDumuyGhj2DYLN4='"]


@pytest.mark.parametrize("about", ["data-src='a.js'", "data-type='application/json'", "id=x"])
def test_inline_script_is_in_the_policy_whatever_its_attributes(about: str) -> None:
    assert security_policy.inline_scripts(f"<script {about}>planted()</script>") == ["planted()"]


@pytest.mark.parametrize("about", ["src='a.js'", "defer\nsrc=a.js", "type=application/json"])
def test_external_scripts_and_data_are_not_in_the_policy(about: str) -> None:
    assert security_policy.inline_scripts(f"<script {about}>planted()</script>") == []


def test_folder_without_headers_file_sends_no_headers(tmp_path: Path) -> None:
    assert security_policy.blocks(tmp_path) == []
    (tmp_path / "index.html").write_text(PLANTED, "utf-8")
    printed = dict(line.split(": ", 1) for line in security_policy.write(tmp_path).splitlines())
    sent = security_policy.headers(security_policy.blocks(tmp_path), "/")
    assert sent.keys() == printed.keys()
    framed, policy = sent.pop(security_policy.NAME).split(", ")
    assert printed.pop(security_policy.NAME) == f"{policy}; {framed}"
    assert sent == printed


def test_every_address_has_the_headers_and_only_embedded_pages_may_be_framed(site: Site) -> None:
    blocks = security_policy.blocks(site.folder)
    files = [file for file in site.folder.rglob("*") if file.is_file()]
    known = [f"/{file.relative_to(site.folder).as_posix()}" for file in files]
    pages = [path.removesuffix("index.html") for path in known if path.endswith(".html")]
    for path in [*known, *pages, "/no/such/page/", "/nothing", "/assets/nothing.js"]:
        sent = security_policy.headers(blocks, path)
        assert sent["X-Content-Type-Options"] == "nosniff", path
        assert sent["Referrer-Policy"] == "strict-origin-when-cross-origin", path
        *framed, policy = sent[security_policy.NAME].split(", ")
        assert policy.startswith("default-src 'self'; script-src 'self' "), path
        assert "frame-ancestors" not in policy
        if path in pages or path.startswith("/assets/"):
            wanted = [] if path.startswith("/embed/") else ["frame-ancestors 'self'"]
            assert framed == wanted, path


def test_address_outside_all_folders_is_sent_the_headers(site: Site) -> None:
    with serve_folder(site.folder) as host:
        host.blocks = security_policy.blocks(site.folder)
        with pytest.raises(HTTPError) as missing:
            urlopen(f"{host.url}no/such/page/")
    with missing.value as answer:
        sent = answer.headers
    assert sent[security_policy.NAME].startswith("default-src 'self'")
    assert sent["X-Content-Type-Options"] == "nosniff"
