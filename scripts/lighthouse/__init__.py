"""`make lighthouse`: what the site weighs for its reader, and how Lighthouse scores it.

    weigh.py      the bytes that a page sends, by kind, when it is opened and when it has been read
    audit.py      one run of Lighthouse, as a phone on a slow line
    first.py      from the first Run to its result
    report.py     docs/data/lighthouse.json, and the tables of docs/trust/how-built.md

The site is built first, and served as a static host would (scripts/site/host.py). Bytes are the
same on every machine. A performance score is not, so it is a median, and no test demands one.

Imports: setup, book, pyodide, site.
"""
