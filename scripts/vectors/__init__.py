"""The vectors: cases that any implementation of positions can be tested against.

    exact.py           numbers of 50 digits, and how they are rounded
    cases.py           cases and suites, as the files have them
    frequencies.py     suite frequencies: the rules, and how they are often wrong
    configurations.py  suite config
    rotation.py        suites rotation and scores
    axes.py            suites rotation_2d and mrope
    sinusoidal.py      suite sinusoidal
    biases.py          suites alibi, alibi_bias, t5 and deberta
    images.py          suites mrope_positions and resize_grid
    indices.py         suites swin, swin_rectangle and shaw
    places.py          suites positions and resize
    sequences.py       suite sequences: calls on one object
    inputs.py          what a case of each suite gives, and why inputs are nonsense
    released.py        the cases that may no longer change
    schema.py          the JSON Schema of a file

`python -m scripts.vectors` (`make vectors`) writes docs/vectors/. The files are published, so
within a version cases may be added but not changed; one that is wrong is withdrawn, by
`Suite.withdraw`. A known bug is the wrong way to compute an answer, in its suite's table of bugs.
Nothing here uses the package: what both compute, they compute independently.

Imports nothing from the project.
"""
