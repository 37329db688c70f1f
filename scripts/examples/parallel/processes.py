"""Processes that share one sequence, compared with one process that has all of it.

`python -m scripts.examples.parallel.processes 4` starts 4 processes, which talk to each other over
the loopback interface, and prints how far their output is from that of attention to the whole
sequence.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import time
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.multiprocessing.spawn import start_processes

from posenc.nn import attention, relative_positions
from scripts.examples.parallel.ring import HEADS, SCHEMES, D, Layer
from scripts.examples.parallel.shards import shards

LENGTH = 64
ORDERS = ("contiguous", "zigzag")
# What the scheme is told: the name that the page has for it.
TOLD = {
    "right": "correct",
    "local": "from 0 on each rank",
    "other": "those of the other sharding",
    "shifted": "all 1000 too high",
    "local bias": "correct, but bias for own keys only",
}
SECONDS = 120  # after which all is ended; a run takes a few


def positions_per_rank(way: str, order: str, length: int, ranks: int) -> NDArray[np.int64]:
    """Return the positions that each rank is told for its tokens, `(ranks, length / ranks)`."""
    if way not in TOLD:
        raise ValueError(f"way must be one of {', '.join(map(repr, TOLD))}; got {way!r}")
    right = shards(order, length, ranks)
    if way == "local":
        return np.zeros_like(right) + np.arange(length // ranks)
    if way == "other":
        return shards(ORDERS[1 - ORDERS.index(order)], length, ranks)
    return right + 1000 if way == "shifted" else right


@cache
def errors(ranks: int, length: int = LENGTH) -> dict[str, NDArray[np.float64]]:
    """Return how far the shards are from the whole, relative to its norm, for each scheme.

    For each scheme an array `(orders, ways)`, in the order of `ORDERS` and `TOLD`.
    """
    found = outputs(ranks, length)
    return {
        scheme: np.array(
            [
                [float((found[scheme, order, way] - whole).norm() / whole.norm()) for way in TOLD]
                for order in ORDERS
            ]
        )
        for scheme in SCHEMES
        for whole in [unsharded_output(scheme, length)]
    }


@torch.no_grad()
def unsharded_output(scheme: str, length: int) -> Tensor:
    """Return the output for a sequence in one piece, by the package's attention."""
    x, layer = tokens_and_layer(scheme, length)
    if layer.added is not None:
        x = layer.added(x[None])[0]
    q, k, v = layer.project(x).view(length, 3, HEADS, D).permute(1, 2, 0, 3)
    if layer.rotary is not None:
        q, k = layer.rotary(q[None])[0], layer.rotary(k[None])[0]
    relative = relative_positions(length)
    bias = layer.bias(relative) + torch.zeros(HEADS, length, length, dtype=x.dtype)
    output, _ = attention(q, k, v, bias=bias, mask=relative <= 0)
    return output.transpose(0, 1).reshape(x.shape)


def outputs(
    ranks: int, length: int = LENGTH, seconds: float = SECONDS
) -> dict[tuple[str, str, str], Tensor]:
    """Return what the ranks compute, put together, for each scheme, order and way."""
    with TemporaryDirectory() as folder:
        run_ranks(ranks, (ranks, length, folder), seconds)
        parts = [torch.load(Path(folder) / f"{rank}.pt") for rank in range(ranks)]
    found = {}
    for name in parts[0]:
        index = torch.from_numpy(shards(name[1], length, ranks)).flatten()
        found[name] = torch.cat([part[name] for part in parts])[index.argsort()]
    return found


def run_ranks(ranks: int, arguments: tuple[object, ...], seconds: float) -> None:
    """Run `work` in a process for each rank, and end them all if one fails or time is up.

    The processes are forked by a server that has imported torch once, since importing it takes
    longer than all the rest.
    """
    multiprocessing.set_forkserver_preload(["posenc.nn"])
    running = start_processes(  # type: ignore[no-untyped-call]
        work, arguments, nprocs=ranks, join=False, daemon=True, start_method="forkserver"
    )
    until = time.monotonic() + seconds
    try:
        while not running.join(timeout=max(0.0, until - time.monotonic())):
            if time.monotonic() > until:
                raise TimeoutError(f"{ranks} ranks were not done in time, {seconds} seconds")
    finally:
        for process in running.processes:
            process.kill()
            process.join()


@torch.no_grad()
def work(rank: int, ranks: int, length: int, folder: str) -> None:
    """Compute this rank's part of every case, and save it in a folder that all ranks share."""
    torch.set_num_threads(1)
    names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    os.environ.setdefault("GLOO_SOCKET_IFNAME", names[0])  # the others may reach no one
    meeting = f"file://{Path(folder, 'meeting').as_posix()}"  # no port that could be taken
    limit = timedelta(seconds=SECONDS)
    dist.init_process_group("gloo", meeting, limit, world_size=ranks, rank=rank)
    found = {}
    for scheme in SCHEMES:
        x, layer = tokens_and_layer(scheme, length)
        for order in ORDERS:
            index = torch.from_numpy(shards(order, length, ranks)[rank].copy())
            for way in TOLD:
                positions = torch.from_numpy(
                    positions_per_rank(way, order, length, ranks)[rank].copy()
                )
                found[scheme, order, way] = layer(
                    x[index], index, positions, local_bias=way == "local bias"
                )
    torch.save(found, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


def tokens_and_layer(scheme: str, length: int) -> tuple[Tensor, Layer]:
    """Return tokens and a layer, the same in every process, in float64."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        x = torch.randn(length, HEADS * D, dtype=torch.float64)
        layer = Layer(scheme).double()
        for parameter in layer.parameters():  # large enough that positions matter
            torch.nn.init.normal_(parameter, std=0.25 if parameter.ndim == 2 else 0.0)
        if layer.t5 is not None:
            torch.nn.init.normal_(layer.t5.table)
    return x, layer


def main() -> None:
    """Print the errors for a number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ranks", type=int, choices=(1, 2, 4, 8), help="how many processes")
    ranks = parser.parse_args().ranks
    found = errors(ranks)
    print(f"{'shards':<12}{'positions told':<26}" + "".join(f"{name:>12}" for name in SCHEMES))
    for row, order in enumerate(ORDERS):
        for column, said in enumerate(TOLD.values()):
            cells = "".join(f"{found[name][row, column]:12.2f}" for name in SCHEMES)
            print(f"{order:<12}{said:<26}{cells}")


if __name__ == "__main__":
    main()
