"""How to watch the operations of a running model, and the calls of its parts.

A watcher is a PyTorch dispatch mode: inside `with watcher:` PyTorch passes it every operation,
such as an addition or a look-up in a table, with its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import RemovableHandle

LOOKUPS = ("embedding", "index", "index_select", "gather")  # these read rows of a table


class Watcher:
    """Base class of all watchers, which passes every operation to `see`.

    `__torch_dispatch__` is inherited from here on purpose. Where a mode defines it itself, PyTorch
    wraps it to keep the compiler out, and imports the compiler to do so, which takes longer than a
    diagnosis.
    """

    see: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # a method of each watcher

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return self.see(func, args, kwargs or {})


@cache
def name_of(func: Any) -> str:
    """Return the name of an operation: "add" for aten.add_.Tensor."""
    return str(func.overloadpacket.__name__).rstrip("_")


def flat_arguments(arguments: Iterable[Any]) -> list[Any]:
    """Return the arguments of an operation, with those inside lists and tuples one by one."""
    found: list[Any] = []
    for x in arguments:
        if isinstance(x, list | tuple):
            found += flat_arguments(x)
        else:
            found.append(x)
    return found


def tensors_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """Return all tensors among the arguments of an operation."""
    return [x for x in flat_arguments((*args, *kwargs.values())) if isinstance(x, Tensor)]


class TableReads(Watcher, TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every table that is read with these ids, and the table of a look-up that fails.

    Args:
        ids: the indices to look for, in any shape.
    """

    def __init__(self, ids: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ids = ids
        self.rows: list[int] = []  # of each table that is read
        self.first = 0  # the address of the first one
        self.padding: int | None = None
        self.failed: Tensor | None = None

    def see(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note the table if the operation is a look-up in one, and run the operation."""
        name = name_of(func)
        if name not in LOOKUPS or not args[0].is_floating_point():
            return func(*args, **kwargs)
        if any(self._is_ids(x) for x in flat_arguments(args[1:])):
            self._note(args[0])
            if name == "embedding" and len(args) > 2 and args[2] >= 0:
                self.padding = args[2]
        try:
            return func(*args, **kwargs)
        except Exception:
            self.failed = args[0]
            raise

    def _is_ids(self, x: Any) -> bool:
        if not isinstance(x, Tensor) or x.is_meta or x.numel() != self.ids.numel():
            return False
        return bool((x.flatten().cpu().long() == self.ids.flatten()).all())

    def _note(self, table: Tensor) -> None:
        self.rows.append(table.shape[0])
        self.first = self.first or table.data_ptr()


@contextmanager
def registered_hooks(handles: Iterable[RemovableHandle]) -> Iterator[None]:
    """Register these hooks, and remove them at the end."""
    kept = [*handles]
    try:
        yield
    finally:
        for handle in kept:
            handle.remove()


@contextmanager
def suppressed() -> Iterator[None]:
    """Continue after any error that a model raises inside."""
    try:
        yield
    except Exception:
        return
