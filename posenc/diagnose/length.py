"""Is a table shorter than the input? `longest_input` feeds longer and longer sequences."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from posenc._arguments import as_integer
from posenc.diagnose.answers import (
    HEALTHY,
    ILL,
    CannotTellError,
    Diagnosis,
    ForwardError,
    answer,
    short,
)
from posenc.diagnose.ask import ask
from posenc.diagnose.operations import TableReads, suppressed
from posenc.diagnose.trial import Example, Trial, tokens_in_words

LONGEST = 1024  # how many tokens are tried if the caller names no length
SPECIAL = 2  # some tables have as many rows more than positions, for padding
LONGER_TABLE = (
    "a longer table (LearnedPositionalEmbedding.resized), shorter sequences, or a formula."
)


def longest_input(
    model: nn.Module,
    example: Example = None,
    *,
    length: int | None = None,
    axis: int | None = None,
) -> Diagnosis:
    """Return how many tokens the model reads before its forward fails, and which table ends there.

    It is run on longer and longer sequences, on the CPU, where an index beyond a table is an error
    like any other. The table is the one whose reading fails, or, where the model complains before
    it reads, one of as many rows that does not hold the tokens. A table whose index wraps around or
    is clamped does not fail: `colliding_positions` sees that.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        length: how many tokens it has to read; None to find out, up to 1024.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "it reads … tokens"; "it ends at … tokens", healthy where no
        length is asked for; "it ends at … tokens, and … are asked for", ill. Measured: `longest`,
        a length that it reads, and `length`, what was tried.

    Raises:
        TypeError: see `diagnose`; `length` is not an integer.
        ValueError: see `diagnose`; `length` is below 1.

    Source:
        Our own; that a table of rows ends is the price of learned positions.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(vocab_size=50, max_len=20, d_model=16, heads=2, layers=1)
        >>> nn.longest_input(model).measured["longest"]
        20
    """
    length = None if length is None else as_integer("length", length, least=1)
    judge = partial(_judge_length, asked=length)
    question = "Is a table shorter than the input?"
    return ask(question, judge, model, example, exact=False, cpu=True, axis=axis)


def _judge_length(trial: Trial, *, asked: int | None) -> Diagnosis:
    aim = asked or LONGEST
    longest, failed = longest_read(trial, aim)
    numbers: dict[str, float] = {"longest": longest, "length": aim}
    if failed is None:
        why = f"A sequence of {tokens_in_words(aim)} was read."
        return answer(HEALTHY, f"it reads {tokens_in_words(aim)}", why, numbers)
    _demand_any_length(trial, longest, aim)
    read = tokens_in_words(longest)
    why = f"A sequence of {read} was read; with one more it fails: {short(failed)}."
    why += f" {_table_that_ends(trial, longest) or 'No table of that many rows was found'}."
    if asked is None:
        return answer(HEALTHY, f"it ends at {tokens_in_words(longest)}", why, numbers)
    verdict = f"it ends at {tokens_in_words(longest)}, and {asked} are asked for"
    return answer(ILL, verdict, why, numbers, LONGER_TABLE)


def longest_read(trial: Trial, aim: int) -> tuple[int, BaseException | None]:
    """Return the longest length up to `aim` that the model reads, and its error at one more.

    The error is None if it reads `aim` tokens.
    """
    failed = _error_at(trial, aim)
    if failed is None:
        return aim, None
    reads, fails = (trial.length, aim) if trial.length < aim else (0, aim)
    while fails - reads > 1:
        middle = (reads + fails) // 2
        error = _error_at(trial, middle)
        reads, fails = (middle, fails) if error is None else (reads, middle)
        failed = error or failed
    return reads, failed


def _error_at(trial: Trial, length: int) -> BaseException | None:
    """Return the error that the model raises at this length, or None."""
    try:
        trial.call(trial.tokens(1, length))
    except ForwardError as error:
        out_of_memory = isinstance(error.__cause__, MemoryError | torch.OutOfMemoryError)
        if out_of_memory or "DefaultCPUAllocator" in str(error):
            raise CannotTellError(
                f"a sequence of {length} tokens takes more memory than there is"
            ) from error
        return error.__cause__
    return None


def _demand_any_length(trial: Trial, longest: int, aim: int) -> None:
    """Raise if something other than a table limits the length."""
    bound = trial.bound()
    if bound and longest <= trial.length:
        raise CannotTellError(
            f"{bound} has {trial.length} columns, as the example has, and other lengths"
            f" fail: give an example of length {aim}"
        )
    for size in (2, 4, 8, 16, 32, 64, 128):
        longer = (longest // size + 1) * size
        if longer > longest + 1 and _error_at(trial, longer) is None:
            raise CannotTellError(
                f"it reads {tokens_in_words(longest)} and {longer}, but not {longest + 1}: so not"
                " every length, whatever its tables"
            )


def _table_that_ends(trial: Trial, longest: int) -> str:
    """Return in words which table ends at this length, or "" if none is found.

    It is the table whose reading fails, or else one of as many rows that holds no tokens.
    """
    tokens = trial.tokens(1, longest + 1)
    with TableReads(tokens) as reads, suppressed():
        trial.call(tokens)
    tables = [*trial.model.named_parameters(), *trial.model.named_buffers()]
    if reads.failed is not None:
        address = reads.failed.data_ptr()
        names = [name for name, x in tables if x.data_ptr() == address]
        return f"{names[0] if names else 'A table'} has {len(reads.failed)} rows"
    named = [
        f"{name} has {rows} rows"
        for name, x in tables
        if x.data_ptr() != trial.token_table
        for rows in x.shape[:-1]
        if 0 <= rows - longest <= SPECIAL
    ]
    return named[0] if named else ""
