"""torchtune answers the test vectors.

The package imports a module that newer releases of torchao do not have. Its files of positions need
torch alone, so they are loaded by their paths.
"""

from __future__ import annotations

import importlib.util
from importlib.metadata import distribution

import torch
from lines import CountedByCaller, Unsupported, answer_lines, library, objects

ROWS = 131072  # of the largest table that is made


def loaded(path):
    """Return a file of torchtune as a module."""
    file = distribution("torchtune").locate_file(f"torchtune/{path}")
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").removesuffix(".py"), file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Llama = loaded("modules/position_embeddings.py").RotaryPositionalEmbeddings
Vision = loaded("modules/position_embeddings.py").VisionRotaryPositionalEmbeddings
Llama3 = loaded("models/llama3_1/_position_embeddings.py").Llama3ScaledRoPE
Qwen2 = loaded("models/qwen2/_positional_embeddings.py").Qwen2RotaryPositionalEmbeddings
Phi3 = loaded("models/phi3/_position_embeddings.py").Phi3RotaryPositionalEmbeddings


def places_of(positions):
    """Return positions as indices into a table."""
    places = torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("positions that are not integers")
    if places.numel() and (places.min() < 0 or places.max() >= ROWS):
        raise Unsupported(f"positions outside of a table of {ROWS} rows")
    return places


def rotate(embedding, x, places):
    """Return vectors rotated at places; the library's order is batch, tokens, heads, width."""
    vectors = torch.tensor(x, dtype=torch.float32)
    four = vectors.reshape((1,) * (4 - vectors.ndim) + vectors.shape)
    if vectors.ndim == 3:  # a batch, not heads
        four = four.transpose(0, 1)
    batch = places if places.ndim == 2 else places.expand(four.shape[0], -1)
    with library():
        rotated = embedding(four.transpose(1, 2), input_pos=batch).transpose(1, 2)
        return (rotated.transpose(0, 1) if vectors.ndim == 3 else rotated).reshape(vectors.shape)


def rotating(made_by, offered):
    """Return what answers with a class of rotary embeddings."""

    def made(d, base, layout, rows):
        if layout != offered:
            known = layout in ("half", "interleaved")
            raise Unsupported(f"layout {layout}" if known else "a choice of layouts")
        with library():
            return made_by(d, max_seq_len=rows, base=base)

    def rotation(x, positions, layout, base=None, rotary_d=None, frequencies=None):
        if rotary_d is not None or frequencies is not None:
            raise Unsupported("partial rotation" if rotary_d else "given frequencies")
        places = places_of(positions)
        embedding = made(torch.tensor(x).shape[-1], base, layout, int(places.max()) + 1)
        return rotate(embedding, x, places)

    def scores(query, key, query_positions, key_positions, layout, base):
        queries = rotation(query, query_positions, layout, base)
        keys = rotation(key, key_positions, layout, base)
        with library():
            return queries @ keys.T

    def frequencies(rule, d, base=10000, **given):
        if rule != "default":
            raise Unsupported(f"rule {rule}")
        with library():
            return {"frequencies": made_by(d, base=base).theta, "attention_factor": 1}

    class Rotary(CountedByCaller):
        def __init__(self, d, base, layout=None, rule=None, **given):
            if rule is not None:
                raise Unsupported(f"rule {rule}")
            self.embedding = made(d, base, layout, 4096)

        def rotate(self, x, positions):
            places = places_of(positions)
            if places.max() >= 4096:
                raise Unsupported("positions beyond the table")
            return rotate(self.embedding, x, places)

        def cast(self, dtype):
            with library():
                self.embedding.to(getattr(torch, dtype)).to(torch.float32)

    return {
        "frequencies": frequencies,
        "rotation": rotation,
        "scores": scores,
        "sequences": objects(Rotary),
    }


def llama3(rule, d, base=10000, factor=None, trained_length=None, low=1, high=4, **given):
    """Return the frequencies of `Llama3ScaledRoPE`."""
    if rule != "llama3":
        raise Unsupported(f"rule {rule}")
    with library():
        embedding = Llama3(
            d,
            base=base,
            scale_factor=factor,
            low_freq_factor=low,
            high_freq_factor=high,
            old_context_len=trained_length,
        )
        return {"frequencies": embedding.theta, "attention_factor": 1}


def vision(x, positions, first, layout, base):
    """Return patches rotated by `VisionRotaryPositionalEmbeddings`, which counts from 1.

    It rotates the patches of a whole square, by their columns first, so those asked about are put
    into one. Positions below 1 do not occur in it.
    """
    if (first, layout) != ("column", "interleaved"):
        raise Unsupported(f"{first} first, layout {layout}")
    vectors, places = torch.tensor(x, dtype=torch.float32), places_of(positions)
    if places.numel() and places.min() < 1:
        raise Unsupported("rows and columns below 1")
    side = int(places.max())
    if side > 256:
        raise Unsupported("a square of more than 256 rows")
    index = (places[:, 0] - 1) * side + places[:, 1] - 1
    with library():
        embedding = Vision(1, side, 1, vectors.shape[-1] // 2, base=base)
        patches = torch.zeros(1, side * side + 1, 1, vectors.shape[-1])
        patches[0, index, 0] = vectors
        return embedding(patches)[0, index, 0]


if __name__ == "__main__":
    answer_lines(
        ways={
            "Llama": rotating(Llama, "interleaved"),
            "Llama 3.1": {"frequencies": llama3},
            "Qwen2": rotating(Qwen2, "half"),
            "Phi-3": rotating(Phi3, "half"),
            "vision": {"rotation_2d": vision},
        }
    )
