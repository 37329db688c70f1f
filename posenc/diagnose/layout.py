"""Which layout do its rotary heads have? `rope_layout` watches what the code rotates, and
`trained_layout` looks at weights alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from posenc._arguments import _shown, as_integer
from posenc._tensor_arguments import ACTIVATIONS, check_range
from posenc.diagnose.answers import (
    ABSENT,
    HEALTHY,
    ILL,
    UNDETERMINED,
    CannotTellError,
    Diagnosis,
    answer,
)
from posenc.diagnose.ask import ask
from posenc.diagnose.isolation import undisturbed
from posenc.diagnose.operations import registered_hooks
from posenc.diagnose.rotation import PAIRS, Rotated, find_rotated, pairs, pairs_in_words
from posenc.diagnose.trial import Example, Trial

# By chance the pairs of random weights are so much alike once in three million.
DEVIATIONS = 5
CONVERT = "convert the projections of queries and keys: posenc.convert_projection."


def rope_layout(model: nn.Module, example: Example = None, *, axis: int | None = None) -> Diagnosis:
    """Return which dimensions the model rotates together, and whether its weights agree.

    On a sequence of one token repeated a query is the same everywhere except for its rotation. The
    pairs are those dimensions whose length together stays the same at every position; only one
    pairing has that property. That is the layout that the *code* applies.

    The layout that the weights were trained with cannot be read from the code. Where the
    projections can be found in the model, `trained_layout` is asked about them; its answer may be
    that they do not show it either. The answer says which pairs rotate, and whether they lie across
    the head or within the part of it that rotates: with proportional frequencies, slow pairs across
    the head stand still. A length that also falls with the position, as in xPos, is not
    reported; where one factor does both, the answer is undetermined.

    Args:
        model: see `diagnose`.
        example: see `diagnose`.
        axis: see `diagnose`.

    Returns:
        A `Diagnosis`. Verdicts: "interleaved"; "half"; "one pair, the same in either layout";
        "interleaved weights, reordered to rotate half" or the reverse, where the model reorders
        heads between projection and rotation; "the code uses the layout …, the weights were
        trained with …", ill; "nothing is rotated", absent.
        Measured: `rotary_d`, how many dimensions of a head rotate, `d`, of how many, `partner`, how
        many dimensions apart the two of a pair are, and what `trained_layout` measures. Where
        layers have heads of several kinds, those of the widest.

    Raises:
        TypeError: see `diagnose`.
        ValueError: see `diagnose`.

    Source:
        Su et al., "RoFormer" (2021), section 3.4.2, for the rotation.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(50, 20, 16, heads=2, layers=1, pos_type="rope")
        >>> nn.rope_layout(model).verdict
        'interleaved'
    """
    return ask("Which layout do its rotary heads have?", _judge_layout, model, example, axis=axis)


def trained_layout(weight: Tensor, *, heads: int) -> Diagnosis:
    """Return what the weights of a query or key projection say about the layout of their training.

    Nothing in the training of a rotary model prefers one dimension of a pair to the other, but
    much prefers one frequency to another. So after training the two rows of a pair have about the
    same length, and those of different pairs do not. Each pairing is compared with random ones,
    and has to be more alike than they are by five standard deviations. If the halves are, the
    layout is half: neighbours are then alike as well, since their frequencies are. If only
    neighbours are, and twice as much as the halves, it is interleaved. Weights that were never
    trained have no such pattern, and some that were trained have none either: then the answer is
    that it cannot tell. But rows whose length changes along the head for another reason look like
    either layout, rotated or not.

    Args:
        weight: (heads·d, d_model), the projection of queries, or of keys, as `nn.Linear` has it;
            where only the first dimensions of a head rotate, give the rows of those.
        heads: how many heads there are; of keys, where they are grouped.

    Returns:
        A `Diagnosis`. Verdicts: "interleaved", "half", "cannot tell". Measured: `interleaved` and
        `half`, by how many standard deviations the rows of a pair are more alike than those of
        random pairs, and `apart`, how many times less alike they are if half than if interleaved.

    Raises:
        TypeError: `weight` is not a floating tensor, `heads` not an integer.
        ValueError: `weight` is not of two axes, finite, with a multiple of 2·`heads` rows.

    Source:
        Our own; the two layouts are those of `posenc.convert_layout`.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> nn.trained_layout(torch.randn(64, 32), heads=2).verdict
        'cannot tell'
    """
    heads = as_integer("heads", heads, least=1)
    with undisturbed():
        return _judge_rows(_as_projection(weight, heads))


# What the code rotates


def _judge_layout(trial: Trial) -> Diagnosis:
    trial.demand_three_tokens()
    tokens = trial.repeated(trial.length)
    rotated = find_rotated(trial, tokens)
    if not rotated:
        why = "No query or key is rotated from position to position without changing its length."
        return answer(ABSENT, "nothing is rotated", why)
    if len({one.layout for one in rotated}) > 1:
        raise CannotTellError("parts of the model rotate in one layout, and parts in the other")
    widest = max(rotated, key=lambda one: one.heads.shape[-1])
    if widest.rotary_d == 2:
        numbers: dict[str, float] = {"rotary_d": 2, "d": widest.heads.shape[-1]}
        why = f"Only the first 2 of {widest.heads.shape[-1]} dimensions of a head rotate."
        return answer(HEALTHY, "one pair, the same in either layout", why, numbers)
    rows, reordered = _projections(trial, tokens, rotated), False
    if rows is None:
        rows, reordered = (
            _projections(trial, tokens, [_in_other_layout(one) for one in rotated]),
            True,
        )
    found = _compare_with_weights(widest, rows, reordered=reordered)
    kinds = dict.fromkeys(
        _in_words(one) for one in rotated if not any(_is_part(one, other) for other in rotated)
    )
    more = [kind for kind in kinds if kind != _in_words(widest)]
    return replace(found, why=" ".join([found.why, *(f"In other layers {one}" for one in more)]))


def _is_part(one: Rotated, other: Rotated) -> bool:
    """Say whether one are the heads of the other without dimensions that stand still."""
    (count, d), (others, wider) = one.heads.shape, other.heads.shape
    return count == others and d < wider and torch.allclose(one.heads, other.heads[:, :d])


def _in_words(rotated: Rotated) -> str:
    """Return in a sentence which dimensions of a head rotate, and which together."""
    d, paired = rotated.heads.shape[-1], rotated.rotary_d // 2
    turning, layout = rotated.turning, rotated.layout
    if 2 * paired == d == 2 * len(turning):
        return f"{d} of {d} dimensions of a head rotate, {PAIRS[layout]} together."
    where = "dimensions 2i and 2i + 1"
    if layout == "half":
        across = "across the head" if 2 * paired == d else "within the part that rotates"
        where = f"dimensions i and i + {paired}, {across}"
    still = d // 2 - len(turning)
    return (
        f"{2 * len(turning)} of {d} dimensions of a head rotate: {pairs_in_words(turning)},"
        f" {where}; {still} pairs stand still."
    )


def _compare_with_weights(rotated: Rotated, rows: Tensor | None, *, reordered: bool) -> Diagnosis:
    """Return the answer, given the rows of weights that made what is rotated, if they were found.

    `reordered` says that the model puts these rows in the order of the other layout.
    """
    layout, why = rotated.layout, _in_words(rotated)
    numbers: dict[str, float] = {
        "rotary_d": 2 * len(rotated.turning),
        "d": rotated.heads.shape[-1],
        "partner": rotated.rotary_d // 2 if layout == "half" else 1,
    }
    if rows is None:
        return answer(HEALTHY, layout, f"{why} No projection was found to compare.", numbers)
    verdict = layout
    if reordered:
        layout = _other_layout(layout)
        verdict = f"{layout} weights, reordered to rotate {verdict}"
        why += f" Before that they are reordered: the rows of the weights are {layout}."
    trained = _judge_rows(rows)
    numbers |= trained.measured
    if trained.verdict in PAIRS and trained.verdict != layout:
        verdict = (
            f"the code uses the layout {layout}, the weights were trained with {trained.verdict}"
        )
        return answer(ILL, verdict, f"{why} {trained.why}", numbers, CONVERT)
    said = "do not show their layout" if trained.status == UNDETERMINED else "agree"
    return answer(HEALTHY, verdict, f"{why} The projections' weights {said}.", numbers)


def _other_layout(layout: str) -> str:
    """Return the other layout."""
    return next(other for other in PAIRS if other != layout)


def _in_other_layout(rotated: Rotated) -> Rotated:
    """Return the same heads with their dimensions in the order of the other layout."""
    dimensions = rotated.heads[:, : rotated.rotary_d]
    paired = torch.stack(pairs(dimensions, rotated.layout), dim=-1)
    if rotated.layout == "interleaved":
        paired = paired.mT
    heads = torch.cat([paired.flatten(1), rotated.heads[:, rotated.rotary_d :]], dim=1)
    return rotated._replace(heads=heads)


# What the weights say


def _projections(trial: Trial, tokens: Tensor, rotated: list[Rotated]) -> Tensor | None:
    """Return the rows of weights, (heads, rotary_d, d_model), that made what is rotated."""
    found: dict[tuple[int, int], Tensor] = {}
    for weight, output in _linear_outputs(trial, tokens):
        for one in rotated:
            width = one.heads.shape[1]
            if weight.shape[0] < width:
                continue
            windows = output.unfold(0, width, 1)
            for head in one.heads:
                far = (windows - head).abs().amax(dim=1)
                start = int(far.argmin())
                if far[start] <= 1e-5 * head.abs().max() and head.any():
                    rows = weight[start : start + one.rotary_d]
                    found[weight.data_ptr(), start] = rows.cpu().double()
    widest = max((rows.shape for rows in found.values()), default=None)
    if widest is None:
        return None
    return torch.stack([rows for rows in found.values() if rows.shape == widest])


def _linear_outputs(trial: Trial, tokens: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return each matrix of weights, (out, in), and its output for the first token, (out,)."""
    seen: list[tuple[Tensor, Tensor]] = []

    def keep(part: nn.Module, given: Any, output: Any) -> None:
        weight = getattr(part, "weight", None)
        if not isinstance(weight, Tensor) or not isinstance(output, Tensor):
            return
        if weight.ndim == 2 and output.ndim == 3 and output.shape[2] == len(weight):
            seen.append((weight, output[0, 0].cpu().double()))

    with registered_hooks(part.register_forward_hook(keep) for part in trial.model.modules()):
        trial.call(tokens)
    return seen


def _as_projection(weight: object, heads: int) -> Tensor:
    """Return a weight as (heads, d, d_model)."""
    allowed = "a floating tensor (heads·d, d_model)"
    if not isinstance(weight, Tensor) or weight.dtype not in ACTIVATIONS:
        raise TypeError(f"weight must be {allowed}; got {_shown(weight)}")
    if weight.layout is not torch.strided:
        raise TypeError(f"weight must be {allowed}, dense; got one of {weight.layout}")
    if weight.ndim != 2 or not weight.numel() or weight.shape[0] % (2 * heads) or weight.is_meta:
        raise ValueError(
            f"weight must be {allowed}, with a multiple of 2·heads = {2 * heads} rows; got"
            f" shape {tuple(weight.shape)} on {weight.device}"
        )
    check_range("weight", weight.detach(), -math.inf, math.inf, "finite")
    return weight.detach().reshape(heads, -1, weight.shape[1])


def _judge_rows(rows: Tensor) -> Diagnosis:
    """Return the layout that the rows of projections, (heads, d, d_model), were trained with."""
    lengths = rows.cpu().double().norm(dim=2).clamp(min=torch.finfo(torch.float64).tiny).log()
    generator = torch.Generator().manual_seed(0)
    shuffled = _permuted_entries(lengths.expand(100, -1, -1), generator)
    by_chance = torch.stack([square.mean() for square in _differences(shuffled)])
    within = {layout: _differences(lengths, layout).mean() for layout in PAIRS}
    z = {
        layout: float((by_chance.mean() - value) / by_chance.std().clamp(min=1e-300))
        for layout, value in within.items()
    }
    apart = float(within["half"] / within["interleaved"].clamp(min=1e-300))
    why = (
        f"Rows of a pair are more alike than random ones by {z['interleaved']:.1f} deviations if"
        f" interleaved, by {z['half']:.1f} if half."
    )
    numbers = {**z, "apart": apart}
    # Neighbours are alike in either layout: if halves were trained, so are their frequencies.
    alike = {layout for layout in PAIRS if z[layout] >= DEVIATIONS}
    if "half" in alike and apart < 2:
        return answer(HEALTHY, "half", why, numbers)
    if alike == {"interleaved"} and apart > 2:
        return answer(HEALTHY, "interleaved", why, numbers)
    return answer(UNDETERMINED, "cannot tell", f"{why} That shows neither.", numbers)


def _differences(lengths: Tensor, layout: str = "interleaved") -> Tensor:
    """Return the squared differences within pairs."""
    first, second = pairs(lengths, layout)
    return (first - second).square()


def _permuted_entries(x: Tensor, generator: torch.Generator) -> Tensor:
    return x.gather(-1, torch.rand(x.shape, generator=generator).argsort(dim=-1))
