"""What is wrong with a model: seven questions, each answered by running a copy of it.

A file a question
  order.py        does it see order?                          `sees_order`
  drowned.py      do positions drown the tokens?              `drowned_tokens`
  collisions.py   do two positions collide in this dtype?     `colliding_positions`
  length.py       is a table shorter than the input?          `longest_input`
  layout.py       which layout do its rotary heads have?      `rope_layout`, `trained_layout`
  relative.py     do scores depend on key − query?            `relative_scores`
  unseen.py       were all positions met in training?         `unseen_positions`
All at once
  report.py       the answers about one model                 `diagnose`, `Report`
What these use: each file imports only from those below it
  ask.py          checks the arguments and asks a question
  axes.py         positions on several axes
  cached.py       positions of tokens read one by one
  scores.py       the scores that a model makes
  rotation.py     what a model rotates, and how fast
  parts.py        parts of a model, each run on its own
  indirect.py     order that enters other than by positions alone
  meetings.py     where positions meet tokens
  labels.py       which positions are equal
  recording.py    operations that a model runs, with their arguments
  trial.py        a copy of a model, run on random tokens
  outputs.py      what is read from a model's output
  isolation.py    leaves the model and everything else as it was
  operations.py   watches single operations
  answers.py      one answer, or why there is none            `Diagnosis`

Of the questions, collisions.py uses order.py and length.py, and unseen.py the first three. Imported
from outside are torch, numpy, `posenc.frequencies`, `posenc.rotary.scaling`, `posenc.alibi_slopes`,
`posenc._angles`, `posenc._arguments` and `posenc._tensor_arguments`. Nothing here imports
`posenc.nn`, which offers the functions under its own name.
"""

from posenc.diagnose.answers import Diagnosis
from posenc.diagnose.collisions import colliding_positions
from posenc.diagnose.drowned import drowned_tokens
from posenc.diagnose.layout import rope_layout, trained_layout
from posenc.diagnose.length import longest_input
from posenc.diagnose.order import sees_order
from posenc.diagnose.relative import relative_scores
from posenc.diagnose.report import Report, diagnose
from posenc.diagnose.unseen import unseen_positions

__all__ = [
    "Diagnosis",
    "Report",
    "colliding_positions",
    "diagnose",
    "drowned_tokens",
    "longest_input",
    "relative_scores",
    "rope_layout",
    "sees_order",
    "trained_layout",
    "unseen_positions",
]
