"""The page language: what a page may say beyond Markdown, how it is shown and how it is checked.

    numbers.py      {{ 0.841 = expression }}       a number bound to what computes it
    units.py        {{ 57° = 1 in radians }}       and its unit
    tables.py       <!-- table: expression -->     a table bound to an array
    sessions.py     ```pycon and ```console        Python and shell sessions, output compared
    embed.py        --src-- posenc.a.b             code taken from its file by symbol
    mathematics.py  $…$ and $$…$$                  set by KaTeX while the site is built
    figures.py      ![…](….svg)                    light and dark, wide and phone
    citations.py    [^key] and [@key]              from docs/data/references.yml
    cited.py                                       what each citation is for, docs/data/cited.yml
    evidence.py     {.checked}                     the line under everything that is proved
    data.py                                        reads docs/data/, refusing what is said twice
    claims.py                                      a line from a place to the ledger of claims
    run.py                                         sessions that run in the reader's browser
    quiz.py         !!! question "…"              options in a drawn order, reasons folded
    settings.py     settings: [1, 8]               numbers that stand unbound, and no others
    leftovers.py                                   nothing of all this is shown as written
    check.py        the parsers with which Sybil checks all of it
    update.py       `make update`: writes what the package gives now into the pages
    ledger.py       makes docs/trust/claims.md from docs/data/claims/
    sourcemap.py    makes docs/trust/sources.md from docs/data/sources/
    anchors.py      anchors that a page has twice
    text.py         where in a page prose stands, and where code and formulas
    render.py       a page as HTML, without building the site

Everything that changes what a page shows is a Python-Markdown extension, so that any builder
which reads Markdown through Python-Markdown shows the same book.

Imports: posenc. What other rooms let pages name, they say in their `page_names.py`.
"""
