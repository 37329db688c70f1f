"""The built site: `make site` and `make serve`.

    build.py                 builds the site and checks it, in the order below
    assets.py                typefaces, formulas, icons: docs/assets/built/   (mkdocs calls it)
    notebook.py              a chapter as a notebook                          (mkdocs calls it)
    notebook_pictures.py     and its figures as PNG
    search_input.py          what the search gets to read of a page           (mkdocs calls it)
    install_lines.py         `pip install` lines with the wheel's address     (mkdocs calls it)
    rebuild.py               which pages an edit rebuilds while serving       (mkdocs calls it)
    minify.py, minify.mjs    one style sheet, short scripts: esbuild and PurgeCSS
    markdown_copies.py       each page as Markdown, and their list llms.txt
    plain_markdown.py        Markdown without the page language, for both kinds of copies
    check.py                 dead links, shared titles, files far too large
    security_policy.py       the Content-Security-Policy, as `_headers`
    serve.py                 `make serve`: finds a free port, starts mkdocs
    host.py                  a static host for tests and `make lighthouse`
    theme/                   what we change of mkdocs-material's templates

Imports: posenc, setup, book, figures, pyodide.
"""
