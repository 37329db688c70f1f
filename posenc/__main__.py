"""`python -m posenc`: four positions, eight dimensions, and how alike positions are."""

import numpy as np

from posenc import PositionalEncoding, similarity


def main() -> None:
    """Print the worked example of chapter 1 and the similarities of its last section."""
    rows = PositionalEncoding(max_sequence_length=4, embedding_dimension=8).get_encoding(4)
    print("Sinusoidal encoding, 4 positions, 8 dimensions")
    print(np.array2string(rows, formatter={"float_kind": "{:6.3f}".format}))
    print(f"every entry between {rows.min():.3f} and {rows.max():.3f}")
    print(f"every row of length {np.linalg.norm(rows, axis=1).max():.3f}")
    print()
    print("Similarity of two positions, 128 dimensions")
    for lag in (1, 5, 9):
        print(f"{lag} apart: {similarity(lag, 128):.3f}")


if __name__ == "__main__":
    main()
