"""The data of the book that expressions on pages can use."""

from scripts.book import models, models_page

NAMES = {"models": models, "models_table": models_page.rows}
