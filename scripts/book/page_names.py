"""What a page may name of the data of the book that is computed with."""

from scripts.book import models, models_page

NAMES = {"models": models, "models_table": models_page.rows}
