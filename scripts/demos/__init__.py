"""Small programs whose output pages show.

    planted_faults.py     breaks specimen.md in ten ways; the check must find each
    small_model.py        a model for `python -m posenc diagnose`

Imports: posenc, book.
"""
