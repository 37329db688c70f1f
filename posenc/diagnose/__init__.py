"""What is wrong with this model? Five questions, each answered by running it, not by its names.

    Does it see order?                       `sees_order`
    Do positions drown the tokens?           `drowned_tokens`
    Do two positions collide in this dtype?  `colliding_positions`
    Is a table shorter than the input?       `longest_input`
    Which layout do its rotary heads have?   `rope_layout`, and `trained_layout` of weights alone

`diagnose` asks all five. Each answer is a `Diagnosis`, to be read or to be asserted on. A model is
run on a copy, in evaluation mode and without gradients, so that its mode, its weights, buffers and
caches, and all generators of random numbers are afterwards as they were. But hooks run with it, and
what they write elsewhere stays written. All threads share the generators: if other threads run,
those of NumPy and Python that a model draws from are left as they are, and where it draws from one
of PyTorch's, what other threads draw meanwhile is put back with it. The copy is widened to float64
for most questions: it takes as much memory as the model's weights twice if they are float32, four
times if they are narrower, and what its outputs need.
"""

# A file a question                                  What these use, each only files further down
#   order.py       sees_order                          ask.py         checks arguments, asks
#   drowned.py     drowned_tokens                      parts.py       parts run on their own
#   collisions.py  colliding_positions                 meetings.py    where positions meet tokens
#   length.py      longest_input                       indirect.py    other ways for order to enter
#   layout.py      rope_layout, trained_layout         labels.py      which positions are equal
# All five                                             recording.py   operations and their arguments
#   report.py      diagnose, Report                    trial.py       a copy, run on random tokens
#                                                      outputs.py     what a model returns
#                                                      isolation.py   leaves everything as it was
#                                                      operations.py  watches single operations
#                                                      answers.py     Diagnosis, and no answer
#
# It imports torch, numpy and `posenc`, and never `posenc.nn`, which imports it.

from posenc.diagnose.answers import Diagnosis
from posenc.diagnose.collisions import colliding_positions
from posenc.diagnose.drowned import drowned_tokens
from posenc.diagnose.layout import rope_layout, trained_layout
from posenc.diagnose.length import longest_input
from posenc.diagnose.order import sees_order
from posenc.diagnose.report import Report, diagnose

__all__ = [
    "Diagnosis",
    "Report",
    "colliding_positions",
    "diagnose",
    "drowned_tokens",
    "longest_input",
    "rope_layout",
    "sees_order",
    "trained_layout",
]
