"""Train short, test long: every scheme on the same small model, text, order and steps.

`make measure` trains what has no result file yet and writes one for each run into
docs/data/measure/. Two tasks: `language`, the next byte of a text that every Python carries, and
`order`, which of two letters came first. `python -m scripts.measure --help` has the options.

    methods.py        what is compared
    corpus.py         the text
    language.py       the first task
    order.py          the second
    training.py       how every model is trained
    tasks.py          trains and evaluates one run
    probe.py          whether today's code still does what the code behind a result did
    results.py        the result files
    report.py         medians and spreads over the seeds, for pages and figures
    page_names.py     what pages may name of them

Imports: posenc, setup.
"""
