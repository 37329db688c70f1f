"""The data of the book that expressions on pages can use."""

from scripts.book import (
    configurations,
    configurations_page,
    matrix,
    matrix_page,
    models,
    models_page,
)

NAMES = {
    "configurations": configurations,
    "configurations_table": configurations_page.rows,
    "matrix": matrix,
    "matrix_of": matrix_page.of_name,
    "matrix_table": matrix_page.rows,
    "models": models,
    "models_table": models_page.rows,
}
