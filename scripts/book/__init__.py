"""The page language: the forms that pages can use beyond Markdown, rendered and checked.

README.md explains each form to those who write pages.

    numbers.py      {{ 0.841 = expression }}       a number bound to an expression
    units.py        {{ 57° = 1 in radians }}       with its unit
    tables.py       <!-- table: expression -->     a table bound to an array
    sessions.py     ```pycon and ```console        Python and shell sessions, output compared
    source_listings.py  --src-- posenc.a.b         code, cut from its file by name
    mathematics.py  $…$ and $$…$$                  set by KaTeX while the site is built
    figures.py      ![…](….svg)                    light and dark, wide and phone
    citations.py    [^key] and [@key]              from docs/data/references.yml
    cited.py                                       compares citations with docs/data/cited.yml
    evidence.py     {.checked}                     the tests and proofs behind a statement
    formal.py                                      folds what a machine proved under its name
    formal_page.py  makes the page of formal statements from docs/proofs/
    data.py                                        reads docs/data/, by the schemas in schemas/
    claims.py                                      folds with the ledger's claims
    run.py                                         sessions that run in the reader's browser
    quiz.py         !!! question "…"              options shuffled, reasons folded
    settings.py                                    numbers accepted unbound, in docs/data/settings/
    line_breaks.py                                 keeps short code and options on one line
    unrendered.py                                   rejects a page that would show any of this as is
    evaluate.py     runs a page and compares all of it
    check.py        hands a page to pytest, through Sybil
    update.py       `make update`: writes current results into the pages
    chapters.py     the chapters, each a page or several, in the order of the navigation
    length.py       counts the words of a page's prose
    pages.py        the pages, written in docs/ or made from data by the modules below
    template.py     fills their templates, templates/
    ledger_page.py  makes the ledger from docs/data/claims/
    models.py       reads docs/data/models.yml, well-known models and their positions
    models_page.py  makes the page of models from it and from configurations.yml
    recipes.py      makes the page of what models did to become long, from docs/data/recipes.yml
    configurations.py   reads docs/data/configurations.yml, rotary settings as published
    glossary.py     marks terms at their first use, from docs/data/glossary.yml
    elsewhere.py    reads names of papers and libraries, docs/data/names_elsewhere.yml
    glossary_page.py    makes the page of words from both
    practise_pages.py   makes the pages of *Practise* from scripts/practise/exercises/
    names_page.py   makes the page of the texts' names and ours
    reference_map.py        the public names that each page documents
    expression_globals.py   names that pages can use for the models and for that map
    sourcemap_page.py   makes the map of sources from docs/data/sources/
    changed.py      the pages whose sources changed, for `make quick`
    links_and_anchors.py   the links and anchors of a page, and duplicate anchors
    text.py         tells prose from code and formulas
    render.py       a page as HTML, without building the site

Everything that affects how a page is rendered is a Python-Markdown extension.

Imports: posenc, practise, proofs. Other rooms list the names that they add to pages in their
`expression_globals.py`, and keep the templates and schemas of their own pages.
"""
