"""Small programs whose output pages show.

    extended_to_16384.json  trained_on_4096.json with YaRN, for four times the length
    longer.py               sets a model of transformers to read longer sequences
    planted_faults.py       breaks specimen.md in ten ways; the check must find each
    small_model.py          a model for `python -m posenc diagnose`
    told.py                 a decoder that is told where tokens stand, right and wrong
    trained_on_4096.json    a configuration for `python -m posenc config`
    wrong_rope.py           rotary positions with a mistake, for `python -m posenc vectors`

Imports: posenc, book.
"""
