"""All questions at once: `diagnose`, and the `Report` that it returns.

A model is run on a copy, in evaluation mode and without gradients, so that its mode, its weights,
buffers and caches, all generators of random numbers and the settings of PyTorch that isolation.py
lists are afterwards as they were. But hooks run with it, and what they write elsewhere stays
written. All threads share the generators: if other threads run, those of NumPy and Python that a
model draws from are left as they are, and where it draws from one of PyTorch's, what other threads
draw meanwhile is put back with it. The copy is widened to float64 for most questions: it takes as
much memory as the model's weights twice if they are float32, four times if they are narrower, and
what its outputs need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from posenc._arguments import as_base, as_integer
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED, Diagnosis
from posenc.diagnose.ask import as_example, as_model
from posenc.diagnose.cached import Caches
from posenc.diagnose.collisions import colliding_positions
from posenc.diagnose.drowned import drowned_tokens
from posenc.diagnose.layout import rope_layout
from posenc.diagnose.length import longest_input
from posenc.diagnose.order import sees_order
from posenc.diagnose.relative import as_caches, as_part, relative_scores
from posenc.diagnose.trial import Example
from posenc.diagnose.unseen import QUESTION, unseen_positions

HOW_TO_ASK = (
    "Say how many tokens a training sequence had (trained= or --trained), and how many you"
    " plan to feed the model (length= or --length)."
)
UNASKED = Diagnosis(QUESTION, ABSENT, "not asked", HOW_TO_ASK)


@dataclass(frozen=True)
class Report:
    """All answers about one model.

    Attributes:
        subject: the model, in words.
        diagnoses: the answers, a `Diagnosis` each, in the order of the questions.
        unasked: questions that were not asked, each with what to say to ask it.
    """

    subject: str
    diagnoses: tuple[Diagnosis, ...]
    unasked: tuple[Diagnosis, ...] = ()

    @property
    def ill(self) -> bool:
        """Whether at least one answer is ill."""
        return any(diagnosis.ill for diagnosis in self.diagnoses)

    @property
    def status(self) -> str:
        """Ill if one answer is, or else undetermined if one is, healthy otherwise."""
        found = {diagnosis.status for diagnosis in self.diagnoses}
        return next((status for status in (ILL, UNDETERMINED) if status in found), HEALTHY)

    def as_data(self) -> dict[str, Any]:
        """Return the report for JSON, without weights, tokens or paths, to hand to somebody else.

        Of an error only its type is kept, since its message may quote any of them.
        """
        return {
            "torch": str(torch.__version__),
            "model": self.subject,
            "status": self.status,
            "answers": [vars(one) | {"why": _without_messages(one.why)} for one in self.diagnoses],
        }

    def __str__(self) -> str:
        ill = sum(diagnosis.ill for diagnosis in self.diagnoses)
        open_ = sum(diagnosis.status == UNDETERMINED for diagnosis in self.diagnoses)
        summary = f"{ill} ill, {open_} undetermined, of {len(self.diagnoses)} questions."
        return "\n\n".join([self.subject, *map(str, self.diagnoses + self.unasked), summary])


def diagnose(
    model: nn.Module,
    example: Example = None,
    *,
    length: int | None = None,
    trained: int | None = None,
    base: float | None = None,
    cache: Caches = None,
    heads: int | None = None,
    rank: int | None = None,
    axis: int | None = None,
) -> Report:
    """Return the answers to all questions about a model.

    Args:
        model: any module that maps token ids, (batch, length), to a floating tensor or to
            something that contains one, as the models of transformers do. It may be on any device,
            in any dtype, and in training mode.
        example: what the model reads, if it is not token ids, or ids of few values: a tensor of
            integers, (batch, length), or of reals, (batch, length) or (batch, length, width). Or
            a mapping of keywords to arguments of `forward`, the first of them the tokens; the
            others stay as they are whatever the tokens, but of a tensor with a row for each text
            of the example all texts are given the first. One that is as long as the example
            leaves no other length to try.
        length: how many tokens you mean to feed it; without it, `longest_input` only finds out how
            many it can take, and `relative_scores` looks for windows of up to 506 keys.
        trained: how many tokens a sequence of its training had; without it, nothing is asked about
            longer ones. Needs `length`. See `unseen_positions`.
        base: of its rotary frequencies in training, if they were changed since; see
            `unseen_positions`.
        cache: how to make an empty cache, as in `{"cache": nn.Cache}`; see `relative_scores`.
        heads: how many heads a layer has on all ranks, where the model is the part of one rank.
        rank: which rank that is, counted from 0; see `relative_scores`.
        axis: which axis of the example counts tokens, 1 or 2; None for 1. Of an example of three
            axes it has to be said where the model reads no other size of axis 1, and nothing else
            it is given is as long: then the length may be axis 2, as where channels come first.

    Returns:
        A `Report`: `report.ill`, `report.status`, `report.diagnoses`, and the text of it, `str`.
        All are undetermined where the same text, run twice, has two outputs, where `forward`
        changes settings of PyTorch, or where a part is a ScriptModule.

    Raises:
        TypeError: `model` is not a module, `example` no tensor or mapping with one in front,
            `length`, `trained`, `heads` or `rank` not an integer, `base` not a number, `cache` not
            a mapping of names to functions.
        ValueError: the example is empty or not finite, or has no such axis for the length; `length`
            or `trained` is below 1, or `trained` given without `length`, or `base` without it;
            `base` is out of range; for `heads` and `rank` see `relative_scores`.

    Source:
        Each question has its own.

    Examples:
        >>> import torch
        >>> from posenc import nn
        >>> model = nn.GPTModel(vocab_size=50, max_len=20, d_model=16, heads=2, layers=2)
        >>> report = nn.diagnose(model, length=30)
        >>> report.ill, [diagnosis.verdict for diagnosis in report.diagnoses if diagnosis.ill]
        (True, ['it ends at 20 tokens, and 30 are asked for'])
    """
    model, example = as_model(model), as_example(example)
    length = None if length is None else as_integer("length", length, least=1)
    trained = None if trained is None else as_integer("trained", trained, least=1)
    base = None if base is None else as_base(base)
    cache = as_caches(cache)
    as_part(heads, rank)
    if base is not None and trained is None:
        raise ValueError("trained must be given where base is; got None")
    if trained is not None and length is None:
        example_of = f"length={2 * trained} or --length {2 * trained}"
        raise ValueError(f"length must be given where trained is, as in {example_of}; got None")
    answers = [
        sees_order(model, example, axis=axis),
        drowned_tokens(model, example, axis=axis),
        colliding_positions(model, example, axis=axis),
        longest_input(model, example, length=length, axis=axis),
        rope_layout(model, example, axis=axis),
        relative_scores(
            model, example, cache=cache, length=length, heads=heads, rank=rank, axis=axis
        ),
    ]
    if trained is None or length is None:
        return Report(_subject(model), tuple(answers), (UNASKED,))
    beyond = unseen_positions(model, example, trained=trained, length=length, base=base, axis=axis)
    return Report(_subject(model), (*answers, beyond))


def _without_messages(why: str) -> str:
    """Return a sentence up to the name of an error, if it quotes one."""
    return re.sub(r"\b([A-Z]\w*): .*", r"\1", why)


def _subject(model: nn.Module) -> str:
    """Return a model in words."""
    weights = [p for p in model.parameters() if not is_lazy(p)]
    kinds = ", ".join(sorted({f"{p.dtype} on {p.device}".removeprefix("torch.") for p in weights}))
    mode = "training" if model.training else "evaluation"
    count = sum(p.numel() for p in weights)
    return f"{type(model).__name__}: {count:,} weights{kinds and f', {kinds}'}, in {mode} mode"
