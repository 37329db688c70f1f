"""The built site: `make site` and `make serve`.

    build.py                 builds the site and checks it, in the order below
    assets.py                typefaces, formulas, icons: docs/assets/built/   (mkdocs calls it)
    generated_pages.py       the pages that are made from data                (mkdocs calls it)
    notebook.py              each chapter as a notebook                       (mkdocs calls it)
    notebook_pictures.py     and its figures as PNG
    dark_figures.py          the dark drawings of the figures                 (mkdocs calls it)
    workbench.py             what the workbench takes from Python             (mkdocs calls it)
    practise.py              the checks of the exercises, and their notebook  (mkdocs calls it)
    teach.py                 the pages for teachers                           (mkdocs calls it)
    slides.py, slides.html   the boards as slides
    strokes.py               and their drawings, stroke by stroke
    quiz_sheet.py            a quiz on paper, with quiz_sheet.html
    built_chapter.py         a chapter as one built page, however many it has
    html_tree.py             a built page as a tree, to cut parts out of
    search_index.py, .mjs    the index of the search, from the built pages    (mkdocs calls it)
    docstring_formulas.py    formulas of docstrings as mathematics            (mkdocs calls it)
    source_archive.py        the source of the book, to download
    wheel.py                 the package as a wheel, to install
    former_reference_anchors.py   former addresses in the reference               (mkdocs calls it)
    moved_places.py          the addresses of pages that are split or gone    (mkdocs calls it)
    downloads.py             the book as PDF and EPUB, to download            (mkdocs calls it)
    wide_listings.py         which listings are wider than the text           (mkdocs calls it)
    cite.py                  how to cite the book, from CITATION.cff          (mkdocs calls it)
    install_lines.py         the addresses in lines to copy                   (mkdocs calls it)
    sidebar.py               the names and the pages of the sidebar           (mkdocs calls it)
    progress.py              says how far a build is                          (mkdocs calls it)
    rebuild.py               rebuilds only the pages that a change affects    (mkdocs calls it)
    minify.py, minify.mjs    one style sheet, short scripts: esbuild and PurgeCSS
    framed_explorers.py      each explorer alone, for a frame in another page
    markdown_copies.py       each page as Markdown, and llms.txt, which lists them
    plain_markdown.py        converts the page language to plain Markdown, for both kinds of copies
    check.py                 finds dead links, duplicate titles, oversized files
    security_policy.py       the Content-Security-Policy, as `_headers`
    serve.py                 `make serve`: serves what is built, rebuilds what has changed
    host.py                  a static host for tests and `make lighthouse`
    lighthouse.py            `make lighthouse`: how five kinds of page score
    paper/                   `make pdf`: the book as one PDF and as an e-book
    theme/                   templates that override mkdocs-material's

Why the longer ones stay, where a package does something like it:

    assets, workbench     choose what to copy, cut and pass on; fontTools and json do the work
    check                 link checkers know neither sizes nor duplicate titles; selectolax parses
    docstring_formulas    is a list of this package's formulas with their TeX
    framed_explorers      is a page and a list of files; esbuild shrinks the style sheet
    host                  http.server has no 404.html, no compression and no `_headers`
    markdown_copies       plugins for llms.txt garble mathematics that is rendered already
    plain_markdown        no converter knows the page language
    notebook, practise    jupytext knows neither bound numbers nor recorded outputs; nbformat writes
    rebuild, serve        `mkdocs serve --dirty` looks at a page's own source alone, so a changed
                          module or drawing would not show; go once a build takes seconds
    search_index          cuts the built pages into sections and sentences; MiniSearch ranks them
    security_policy       packages set headers on a running server; these are hashes of a built site
    slides, strokes       slide programs want the boards written again, and none draws by strokes

Imports: posenc, setup, practise, book, figures, pyodide.
"""
