"""`make lighthouse`: how many bytes the site sends, and how Lighthouse scores it.

    weigh.py      bytes over the wire by kind, after opening a page and after scrolling to its end
    audit.py      runs Lighthouse, emulating a phone on a slow connection
    first_run.py  the time from the first click on Run to its result
    report.py     docs/data/lighthouse.json, and the tables of docs/trust/how-built.md

The site is built first and served like on a static host (scripts/site/host.py). Byte counts are the
same on every machine. Performance scores are not, so each is a median, and no test requires one.
"""
