"""Positional encodings for transformers, exact and readable. This file is the map.

How fast each pair turns      `frequencies`, `wavelengths`            posenc/frequencies.py
The sinusoidal encoding       `sinusoidal_encoding`, `shift_matrix`,  posenc/sinusoidal.py
                              `similarity`, `PositionalEncoding`

Conventions, everywhere: pair `i` owns dimensions 2i and 2i+1, i = 0 … d/2−1; its frequency is
base^(−2i/d), base 10000 unless said; positions are integers or reals of any shape; angles are
float64 and only results are cast. `python -m posenc` shows the encoding at work.
"""

from posenc.frequencies import frequencies, wavelengths
from posenc.sinusoidal import (
    PositionalEncoding,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
)

__version__ = "0.1.0"

__all__ = [
    "PositionalEncoding",
    "frequencies",
    "shift_matrix",
    "similarity",
    "sinusoidal_encoding",
    "wavelengths",
]
