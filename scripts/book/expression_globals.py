"""The data of the book that expressions on pages can use."""

from scripts.book import (
    configurations,
    configurations_page,
    models,
    models_page,
    reference_map,
)

NAMES = {
    "configurations": configurations,
    "configurations_table": configurations_page.rows,
    "documented_names": reference_map.documented_names,
    "models": models,
    "models_table": models_page.rows,
}
