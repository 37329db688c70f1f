"""`make bench`: running times as ratios to a floor measured in the same run.

    measure.py      alternates a case and its floor; medians of ratios
    table.py        the sinusoidal table                  against filling an array
    rotary.py       rotary positions                      against copying queries and keys
    bias.py         biases                                against filling a matrix
                    attention with a bias                 against attention without
    importing.py    `import posenc`                       against `import numpy`
    slices.py       `apply_rope`, a decoding step         against plain slicing, printed only
    report.py       docs/data/bench.json, and the tables of docs/how-to/how-fast.md

Absolute times differ between machines and from run to run. So each result is a ratio to a floor,
the least time that memory allows, such as copying the same tensor. Libraries that are not installed
are skipped and reported.

Imports: posenc, setup, book.
"""
