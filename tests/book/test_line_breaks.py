"""Code breaks between its words, or not at all."""

from playwright.sync_api import Page

from scripts.book.render import render


def test_short_code_is_kept_whole_and_longer_code_keeps_its_options() -> None:
    html = render("`pip install .`, `name`, `python -m posenc diagnose file:model --trained 64`\n")
    assert '<code class="whole">pip install .</code>, <code>name</code>' in html
    assert 'python <span class="whole">-m</span> posenc diagnose file:model <span' in html
    assert '<span class="whole">--trained</span> 64</code>' in html


def test_blocks_of_code_are_left_as_they_are() -> None:
    assert "whole" not in render("Text:\n\n    make --all\n\n```console\n$ make --all\n```\n")


def test_a_kept_character_is_escaped_once() -> None:
    assert '<code class="whole">a - b &lt; c &amp; d</code>' in render("`a - b < c & d`\n")


def test_no_line_begins_with_an_ellipsis() -> None:
    html = render("Positions 0, 1, *2* … n and `a … b`.\n")
    assert "<em>2</em>\u00a0… n" in html
    assert "a … b" in html


def test_no_line_begins_within_a_number() -> None:
    html = render("From 1e-300 to *2e-7*, or −(n − 1), but `3e-4`.\n")
    assert "From 1e-\u2060300 to <em>2e-\u20607</em>, or −\u2060(n\u00a0−\u00a01)" in html
    assert '<code class="whole">3e-4</code>' in html


def test_no_line_begins_within_a_difference() -> None:
    assert "−1 to key\u00a0−\u00a0query" in render("From −1 to key − query.\n")
    assert "a − b" in render("`a − b`\n")


def test_no_line_begins_within_a_sum_or_a_product() -> None:
    assert "q\u00a0+\u00a0k\u00a0−\u00a01 and 2\u00a0×\u00a02" in render(
        "Is q + k − 1 and 2 × 2.\n"
    )


def test_no_line_begins_between_two_marks_of_notes() -> None:
    html = render("Words[^vaswani2017] [^devlin2019] and more.\n")
    assert "</sup>\u00a0<sup" in html
    assert "</sup> and more" in html


def test_the_end_of_a_long_list_is_kept_whole() -> None:
    html = render("`[0.909, 0.416, 0.004, 0.999, 1.000, ...]`\n")
    assert ' <span class="whole">1.000, ...]</span></code>' in html


def test_longer_code_keeps_its_sums_and_indices() -> None:
    html = render("`base=10000 ** (count / (n - 1))` and `scores.round(3)[..., 1:] of the rows`\n")
    assert '(count / (<span class="whole">n - 1</span>))</code>' in html
    assert 'scores.round(3)<span class="whole">[..., 1:]</span> of' in html


def test_a_last_word_of_a_letter_is_not_left_alone() -> None:
    assert "above\u00a0d.</p>" in render("It is above d.\n")
    assert "shape of\u00a0<code>x</code>.</p>" in render("In the shape of `x`.\n")
    assert "in code <code>a b</code>" in render("And in code `a b`\n").replace(' class="whole"', "")
    assert "a longer end.</p>" in render("This has a longer end.\n")
    html = render("- It takes 1.\n- true if\n- Above:\n    - And 2.\n")
    assert "takes\u00a01.</li>" in html
    assert "true if</li>" in html
    assert "And\u00a02.</li>" in html


def test_a_short_name_of_a_row_stays_on_one_line() -> None:
    rows = '{"page": "chapter 1", "n": 1}, {"page": "all of the chapters", "n": 2}'
    table = "| page | n |\n| - | - |\n| chapter 1 | 1 |\n| all of the chapters | 2 |\n"
    html = render(f"<!-- table: [{rows}] -->\n{table}")
    assert '<th class="whole" scope="row">chapter 1</th>' in html
    assert '<th scope="row">all of the chapters</th>' in html


def test_a_query_is_not_parted_from_its_question_mark() -> None:
    assert '<code class="whole">?rope.query=40</code>' in render("`?rope.query=40`\n")


def test_a_long_name_breaks_after_its_underscores_and_a_shorter_one_does_not() -> None:
    html = render("`torch.nn.functional.scaled_dot_product_attention` and `a_b_c`\n")
    assert "scaled_<wbr />dot_<wbr />product_<wbr />attention</code>" in html
    assert "<code>a_b_c</code>" in html


def test_quotes_in_the_code_of_a_heading_stay_straight() -> None:
    table = (
        '<!-- table: [{"f": "`a_b(ramp=\\"c\\")`", "n": 1}] -->\n'
        '| f | n |\n| - | - |\n| `a_b(ramp="c")` | 1 |\n'
    )
    html = render(table)
    assert 'a_<wbr />b(ramp="c")' in html or "a_<wbr />b(ramp=&quot;c&quot;)" in html


def test_an_option_stays_on_one_line_in_a_browser(page: Page) -> None:
    page.set_content(
        '<style>.whole { white-space: nowrap }</style><p style="width: 6ch; font: 16px monospace">'
        + render("`--length`")
    )
    assert page.locator("code").evaluate("code => code.getClientRects().length") == 1
