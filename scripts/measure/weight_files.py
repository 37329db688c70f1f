"""The format of the weights that a page fetches: about a byte for each parameter.

    bytes 0 – 3     the letters "PEWT"
    bytes 4 – 7     the version of the format, 1
    bytes 8 – 11    the length of the description
    bytes 12 – 15   the CRC-32 of all bytes that follow
    then            the description, JSON in UTF-8, with spaces up to a multiple of 4
    then            the tensors in the order of the description, each up to a multiple of 4

All integers and reals are little-endian, four bytes each. A vector is stored as float32. A matrix
is stored as one float32 per row, its scale, followed by the entries, a signed byte each: a weight
is its entry times the scale of its row. The description names each tensor as PyTorch does, with its
shape.

`docs/assets/js/watch/weights.js` reads the same format.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAGIC = b"PEWT"
VERSION = 1
HEAD = struct.Struct("<4sIII")
MOST = 127  # the largest entry of a matrix


class WeightsError(Exception):
    """Bytes that are not a file of weights; the message says why."""


def packed_file(about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> bytes:
    """Return a file with a description and tensors, vectors or matrices.

    Raises:
        ValueError: A tensor is neither a vector nor a matrix.
    """
    shapes = [[name, list(tensor.shape)] for name, tensor in tensors.items()]
    words = json.dumps({**about, "tensors": shapes}, separators=(",", ":"))
    description = _padded_to_word(words.encode(), b" ")
    payload = description + b"".join(
        _padded_to_word(_tensor_bytes(name, x)) for name, x in tensors.items()
    )
    return HEAD.pack(MAGIC, VERSION, len(description), zlib.crc32(payload)) + payload


def unpacked_file(file: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the description and the tensors of a file, as float32.

    Raises:
        WeightsError: The file is damaged or has another format.
    """
    if len(file) < HEAD.size or file[:4] != MAGIC:
        raise WeightsError("this is not a file of weights")
    _, version, length, checksum = HEAD.unpack_from(file)
    if version != VERSION:
        raise WeightsError(f"the weights have version {version} of the format, not {VERSION}")
    payload = file[HEAD.size :]
    if zlib.crc32(payload) != checksum:
        raise WeightsError("the weights are damaged or incomplete")
    about = json.loads(payload[:length])
    return about, dict(_tensors(about["tensors"], payload[length:]))


def rounded(tensor: Tensor) -> Tensor:
    """Return a tensor as a file would give it back."""
    _, tensors = unpacked_file(packed_file({}, {"x": tensor}))
    return tensors["x"]


def _tensor_bytes(name: str, tensor: Tensor) -> bytes:
    """Return the bytes of a vector or a matrix."""
    x = tensor.detach().cpu().numpy().astype(np.float32)
    if x.ndim == 1:
        return x.astype("<f4").tobytes()
    if x.ndim != 2:
        raise ValueError(f"{name} must be a vector or a matrix; got shape {x.shape}")
    scales = np.maximum(np.abs(x).max(axis=1), np.finfo(np.float32).tiny * MOST) / MOST
    entries = np.rint(x / scales[:, None]).astype(np.int8)
    return bytes(scales.astype("<f4").tobytes() + entries.tobytes())


def _tensors(shapes: list[tuple[str, list[int]]], data: bytes) -> Iterator[tuple[str, Tensor]]:
    """Yield the name and the content of each tensor."""
    place = 0
    for name, shape in shapes:
        x, size = _read(shape, data[place:])
        place += size + -size % 4
        yield name, torch.from_numpy(x)


def _read(shape: list[int], data: bytes) -> tuple[NDArray[np.float32], int]:
    """Return the tensor at the beginning of some data, and how many bytes it takes."""
    rows = np.frombuffer(data, "<f4", count=shape[0]).astype(np.float32)
    if len(shape) == 1:
        return rows, 4 * shape[0]
    count = shape[0] * shape[1]
    entries = np.frombuffer(data, np.int8, count=count, offset=4 * shape[0]).reshape(shape)
    return entries * rows[:, None], 4 * shape[0] + count


def _padded_to_word(data: bytes, by: bytes = b"\0") -> bytes:
    """Return data up to a multiple of four bytes."""
    return data.ljust(len(data) + -len(data) % 4, by)
