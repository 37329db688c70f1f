"""The workbench in a browser: the words of the command, at once, and nothing leaves the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from posenc import read_config
from posenc._console import REPORT
from posenc.config.serving import PROGRAMS
from scripts.book.configurations import Configuration, configurations
from scripts.site.workbench import json_text
from tests.oracles.test_published import FAULTS, GONE, config_of, planted
from tests.site.config_script import Answer, command_answer, command_serving
from tests.site.served import Site
from tests.site.test_explore_browser import CUT_OFF
from tests.site.visits import PHONE, SETTLE, fresh_page, requested, violations

PATH = "long-context/workbench/"
pytestmark = pytest.mark.usefixtures("own_folder")

ALL = configurations()
WITHIN = 100  # milliseconds in which a keystroke is answered
LIGHT = 126_000  # bytes beyond those of any page

# Type a digit and take it back, many times; return how long each took, up to the new layout.
KEYSTROKES = """() => {
    const field = document.querySelector("#wb-text");
    const at = field.value.indexOf("131072") + 6;
    const typed = text => {
        const start = performance.now();
        field.value = text;
        field.dispatchEvent(new Event("input", {bubbles: true}));
        document.body.getBoundingClientRect();
        return performance.now() - start;
    };
    const before = field.value;
    const after = before.slice(0, at) + "0" + before.slice(at);
    return Array.from({length: 100}, (_, n) => typed(n % 2 ? before : after));
}"""
PASTE = """([place, text]) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const event = new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true});
    document.querySelector(place).dispatchEvent(event);
}"""


@pytest.fixture(scope="module")
def bench(browser: Browser, browser_context_args: dict[str, Any], site: object) -> Iterator[Page]:
    """Return the page of the workbench, which the tests of this module share."""
    with fresh_page(browser, browser_context_args) as page:
        page.goto(PATH)
        expect(printout(page)).not_to_be_empty()
        yield page


def printout(page: Page) -> Locator:
    return page.locator(".findings details code")


def type_in(page: Page, text: str, length: int | None = None) -> None:
    """Write a configuration and a length into their fields."""
    page.get_by_label("config.json", exact=True).fill(text)
    page.get_by_role("textbox", name="length asked about").fill(
        "" if length is None else str(length)
    )


def assert_says(page: Page, theirs: Answer) -> None:
    """Compare the page with what the command prints: its printout, and each line in the page."""
    expect(page.locator(".says")).to_contain_text(f"Exit status {theirs.status}:")
    assert theirs.words is not None
    assert printout(page).text_content() == theirs.words
    shown = page.locator(".findings > :is(section, p)").evaluate_all(
        "all => all.map(one => one.innerText.replace(/\\s+/g, ' ')).join(' ')"
    )
    for line in re.split(r"\n(?!    )", theirs.words):  # a note goes on with an indent
        assert " ".join(line.split()).removeprefix("- ") in shown, line


@pytest.mark.slow
@pytest.mark.parametrize("one", ALL, ids=lambda one: one.key)
def test_workbench_says_what_the_command_says_of_every_model(
    one: Configuration, bench: Page
) -> None:
    text = json_text(one.config)
    bench.get_by_label("model", exact=True).select_option(one.key)
    assert bench.get_by_label("config.json", exact=True).input_value() == text
    assert_says(bench, command_answer(text))
    length = 2 * (read_config(one.config).length or 2048)
    bench.get_by_role("button", name="2 times").click()
    assert_says(bench, command_answer(text, length))


@pytest.mark.slow
@pytest.mark.parametrize(("key", "place", "value", "named"), FAULTS)
def test_a_fault_has_the_words_of_the_command_under_the_field(
    key: str, place: str, value: Any, named: str, bench: Page
) -> None:
    text = json_text(planted(config_of(key), place, value))
    type_in(bench, text)
    error = command_answer(text).error
    assert error is not None
    field = bench.get_by_label("config.json", exact=True)
    expect(bench.locator("#wb-text-error")).to_have_text(error)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(error)
    expect(bench.locator(".says")).to_have_text("Exit status 2: the configuration cannot be read.")
    expect(bench.locator(".findings")).to_have_text(REPORT)
    marks = {json.loads(one) for one in bench.locator(".paper mark").all_text_contents()}
    wrong, _, _ = error.partition(", such as ")
    assert all(mark in wrong for mark in marks)
    *outer, last = place.split(".")
    if f"{place} " in error:  # of an entry that is missing, the one around it is marked
        assert {*outer[-1:]} <= marks if value is GONE else last in marks


@pytest.mark.parametrize("text", ["", "{", '{"rope_theta": 1e4,', '{"a": 01}', "[1]", "not JSON"])
def test_what_is_not_json_has_the_words_of_the_command(text: str, bench: Page) -> None:
    type_in(bench, text)
    expect(bench.locator("#wb-text-error")).to_have_text(str(command_answer(text).error))
    expect(bench.locator(".findings")).to_have_text(REPORT)
    type_in(bench, json_text(ALL[0].config))
    expect(bench.locator("#wb-text-error")).to_be_empty()
    expect(printout(bench)).not_to_be_empty()


def test_the_status_says_that_a_model_type_is_not_known(bench: Page) -> None:
    sizes = {"head_dim": 64, "max_position_embeddings": 2048}
    type_in(bench, json_text({"model_type": "unheard-of", "rope_theta": 10000, **sizes}))
    expect(bench.locator(".says")).to_contain_text("The model type is not known")
    type_in(bench, json_text(ALL[0].config))
    expect(bench.locator(".says")).not_to_contain_text("not known")


def test_the_verdict_holds_only_for_the_trained_length_that_is_taken(
    bench: Page, site: Site
) -> None:
    rule = {"rope_type": "yarn", "factor": 4.0}
    config = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 32768}
    type_in(bench, json_text(config | {"rope_theta": 1e6, "rope_scaling": rule}))
    said = "original_max_position_embeddings is not given: this holds only if it is 32,768"
    expect(bench.locator(".says")).to_contain_text(f"Exit status 0: nothing is wrong. {said}")
    assert_leads(site, bench.locator(".says a"), "how-to/extended-and-worse/#no-original")
    bench.get_by_role("textbox", name="trained length").fill("8192")
    expect(bench.locator(".says")).to_contain_text("holds only if it is 8,192")
    rule["original_max_position_embeddings"] = 8192
    bench.get_by_role("textbox", name="trained length").fill("")
    type_in(bench, json_text(config | {"rope_theta": 1e6, "rope_scaling": rule}))
    expect(bench.locator(".says")).not_to_contain_text("holds only")


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("bloom", "schemes/alibi/"),
        ("gpt2", "schemes/learned/"),
        ("t5", "schemes/t5/"),
    ],
)
def test_a_model_with_other_positions_leads_to_their_page(
    kind: str, address: str, bench: Page, site: Site
) -> None:
    text = json_text({"model_type": kind, "hidden_size": 64})
    type_in(bench, text)
    expect(bench.locator("#wb-text-error")).to_have_text(str(command_answer(text).error))
    expect(bench.locator(".says")).to_contain_text("positions of this model are not rotary. See")
    assert_leads(site, bench.locator(".says a"), address)
    assert violations(bench) == []


def test_an_answer_that_asks_for_a_rule_leads_to_the_choice(bench: Page, site: Site) -> None:
    advice = bench.locator(".findings > p", has_text="Which rule to choose")
    link = advice.get_by_role("link", name="Extend a context")
    bench.get_by_label("model", exact=True).select_option("olmo-2")
    bench.get_by_role("button", name="2 times").click()
    assert_leads(site, link, "how-to/extend-a-context/")
    bench.get_by_role("button", name="as promised").click()
    expect(advice).to_have_count(0)


def assert_leads(site: Site, link: Locator, address: str) -> None:
    """Check that a link leads to a page, and to its place, that the site has."""
    assert link.evaluate("one => one.href") == f"{site.url}{address}"
    path, _, anchor = address.partition("#")
    html = (site.folder / path / "index.html").read_text(encoding="utf-8")
    assert not anchor or re.search(f'id="?{anchor}\\b', html)


def test_a_fault_of_what_is_pasted_comes_into_view(
    browser: Browser, browser_context_args: dict[str, Any], site: object
) -> None:
    size = {"viewport": {"width": 1280, "height": 800}}
    with fresh_page(browser, browser_context_args | size) as page:
        page.goto(PATH)
        expect(printout(page)).not_to_be_empty()
        text = json_text(config_of("llama-3.1"))
        page.evaluate(PASTE, ["article", text])
        assert page.evaluate("scrollY") == 0
        page.evaluate(PASTE, ["article", text.replace("\n}", ",\n}")])
        expect(page.locator("#wb-text-error")).to_contain_text("JSON allows no comma before } or ]")
        expect(page.locator("#wb-text-error")).to_be_in_viewport(ratio=1)
        assert page.locator(".paper mark").all_text_contents() == [","]
        page.get_by_label("config.json", exact=True).fill("")
        page.evaluate("scrollTo(0, 0)")
        page.get_by_label("config.json", exact=True).focus()
        page.evaluate("document.execCommand('insertText', false, '{')")
        assert page.evaluate("scrollY") == 0


def test_a_wrong_length_has_the_words_of_the_command_under_its_field(bench: Page) -> None:
    text = json_text(ALL[0].config)
    for length in (0, -3, 2**53 + 1):
        type_in(bench, text, length)
        expect(bench.locator("#wb-length-error")).to_have_text(
            str(command_answer(text, length).error)
        )
        expect(bench.locator("#wb-text-error")).to_be_empty()


def test_what_is_no_length_is_refused_under_its_field(bench: Page) -> None:
    bench.get_by_label("model", exact=True).select_option("olmo-2")
    for name, of in (("length asked about", "length"), ("trained length", "trained")):
        field, error = bench.get_by_role("textbox", name=name), bench.locator(f"#wb-{of}-error")
        for given in ("many", "4,0"):
            field.fill(given)
            allowed = "a number of tokens, such as 32768, 32,768 or 32k"
            said = f"a length must be {allowed}; got '{given}'"
            expect(error).to_have_text(said)
            expect(field).to_have_accessible_description(said)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(bench.locator(".says")).to_have_text(
                f"Exit status 2: the {name} cannot be read."
            )
            expect(bench.locator("#wb-text-error")).to_be_empty()
        for given in ("4,096", "4k", ""):
            field.fill(given)
            expect(error).to_be_empty()
            expect(bench.locator(".says")).to_contain_text(re.compile("Exit status [01]"))


def test_a_trained_length_is_taken_as_the_command_takes_it(bench: Page) -> None:
    """The text stays as it is; the field is closed where the text says the trained length."""
    text = json_text({**config_of("olmo-2"), "max_position_embeddings": 8192})
    field = bench.get_by_role("textbox", name="trained length")
    type_in(bench, text)
    for given in ("4096", "4,096", "4k"):
        field.fill(given)
        assert_says(bench, command_answer(text, trained=4096))
    expect(bench.locator(".findings")).to_contain_text("4,096 trained, 8,192 promised")
    expect(bench.locator(".findings")).not_to_contain_text("The trained length is taken to be")
    assert bench.get_by_label("config.json", exact=True).input_value() == text
    field.fill("1")
    expect(bench.locator("#wb-trained-error")).to_have_text(
        str(command_answer(text, trained=1).error)
    )
    expect(bench.locator("#wb-text-error")).to_be_empty()
    bench.get_by_label("model", exact=True).select_option("llama-3.1")
    expect(field).to_be_disabled()
    expect(field).to_have_value("")
    expect(field).to_have_attribute("placeholder", "8192")
    bench.get_by_label("model", exact=True).select_option("olmo-2")
    expect(field).to_be_enabled()


def test_a_configuration_that_is_pasted_is_read(bench: Page) -> None:
    """Anywhere on the page, and in the field if that has a model that was picked."""
    text = json_text(config_of("llama-3.1"))
    for place in ("article", "#wb-text"):
        bench.get_by_label("model", exact=True).select_option("gpt-j")
        bench.evaluate(PASTE, [place, text])
        assert bench.get_by_label("config.json", exact=True).input_value() == text
        assert_says(bench, command_answer(text))
        expect(bench.get_by_label("model", exact=True)).to_have_value("")


def test_sliders_and_fields_move_both_lengths(bench: Page) -> None:
    bench.get_by_label("model", exact=True).select_option("olmo-2")
    bench.get_by_role("slider", name="length asked about").fill("20")
    text = json_text(config_of("olmo-2"))
    assert_says(bench, command_answer(text, 2**18))
    bench.get_by_role("slider", name="trained length").fill("6")
    assert_says(bench, command_answer(text, 2**18, 2048))
    bench.get_by_role("textbox", name="trained length").fill("3000")
    assert_says(bench, command_answer(text, 2**18, 3000))
    assert bench.get_by_label("config.json", exact=True).input_value() == text


def test_what_to_set_can_be_copied(bench: Page) -> None:
    bench.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench.get_by_label("model", exact=True).select_option("llama-3.1")
    bench.get_by_role("button", name="2 times").click()
    bench.get_by_role("button", name="Copy what to set").click()
    copied = json.loads("{" + bench.evaluate("navigator.clipboard.readText()") + "}")
    words = command_answer(json_text(config_of("llama-3.1")), 262144).numbers
    assert words is not None
    assert copied == json.loads(words)["layers"][0]["set"]


def test_what_to_start_a_program_with_is_shown_and_can_be_copied(bench: Page) -> None:
    bench.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = json_text(config_of("mixtral"))
    bench.get_by_label("model", exact=True).select_option("mixtral")
    bench.get_by_role("button", name="2 times").click()
    for program in PROGRAMS:
        bench.get_by_label("start with").select_option(program)
        bench.get_by_role("button", name="Copy what to start with").click()
        copied = bench.evaluate("navigator.clipboard.readText()")
        assert copied == command_serving(text, 65536, program)
    bench.get_by_label("start with").select_option("no program")
    expect(bench.locator(".starts")).to_be_empty()


def test_the_numbers_to_set_are_three_clicks_and_a_paste_from_home(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("")
    page.get_by_role("link", name="What does my configuration do?").first.click()
    expect(printout(page)).not_to_be_empty()
    text = json_text(config_of("mixtral"))
    page.evaluate(PASTE, ["article", text])
    page.get_by_role("button", name="2 times").click()
    page.get_by_role("button", name="Copy what to set").click()
    words = command_answer(text, 65536).words
    assert words is not None
    said = [line.removeprefix("  ") for line in words.splitlines()]
    assert page.evaluate("navigator.clipboard.readText()").splitlines()[0].strip() in map(
        str.strip, said
    )
    assert '"rope_type": "yarn"' in page.evaluate("navigator.clipboard.readText()")


def test_the_address_picks_a_model_and_a_length(bench: Page) -> None:
    bench.goto(f"{PATH}?workbench.model=gemma-3-1b&workbench.length=100000")
    expect(printout(bench)).not_to_be_empty()
    assert_says(bench, command_answer(json_text(config_of("gemma-3-1b")), 100_000))
    bench.get_by_label("layers in the picture").select_option("sliding_attention")
    assert "66 of 128" in str(
        bench.get_by_role("img", name="Pair 0 makes").get_attribute("aria-label")
    )


def test_a_keystroke_is_answered_at_once(bench: Page) -> None:
    bench.get_by_label("model", exact=True).select_option("phi-3.5")  # the longest
    times = sorted(bench.evaluate(KEYSTROKES))
    print(f"\nmedian {times[50]:.1f} ms, slowest {times[-1]:.1f} ms")
    assert times[50] < WITHIN


def test_a_head_as_wide_as_the_command_reads_is_drawn(bench: Page) -> None:
    text = '{"head_dim": 65536, "rope_theta": 1e4, "max_position_embeddings": 9007199254740992}'
    failed: list[str] = []
    bench.on("pageerror", lambda error: failed.append(str(error)))
    type_in(bench, text)
    expect(bench.locator(".stage svg")).to_have_attribute("aria-label", re.compile("pair 32767 "))
    assert failed == []
    assert_says(bench, command_answer(text))


def test_of_many_types_of_layers_some_are_described_and_all_printed(bench: Page) -> None:
    """Each is told to set all of them, so that the words of all grow as the square."""
    names = [f"kind_{n}_attention" for n in range(300)]
    parameters = {name: {"rope_type": "default", "rope_theta": 1e4} for name in names}
    given = {"head_dim": 8, "layer_types": names, "rope_parameters": parameters}
    text = json.dumps({"max_position_embeddings": 4096} | given)
    bench.locator(".findings details").evaluate("details => details.open = false")
    type_in(bench, text, 8192)
    expect(bench.locator(".findings section")).to_have_count(12)
    expect(bench.locator(".findings > p").first).to_have_text(
        "288 more types of layers are in what the command prints."
    )
    expect(printout(bench)).to_have_count(0)
    type_in(bench, text)
    bench.locator(".findings summary").click()
    theirs = command_answer(text)
    assert theirs.words is not None
    expect(printout(bench)).not_to_be_empty()
    assert printout(bench).text_content() == theirs.words
    bench.locator(".findings summary").click()


def test_workbench_is_light_and_sends_nothing(site: Site, page: Page) -> None:
    """Its weight is that of all files, not compressed, that other pages do not need."""
    urls = requested(page)
    page.goto("reference/config/")
    page.evaluate(SETTLE)
    before = {*urls, f"{site.url}{PATH}"}
    page.goto(PATH)
    expect(printout(page)).not_to_be_empty()
    names = {url.removeprefix(site.url) for url in {*urls} - before}
    sizes = {name: (site.folder / name).stat().st_size for name in names}
    print(f"\n{sizes}")
    assert "assets/js/workbench.js" in sizes
    assert sum(sizes.values()) < LIGHT
    urls.clear()
    type_in(page, json_text(config_of("qwen3")), 100_000)
    expect(printout(page)).to_contain_text("100,000 asked about")
    assert urls == []
    assert page.url == f"{site.url}{PATH}"


def test_every_model_has_a_picture_that_fits_and_axe_finds_nothing(bench: Page) -> None:
    for key in ("gemma-4", "stablelm-2", "gpt-oss", "ministral-3"):
        bench.get_by_label("model", exact=True).select_option(key)
        bench.get_by_role("button", name="8 times").click()
        expect(bench.get_by_role("img", name="Pair 0 makes")).to_be_visible()
        assert bench.locator(".stage text").evaluate_all(CUT_OFF) == []
    assert violations(bench) == []
    type_in(bench, "{")
    assert violations(bench) == []


def test_the_picture_comes_first_on_a_phone(
    browser: Browser, browser_context_args: dict[str, Any], site: object
) -> None:
    with fresh_page(browser, browser_context_args | {"viewport": PHONE}) as page:
        page.goto(PATH)
        expect(printout(page)).not_to_be_empty()
        tops = [
            page.locator(place).evaluate("one => one.getBoundingClientRect().top")
            for place in (".stage", "#wb-model", "#wb-text", "#wb-length", ".says", ".findings")
        ]
        assert tops == sorted(tops)
        assert page.locator(".stage text").evaluate_all(CUT_OFF) == []
        for name in ("length asked about", "trained length"):
            page.get_by_role("textbox", name=name).fill("many")
        errors = page.locator(".asked .error", has_text="a length must be")
        expect(errors).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_without_scripts_the_page_says_what_to_run(page_without_scripts: Page) -> None:
    page_without_scripts.goto(PATH)
    place = page_without_scripts.locator("config-workbench")
    expect(place).to_contain_text("posenc config path/to/config.json --length 8192")
    expect(place.locator("textarea")).to_have_count(0)
