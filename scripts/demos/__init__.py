"""Small programs that pages show at work.

    planted_faults.py     breaks specimen.md in ten ways; each has to be noticed
    small_model.py        a model for `python -m posenc diagnose`

Imports: posenc, book.
"""
