"""Programs that pages show.

    museum/                 bugs of real projects, made again by small programs
    parallel/               one sequence shared by several processes
    explicit_mrope.py       attention with a position on each of three axes, right and wrong ones
    explicit_positions.py   a decoder that takes the positions of its tokens, right and wrong ones
    extended_to_16384.json  trained_on_4096.json with YaRN, for four times the length
    longer.py               sets a model of transformers to read longer sequences
    planted_faults.py       breaks specimen.md in ten ways; the check must find each
    small_model.py          a model for `python -m posenc diagnose`
    trained_on_4096.json    a configuration for `python -m posenc config`
    wrong_rope.py           rotary positions with a mistake, for `python -m posenc vectors`

Imports: posenc, book.
"""
