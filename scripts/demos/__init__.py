"""Small programs whose output pages show.

    longer.py             sets a model of transformers to read longer sequences
    planted_faults.py     breaks specimen.md in ten ways; the check must find each
    small_model.py        a model for `python -m posenc diagnose`
    wrong_rope.py         rotary positions with a mistake, for `python -m posenc vectors`

Imports: posenc, book.
"""
