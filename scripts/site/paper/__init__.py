"""`make pdf`: the book as one PDF and as an EPUB, from the built site.

    __main__.py   builds the site, opens it in a browser, writes both into build/paper/
    articles.js   brings the articles of all pages into one document
    pdf.py        prints that document
    epub.py       packs the articles as an e-book
    check.py      fonts, outline, links and blank pages of the PDF; epubcheck for the EPUB
    paper.css     what differs on paper from a page of the site that is printed
    epub.css      the styles of the e-book

The site offers both for download if they are there when it is built (scripts/site/downloads.py).
"""
