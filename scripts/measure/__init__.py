"""Train short, test long: every scheme on the same small model, text, order and steps.

`make measure` trains what has no result file yet and writes one for each run into
docs/data/measure/. Two tasks: `language`, the next byte of a text that every Python carries, and
`order`, which of two letters came first. `python -m scripts.measure --help` has the options.
"""
