"""The proofs of docs/proofs/: read, checked, and tried with changed statements, `make prove`.

    source.py      reads a file of proofs: its statements, by name, and what they use
    listed.py      theorems.toml and mutations.toml, which theorem of the book is proved by which
    checker.py     runs Rocq, or Coq as it was called: checks the files, prints what they assume
    mutations.py   tries changed statements, whose proofs must fail
    record.py      what the checker said last, in docs/data/proofs.json
    install.py     installs the checker, or says how
    summary.py     counts, for pages
    expression_globals.py   the name of these counts in pages
    run.py         all of it, one step after another

`Admitted`, `Axiom`, `Parameter` and the like are refused: what a theorem rests on is a premise with
a name. `make prove RECORD=1` also writes docs/data/proofs.json, which pages show and later runs
compare. Without the checker, the tests notice a file that is not the one that was checked last.

Only the standard library is needed, so that `make prove` works before anything is installed.

Imports nothing from the project.
"""
