"""Points in space and noise levels as sines and cosines, for networks that take them as input.

    γ(v) = [cos(2π bᵀv), sin(2π bᵀv)]   for every frequency b

Two such vectors have a dot product that depends only on the difference of their points, so the
choice of frequencies is the choice of a kernel: how fast points stop being alike. Random
frequencies give a bell, powers of two give the encoding of NeRF, and the frequencies of
transformers give the embedding of timesteps in diffusion models.

Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional
Domains" (2020); Rahimi and Recht, "Random Features for Large-Scale Kernel Machines" (2007).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import (
    LARGEST,
    as_angles,
    as_base,
    as_choice,
    as_integer,
    as_number,
    as_points,
    as_reals,
)
from posenc.embeddings.learned import _generator
from posenc.frequency import frequencies as frequencies_of_the_paper

FIRST = ("sine", "cosine")
GROUPS = ("coordinates", "bands")


def fourier_features(
    points: ArrayLike, frequencies: ArrayLike, *, first: str = "cosine"
) -> NDArray[np.float64]:
    """Return the cosines and sines of each point along each frequency, in full turns.

    Args:
        points: shape `(..., axes)`, integers or reals.
        frequencies: turns per unit on each axis, a column for each feature, `(axes, features)`, of
            any sign; see `gaussian_frequencies`.
        first: "cosine", as in the paper: all cosines, then all sines; or "sine", as in its code.

    Returns:
        Shape `(..., 2·features)`, float64, a new array.

    Raises:
        TypeError: `points` or `frequencies` holds anything but real numbers, or `first` is not a
            string.
        ValueError: a shape does not fit, a number is not finite, or an angle reaches 2⁵³;
            `first` is unknown.

    Source:
        Tancik et al. (2020), section 6.1.

    Examples:
        >>> fourier_features([[0.25, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(3) + 0.0
        array([[0., 1., 1., 0.]])
    """
    places = as_points("points", points)
    omega = as_reals("frequencies", frequencies)
    if omega.ndim != 2 or 0 in omega.shape or len(omega) != places.shape[-1]:
        raise ValueError(
            f"frequencies must be of shape ({places.shape[-1]}, features), 1 or more; got"
            f" {omega.shape}"
        )
    reach = float(np.abs(places).max(initial=0.0)) * float(np.abs(omega).max()) * len(omega)
    if reach * 2 * np.pi >= LARGEST:
        raise ValueError(f"points must be such that angles are below 2**53; got up to {reach:.6g}")
    angles = 2 * np.pi * (places @ omega)
    return _halves(np.sin(angles), np.cos(angles), first)


def gaussian_frequencies(
    features: int, axes: int, *, deviation: float, seed: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """Return random frequencies from a normal distribution, for `fourier_features`.

    The dot product of two points' features, divided by the number of features, is then about
    exp(−2π²·deviation²·distance²): a bell, which is narrower if the deviation is larger.

    Args:
        features: how many frequencies; an integer, 1 or more.
        axes: how many coordinates a point has; an integer, 1 or more.
        deviation: their standard deviation, in turns per unit; above 0.
        seed: an integer, 0 or more, or a `numpy.random.Generator`; None draws different ones each
            time. Keep the result with the model: other frequencies are a different encoding.

    Returns:
        Shape `(axes, features)`, float64, a new array.

    Raises:
        TypeError: a size or `seed` is not an integer, or `deviation` not a number.
        ValueError: a size is below 1, `seed` below 0, or `deviation` not above 0, or above 1e300.

    Source:
        Tancik et al. (2020), section 6.1; Rahimi and Recht (2007), the section on
        random Fourier features.

    Examples:
        >>> gaussian_frequencies(256, 2, deviation=10.0, seed=0).shape
        (2, 256)
    """
    shape = as_integer("axes", axes, least=1), as_integer("features", features, least=1)
    spread = float(as_number("deviation", deviation))
    if not 0 < spread <= 1e300:  # closer to the limit of float64, a frequency would overflow
        raise ValueError(f"deviation must be above 0, and at most 1e300; got {spread}")
    return spread * _generator(seed).standard_normal(shape)


def nerf_encoding(
    points: ArrayLike, bands: int, *, unit: float = np.pi, grouped: str = "coordinates"
) -> NDArray[np.float64]:
    """Return the sines and cosines of each coordinate at frequencies that double from band to band.

        γ(p) = (sin(2⁰·u·p), cos(2⁰·u·p), …, sin(2ᴸ⁻¹·u·p), cos(2ᴸ⁻¹·u·p))   with u = π

    Args:
        points: shape `(..., axes)`, integers or reals; in NeRF from −1 to 1.
        bands: how many frequencies each coordinate has, L; an integer from 1 to 50.
        unit: the lowest frequency u in radians per unit, above 0: π in the paper, 1 in its code.
        grouped: "coordinates", all bands of the first coordinate, then of the second, as the paper
            writes; or "bands", the sines of all coordinates in the first band, then their
            cosines, then the next band, as its code does.

    Returns:
        Shape `(..., 2·bands·axes)`, float64, a new array. The authors' code also puts the point
        itself in front.

    Raises:
        TypeError: `points` holds anything but real numbers, `bands` is not an integer, `unit` not
            a number, or `grouped` not a string.
        ValueError: `points` has no axis of coordinates; a number is not finite, or an angle reaches
            2⁵³; `bands` is below 1 or above 50; `unit` is not above 0 and below 2⁵³;
            `grouped` is unknown.

    Source:
        Mildenhall et al., "NeRF: Representing Scenes as Neural Radiance Fields for View Synthesis"
        (2020), section 5.1, equation 4.

    Examples:
        >>> nerf_encoding([0.5, 0.0], 2).round(3) + 0.0
        array([ 1.,  0.,  0., -1.,  0.,  1.,  0.,  1.])
    """
    places = as_points("points", points)
    levels = as_integer("bands", bands, least=1)
    if levels > 50:  # the last band would turn by more than float64 resolves
        raise ValueError(f"bands must be an integer from 1 to 50; got {levels}")
    lowest = float(as_number("unit", unit))
    if not 0 < lowest < LARGEST:
        raise ValueError(f"unit must be above 0, and below 2**53; got {lowest}")
    by_band = as_choice("grouped", grouped, GROUPS) == "bands"
    angles = as_angles(
        "points", places, lowest * np.exp2(np.arange(0.0, levels))
    )  # (…, axes, bands)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # (…, axes, bands, 2)
    if by_band:
        pairs = np.moveaxis(pairs, -3, -1)  # (…, bands, 2, axes)
    return pairs.reshape(*places.shape[:-1], 2 * levels * places.shape[-1])


def timestep_embedding(
    timesteps: ArrayLike,
    d_model: int,
    *,
    first: str = "sine",
    shift: float = 0,
    base: float = 10000.0,
) -> NDArray[np.float64]:
    """Return the embedding of noise levels in diffusion models: one half sines, one half cosines.

        frequency of pair i = base^(−i/(half − shift)),   half = d_model/2

    Args:
        timesteps: noise levels, any shape, integers or reals.
        d_model: width of a row; an even integer, 2 or more.
        first: which half comes first, "sine" as in DDPM or "cosine" as in guided-diffusion.
        shift: what is subtracted from the half: 1 in DDPM, so that the last frequency is 1/base
            exactly, and 0 in guided-diffusion. At least 0, and less than the half.
        base: see `posenc.frequencies`.

    Returns:
        Shape `(*timesteps.shape, d_model)`, float64, a new array.

    Raises:
        TypeError: `timesteps`, `shift` or `base` is not a real number, `d_model` not an integer,
            or `first` not a string.
        ValueError: `timesteps` holds NaN or an infinity, or reaches 2⁵³; `d_model` is odd or
            below 2; `shift` is below 0, not below half of the width, or so close to it that the
            exponents overflow; `first` is unknown;
            `base` is below 1e-300, above 1e300, or 1.

    Source:
        Ho et al., "Denoising Diffusion Probabilistic Models" (2020), appendix B, which takes the
        sinusoids of Vaswani et al. (2017); their order and exponent are those of released code.

    Examples:
        >>> timestep_embedding(100, 4).round(3)
        array([-0.506,  0.841,  0.862,  0.54 ])
        >>> timestep_embedding(100, 4, first="cosine", shift=1).round(3)
        array([ 0.862,  1.   , -0.506,  0.01 ])
    """
    steps = as_reals("timesteps", timesteps)
    half = as_integer("d_model", d_model, least=2, even=True) // 2
    less = float(as_number("shift", shift))
    if not 0 <= less < half:
        raise ValueError(f"shift must be from 0 to below {half}, half of d_model; got {less}")
    # The exponent of another base: base^(half/(half − shift)) to the power of −i/half.
    number, power = as_base(base), half / (half - less)
    if abs(math.log10(number)) * power > 300:
        raise ValueError(
            f"shift must leave base^({half}/({half} − shift)) from 1e-300 to 1e300; got {less} with"
            f" a base of {number:g}"
        )
    omega = frequencies_of_the_paper(2 * half, base=number**power)
    angles = as_angles("timesteps", steps, omega)
    return _halves(np.sin(angles), np.cos(angles), first)


def _halves(
    sines: NDArray[np.float64], cosines: NDArray[np.float64], first: str
) -> NDArray[np.float64]:
    """Return sines and cosines in two halves, the first of which is named."""
    parts = [sines, cosines] if as_choice("first", first, FIRST) == "sine" else [cosines, sines]
    return np.concatenate(parts, axis=-1)
