"""The exercises of *Practise*, and what judges an answer.

    exercises/   one file an exercise: statement, starter, hints, solution, checks, wrong answers
    read.py      reads those files
    judge.py     runs the checks on an answer and says what is wrong; runs in the reader's browser

The pages are made by scripts/book/practise_pages.py, the notebook and what the pages fetch by
scripts/site/practise.py.

Imports nothing from the project.
"""
