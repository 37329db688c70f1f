"""`make bench`: how fast, as ratios to a floor that is measured in the same run.

    measure.py      paired rounds: a case and its floor take turns; medians of ratios
    table.py        the sinusoidal table                  against filling an array
    rotary.py       rotary positions                      against copying queries and keys
    bias.py         biases, and attention with them       against filling a matrix, and without
    importing.py    `import posenc`                       against `import numpy`
    slices.py       `apply_rope`, a step of `turn`        against plain slices, printed only
    report.py       docs/data/bench.json, and the tables of docs/how-to/how-fast.md

No time is the same on two machines, or twice on one. So each number is a ratio: of what is
measured to its floor, the least that memory allows, such as a copy of the same tensor. What a
peer that is not installed would take is left out, and the report says so.

Imports: posenc, setup, book.
"""
