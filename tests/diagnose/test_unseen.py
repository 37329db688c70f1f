"""Which positions of a longer text were never met in training."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc import (
    frequencies,
    interpolated_frequencies,
    nn,
    ntk_frequencies,
    t5_bucket_starts,
    wavelengths,
    yarn_frequencies,
)
from posenc.diagnose.answers import ABSENT, HEALTHY, ILL, UNDETERMINED, Diagnosis
from tests.diagnose.models import (
    VOCAB,
    AttentionLayer,
    Composed,
    Model,
    Reader,
    RelativeKeys,
    Rotary,
    StepByStep,
    Table,
    from_tokens,
    sines,
)
from tests.diagnose.random_models import HUNDRED, Chance

D, TRAINED, LENGTH = 16, 64, 128
PAIRS = D // 2
NEVER_ROUND = int((wavelengths(D) > TRAINED).sum())


def rotating(omega: object = None, d: int = D, **form: object) -> Model:
    """Return a model whose heads of width d are rotated by these frequencies, or by a base."""
    options = form if omega is None else {"frequencies": omega, **form}
    return Reader(
        d_model=2 * d,
        causal=True,
        rotary=lambda: nn.RotaryEmbedding(d, **options),  # type: ignore[arg-type]
    )


def gpt(scheme: str) -> Model:
    """Return a small GPT with 64 positions."""
    return nn.GPTModel(VOCAB, TRAINED, D, heads=2, layers=1, pos_type=scheme)


def counting(count: Callable[[Tensor], Tensor]) -> Model:
    """Return a rotary model whose positions are counted in another way."""

    def rotation() -> Model:
        rotary = nn.RotaryEmbedding(D)
        return Composed(
            torch.nn.Identity(), lambda x: rotary(x, positions=count(torch.arange(x.shape[2])))
        )

    return Reader(d_model=2 * D, rotary=rotation)


def unseen(model: Model, **options: object) -> Diagnosis:
    """Return the answer about 128 tokens after a training on 64."""
    settings: dict[str, object] = {"trained": TRAINED, "length": LENGTH, **options}
    return nn.unseen_positions(model, **settings)  # type: ignore[arg-type]


# Frequencies of training


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("base", [100.0, 10000.0, 500000.0])
def test_slow_pairs_of_a_rotary_model_meet_new_angles(base: float, layout: str) -> None:
    model = rotating(base=base, layout=layout)
    slow = int((wavelengths(D, base=base) > TRAINED).sum())
    found = unseen(model)
    assert found.measured == {
        "trained": TRAINED,
        "length": LENGTH,
        "pairs": PAIRS,
        "slow": slow,
        "unseen": slow,
        "factor": 1,
        "base": base,
    }
    assert (found.status, found.verdict) == (
        ILL,
        f"{slow} of {PAIRS} pairs meet angles that they were never trained on",
    )


def test_the_answer_names_the_angles_and_what_to_set() -> None:
    found = unseen(rotating())
    omega = frequencies(D)
    first = PAIRS - NEVER_ROUND
    assert found.why == (
        f"Its frequencies are those of base 10,000. {NEVER_ROUND} of {PAIRS} pairs complete"
        f" no turn within 64 tokens. In 128 tokens pair {first} reaches"
        f" {127 * omega[first]:.3g} rad (in training it stayed below {64 * omega[first]:.3g}), pair"
        f" 7 reaches {127 * omega[7]:.3g} rad (in training it stayed below {64 * omega[7]:.3g})."
    )
    assert found.remedy == (
        "divide the frequencies of the pairs that complete no turn by 2. Without training, use"
        ' yarn_frequencies(16, 2, 64, base=10000, ramp="pairs"), and multiply queries and keys by'
        f" yarn_temperature(2) = {0.1 * math.log(2) + 1:.4g}; ntk_frequencies(16, 2, base=10000) is"
        " simpler, but helps less with large factors. With some training, use"
        " interpolated_frequencies(16, 2, base=10000). Then ask again, with base=10000."
    )


def test_a_single_slow_pair_is_named_once() -> None:
    found = unseen(rotating(base=20.0))
    assert found.measured["unseen"] == found.measured["slow"] == 1
    assert found.why.count("reaches") == 1


def test_if_all_pairs_complete_a_turn_every_angle_was_met() -> None:
    found = nn.unseen_positions(rotating(base=20.0), trained=90, length=200)
    assert wavelengths(D, base=20.0).max() < 90
    assert (found.status, found.verdict) == (HEALTHY, "every angle was met in training")
    assert found.why.endswith("All 8 pairs complete a turn within 90 tokens.")


def test_a_text_no_longer_than_training_brings_nothing_new() -> None:
    for length in (1, TRAINED - 1, TRAINED):
        found = unseen(rotating(), length=length)
        assert (found.status, found.verdict) == (
            HEALTHY,
            "the sequence is not longer than in training",
        )
    assert unseen(rotating(), length=TRAINED + 1).ill
    short = unseen(rotating(), trained=5, length=6)
    assert short.measured["unseen"] == PAIRS  # none completes a turn in 5 tokens


def test_frequencies_of_rotations_are_measured_in_any_form() -> None:
    """In part of the head, in float32 as most code has them, and in half precision."""
    partial = unseen(rotating(rotary_d=8))
    assert (partial.measured["pairs"], partial.measured["base"]) == (4, 10000)
    assert partial.measured["slow"] == (wavelengths(8) > TRAINED).sum()
    for dtype in (torch.float32, torch.bfloat16):
        model = Reader(d_model=32, causal=True, rotary=lambda: Rotary(D, torch.float32)).to(dtype)
        found = unseen(model)
        assert (found.measured["unseen"], found.measured["base"]) == (NEVER_ROUND, 10000)


@pytest.mark.slow
def test_a_hundred_rotary_models_have_as_many_new_angles_as_the_formula_says() -> None:
    for seed in HUNDRED:
        chance = Chance(seed)
        d, base = chance.choice([8, 16, 32]), chance.choice([50.0, 1000.0, 10000.0, 1e6])
        trained, times = chance.randrange(20, 100), chance.choice([1, 2, 3.5])
        model = rotating(interpolated_frequencies(d, times, base=base), d)
        length = chance.randrange(trained + 1, 300)
        found = nn.unseen_positions(model, trained=trained, length=length, base=base)
        slow = wavelengths(d, base=base) > trained
        new = (length - 1) / times >= trained
        assert found.measured["slow"] == slow.sum(), seed
        assert found.measured["unseen"] == slow.sum() * new, seed
        assert found.ill == (new and slow.any()), seed


# Frequencies that were scaled


@pytest.mark.parametrize(
    "remedy",
    [
        yarn_frequencies(D, 2, TRAINED, ramp="pairs"),
        interpolated_frequencies(D, 2),
    ],
    ids=["YaRN", "interpolation"],
)
@pytest.mark.parametrize("base", [None, 10000.0], ids=["measured", "given"])
def test_what_helps_makes_it_healthy(remedy: object, base: float | None) -> None:
    found = unseen(rotating(remedy), base=base)
    condition = "" if base else ", if its frequencies were slowed afterwards"
    assert found.status == HEALTHY
    assert found.verdict == f"every angle was met in training{condition}"
    assert (found.measured["slow"], found.measured["unseen"]) == (NEVER_ROUND, 0)
    assert (found.measured["factor"], found.measured["base"]) == (2, 10000)
    assert "the slowest divided by 2." in found.why


def test_yarn_of_the_paper_is_recognised_though_it_slows_every_pair() -> None:
    omega = yarn_frequencies(D, 2, TRAINED)
    assert omega[0] < 1
    found = unseen(rotating(omega))
    assert (found.status, found.measured["base"]) == (HEALTHY, 10000)


def test_scaling_for_a_shorter_text_leaves_new_angles() -> None:
    found = unseen(rotating(yarn_frequencies(D, 2, TRAINED, ramp="pairs")), length=2 * LENGTH)
    assert (found.status, found.measured["unseen"]) == (ILL, NEVER_ROUND)
    assert "yarn_frequencies(16, 4, 64, base=10000" in found.remedy


def test_scaling_made_for_a_shorter_training_is_not_taken_for_later_than_training() -> None:
    """As in Llama 3.1: scaled for 8 times its first length, and trained on that length."""
    model = rotating(yarn_frequencies(D, 8, 16, ramp="pairs"))
    assert nn.unseen_positions(model, trained=16, length=128).status == HEALTHY
    found = nn.unseen_positions(model, trained=128, length=200)
    slow = 2 * np.pi / yarn_frequencies(D, 8, 16, ramp="pairs") > 128
    assert (found.status, found.measured["unseen"]) == (ILL, slow.sum())
    assert (found.measured["factor"], found.measured["base"]) == (1, 10000)
    assert "divided by 8, for a shorter length than that of training." in found.why
    assert found.remedy.startswith("divide the frequencies of these pairs by 1.57")


def test_the_factor_to_set_is_never_below_that_of_the_lengths() -> None:
    found = unseen(rotating(), trained=90, length=127)  # 1.4111 times as long
    assert "complete no turn by 1.42." in found.remedy
    omega = yarn_frequencies(D, 1.42, 90, ramp="pairs")
    assert unseen(rotating(omega), trained=90, length=127).status == HEALTHY


def test_ntk_frequencies_are_those_of_a_larger_base_unless_it_is_given() -> None:
    model = rotating(ntk_frequencies(D, 2))
    larger = 10000 * 2 ** (D / (D - 2))
    found = unseen(model)
    assert (found.status, found.measured["factor"]) == (ILL, 1)
    assert found.measured["base"] == pytest.approx(larger, rel=1e-5)
    found = unseen(model, base=10000)
    assert (found.status, found.measured["factor"]) == (ILL, 2)
    assert found.measured["slow"] == NEVER_ROUND
    assert found.measured["unseen"] == NEVER_ROUND - 1  # all but the slowest


class Dynamic(torch.nn.Module):
    """Rotations of one kind up to the trained length, and of another beyond.

    In its first long text it computes more than in the next, as one that keeps frequencies does.
    """

    def __init__(self, short: torch.nn.Module, long: torch.nn.Module) -> None:
        super().__init__()
        self.short, self.long, self.long_seen = short, long, False

    def forward(self, x: Tensor) -> Tensor:
        if not self.long_seen and x.shape[2] > TRAINED:
            self.long_seen = True
            for _ in range(200):  # more operations than follow
                torch.ones(3).neg()
        rotated: Tensor = (self.short if x.shape[2] <= TRAINED else self.long)(x)
        return rotated


def dynamic(**long: object) -> Model:
    """Return a model with the frequencies of base 10000, and others in a long text."""
    return Reader(
        d_model=2 * D,
        rotary=lambda: Dynamic(nn.RotaryEmbedding(D), nn.RotaryEmbedding(D, **long)),  # type: ignore[arg-type]
    )


def test_frequencies_that_change_with_the_length_are_those_of_the_short_text_in_training() -> None:
    found = unseen(dynamic(frequencies=interpolated_frequencies(D, 2)))
    assert (found.status, found.verdict) == (HEALTHY, "every angle was met in training")
    assert found.measured["factor"] == 2
    found = unseen(dynamic(frequencies=ntk_frequencies(D, 2)))
    assert (found.status, found.measured["unseen"]) == (ILL, NEVER_ROUND - 1)
    assert found.measured["base"] == 10000


@pytest.mark.parametrize(
    "omega", [np.linspace(1, 0.01, PAIRS), np.full(PAIRS, 0.05)], ids=["even steps", "all equal"]
)
def test_frequencies_that_fit_no_base_are_taken_for_those_of_training(
    omega: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    found = unseen(rotating(omega))
    slow = (2 * np.pi / omega > TRAINED).sum()
    assert (found.measured["slow"], found.measured["unseen"]) == (slow, slow)
    assert "base" not in found.measured
    assert "fit no base" in found.why
    assert found.remedy == "divide the frequencies of these pairs by 2, and train a little."


@pytest.mark.parametrize("bases", [(100.0, 10000.0), (10000.0, 100.0)])
def test_of_several_sets_of_frequencies_the_worst_is_reported(bases: tuple[float, float]) -> None:
    base = iter(bases)
    found = unseen(Reader(d_model=2 * D, rotary=lambda: nn.RotaryEmbedding(D, base=next(base))))
    assert (found.measured["base"], found.measured["unseen"]) == (10000, NEVER_ROUND)


def test_a_rotary_table_that_ends_does_not_hide_new_angles() -> None:
    table = torch.arange(100)
    found = unseen(counting(lambda places: table[places]))
    assert (found.status, found.measured["unseen"]) == (ILL, NEVER_ROUND)


# Rows and biases


def test_sinusoids_that_are_added_meet_new_angles() -> None:
    for model in (Reader(sines(D)), gpt("sinusoidal")):
        found = unseen(model)
        assert (found.measured["pairs"], found.measured["unseen"]) == (PAIRS, NEVER_ROUND)
        assert (found.status, found.measured["base"]) == (ILL, 10000)
        assert (
            found.remedy
            == "divide positions by 2, and train a little, or train on sequences of 128 tokens."
        )


def test_a_table_that_is_longer_than_training_has_rows_that_were_never_trained() -> None:
    found = unseen(Reader(Table(200, D)))
    assert found.verdict == "64 of 128 positions have rows that were never trained"
    assert (found.status, found.measured["unseen"]) == (ILL, 64)
    assert "as rows added to tokens" in found.why
    assert "LearnedPositionalEmbedding.resized" in found.remedy


NOT_PROPORTIONAL = "not proportional to the positions"


class WithBias(torch.nn.Module):
    """A layer with a learned bias for each distance."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.layer = torch.nn.Embedding(VOCAB, D), AttentionLayer(D, 2, None, True)
        self.bias = torch.nn.Parameter(torch.randn(300))

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1])
        distances = (places[:, None] - places).abs()
        out: Tensor = self.layer(self.tokens(ids), self.bias[distances].expand(2, -1, -1))
        return out


@pytest.mark.parametrize(
    ("model", "status", "answer"),
    [
        (Reader(Table(TRAINED - 1, D, wraps=True)), HEALTHY, "all rows were met in training"),
        (WithBias(), ILL, "64 of 128 distances have biases that were never trained"),
        (RelativeKeys(lambda d: d.clamp(-16, 16) + 16), HEALTHY, "all biases were met in training"),
        (RelativeKeys(lambda d: d + 600), UNDETERMINED, "mingled with tokens"),
        (gpt("none"), ABSENT, "no positions reach the model"),
        (gpt("learned"), UNDETERMINED, "no sequence of more than 64 tokens could be compared"),
        (
            dynamic(rotary_d=8),
            UNDETERMINED,
            "a long sequence and a short one rotate different pairs",
        ),
        (counting(lambda places: places % 40), UNDETERMINED, NOT_PROPORTIONAL),
        (counting(lambda places: places // 3), UNDETERMINED, NOT_PROPORTIONAL),
        (counting(torch.square), UNDETERMINED, NOT_PROPORTIONAL),
    ],
)
def test_other_positions_are_met_new_absent_or_undetermined(
    model: Model, status: str, answer: str
) -> None:
    found = unseen(model)
    assert found.status == status, str(found)
    assert answer in f"{found.verdict} {found.why}"


def test_order_that_enters_in_a_loop_is_undetermined() -> None:
    found = nn.unseen_positions(StepByStep(lost=False, added=True), trained=20, length=30)
    assert found.status == UNDETERMINED
    assert "order reaches the model" in found.why


def test_alibi_needs_no_training() -> None:
    found = unseen(gpt("alibi"))
    assert found.verdict == "its biases fall evenly with the distance and need no training"
    assert found.status == HEALTHY


def test_a_bias_of_the_wrong_sign_grows_with_the_distance() -> None:
    """Added, subtracted, or given by the key alone: what counts is which way a score moves."""
    model = gpt("alibi")
    model.alibi.slopes = tuple(-slope for slope in model.alibi.slopes)  # type: ignore[union-attr]
    found = unseen(model)
    assert (found.verdict, found.status) == ("its biases grow with the distance", ILL)
    assert "the farther the key, the larger its score" in found.why
    for sign, status in ((1, HEALTHY), (-1, ILL)):

        def attention(x: Tensor, sign: int = sign) -> Tensor:
            places = torch.arange(x.shape[1])
            far = (places[:, None] - places).abs().to(x.dtype)
            return torch.softmax(x @ x.mT - sign * 0.1 * far, dim=-1) @ x

        assert unseen(from_tokens(attention)).status == status


@pytest.mark.parametrize(("trained", "status"), [(64, ILL), (120, HEALTHY)])
def test_buckets_of_t5_are_new_unless_training_reached_the_last(trained: int, status: str) -> None:
    """The last of 32 buckets, one direction each, begins below 120."""
    assert int(t5_bucket_starts(bidirectional=False)[-1]) < 120
    found = nn.unseen_positions(gpt("t5"), trained=trained, length=150)
    assert found.status == status
    assert ("never trained" in found.verdict) == (status == ILL)
