"""The names of this room that pages can use."""

from scripts.matrix import pages, record

NAMES = {"matrix": record, "matrix_of": pages.named_library_rows, "matrix_table": pages.rows}
