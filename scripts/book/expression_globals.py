"""The data of the book that expressions on pages can use."""

from scripts.book import (
    configurations,
    configurations_page,
    models,
    models_page,
)

NAMES = {
    "configurations": configurations,
    "configurations_table": configurations_page.rows,
    "models": models,
    "models_table": models_page.rows,
}
