"""Pages are tests: pytest hands every Markdown page to the book's checker."""

from scripts.book.check import sybil

pytest_collect_file = sybil().pytest()
