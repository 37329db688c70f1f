"""Train short, test long: every scheme with the same small model, text, data order and steps.

`make measure` trains every run that has no result file in docs/data/measure/ yet, and writes one.
There are eight tasks: `language`, predicting the next byte of a text;
`again` and `renumbered`, reading that text with the same models in other ways; `order`, deciding
which of two letters came first; `retrieval`, finding a letter far back, and `far`, very far back;
`further` and `further_retrieval`, training a model with RoPE further on longer texts. See
`python -m scripts.measure --help`.

    methods.py        the schemes that are compared
    schemes.py        models with further schemes
    longrope.py       the search for LongRoPE's divisors
    corpus.py         the texts
    texts.py          what the texts alone say of the measurement
    language.py       the first task
    reevaluate.py     the second task
    renumbered.py     the third task
    order.py          the fourth task
    retrieval.py      the fifth task
    far.py            the sixth task
    further.py        the last two tasks
    kinds.py          which of them ask a question
    training.py       the training loop, the same for every model
    tasks.py          trains and evaluates one run
    probe.py          whether today's code still computes what the code behind a result did
    result_files.py   docs/data/measure/: one file a run
    summary.py        medians and spreads over the seeds, for pages and figures
    weights.py        `make weights`: the models of seed 0 again, for a page
    weight_files.py   the format of those weights
    resized.py        one of those models with its table made longer, for a page
    shifted_cache.py  one of those models with its cached keys moved, for a page
    expression_globals.py  the names that pages can use

Imports: posenc, setup.
"""
