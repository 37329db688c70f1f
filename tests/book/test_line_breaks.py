"""Code and prose break between their words, or not at all."""

import pytest
from playwright.sync_api import Page

from scripts.book.render import render

DIAGNOSE = "`python -m posenc diagnose file:model --trained 64`"
ROWS = """\
<!-- table: [{"f": "row 1", "n": 1}, {"f": "all of the rows", "n": 2}] -->
| f | n |\n| - | - |\n| row 1 | 1 |\n| all of the rows | 2 |
"""
QUOTES = """\
<!-- table: [{"f": "`a_b(ramp=\\"c\\")`", "n": 1}] -->
| f | n |\n| - | - |\n| `a_b(ramp="c")` | 1 |
"""
LONG = "`torch.nn.functional.scaled_dot_product_attention`"
PATH = "`docs/data/matrix/libraries/<name>.yml`"
FROM = "From 1e-300 to *2e-7*, or −(n − 1), but `3e-4`."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`pip install .`", '<code class="whole">pip install .</code>'),
        ("`name`", "<code>name</code>"),
        (DIAGNOSE, 'python <span class="whole">-m</span> posenc diagnose file:model <span'),
        (DIAGNOSE, '<span class="whole">--trained</span> 64</code>'),
        ("`a - b < c & d`", '<code class="whole">a - b &lt; c &amp; d</code>'),
        ("`[0.90, 0.41, 0.00, 0.99, 1.00, ...]`", ' <span class="whole">1.00, ...]</span></code>'),
        ("`10000 ** (count / (n - 1))`", '(count / (<span class="whole">n - 1</span>))</code>'),
        ("`round(x)[..., 1:] of the rows`", 'round(x)<span class="whole">[..., 1:]</span> of'),
        ("`?rope.query=40`", '<code class="whole">?rope.query=40</code>'),
        (LONG, "scaled_<wbr />dot_<wbr />product_<wbr />attention</code>"),
        ("`PixtralRotaryEmbedding.adjusted_queries`", ".<wbr />adjusted_<wbr />queries</code>"),
        ("`a_b_c`", "<code>a_b_c</code>"),
        (PATH, ">docs/<wbr />data/<wbr />matrix/<wbr />libraries/<wbr />&lt;name&gt;.yml</code>"),
        ("## original_max_position_embeddings", ">original_<wbr />max_<wbr />position_<wbr />emb"),
        ("## rope_theta", ">rope_theta<"),
        ("From 1, *2* … n and more.", "<em>2</em>\u00a0… n"),
        ("`a … b`", "a … b"),
        (FROM, "From 1e-\u2060300 to <em>2e-\u20607</em>, or −\u2060(n\u00a0−\u00a01)"),
        (FROM, '<code class="whole">3e-4</code>'),
        ("From −1 to key − query.", "−1 to key\u00a0−\u00a0query"),
        ("`a − b`", "a − b"),
        ("Is q + k − 1 and 2 × 2.", "q\u00a0+\u00a0k\u00a0−\u00a01 and 2\u00a0×\u00a02"),
        ("Words[^vaswani2017] [^devlin2019].", "</sup>\u00a0<sup"),
        ("Words[^vaswani2017] and more.", "</sup> and more"),
        ("It is above d.", "above\u00a0d.</p>"),
        ("In the shape of `x`.", "shape of\u00a0<code>x</code>.</p>"),
        ("And in code `a b`", 'in code <code class="whole">a b</code>'),
        ("This has a longer end.", "a longer end.</p>"),
        ("- It takes 1.\n- true if", "takes\u00a01.</li>"),
        ("- It takes 1.\n- true if", "true if</li>"),
        ("- Above:\n    - And 2.", "And\u00a02.</li>"),
        (ROWS, '<th class="whole" scope="row">row 1</th>'),
        (ROWS, '<th scope="row">all of the rows</th>'),
        (QUOTES, 'a_<wbr />b(ramp="c")'),
    ],
)
def test_a_line_may_end_only_where_it_reads_well(text: str, shown: str) -> None:
    assert shown in render(f"{text}\n")


def test_blocks_of_code_are_left_as_they_are() -> None:
    assert "whole" not in render("Text:\n\n    make --all\n\n```console\n$ make --all\n```\n")


def test_an_option_stays_on_one_line_in_a_browser(page: Page) -> None:
    page.set_content(
        '<style>.whole { white-space: nowrap }</style><p style="width: 6ch; font: 16px monospace">'
        + render("`--length`")
    )
    assert page.locator("code").evaluate("code => code.getClientRects().length") == 1
