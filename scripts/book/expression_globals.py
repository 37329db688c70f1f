"""The data of the book that expressions on pages can use."""

from scripts.book import (
    configurations,
    models,
    models_page,
    reference_map,
)

NAMES = {
    "configurations": configurations,
    "documented_names": reference_map.documented_names,
    "models": models,
    "models_page": models_page,
    "models_table": models_page.rows,
}
