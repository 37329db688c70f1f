"""Suite frequencies: the rules of scaling, and how they are often wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scripts.vectors.cases import Answer, Suite, power_tolerance
from scripts.vectors.exact import Number, Row, bfloat16, exact, float16, mp
from scripts.vectors.rotation import POWERS, omegas

Inputs = dict[str, Any]


def clip_to_unit(value: Number) -> Number:
    """Return a number, at least 0 and at most 1."""
    return min(max(value, exact(0)), exact(1))


def blend_frequencies(frequencies: Row, kept: Row, factor: Number) -> Row:
    """Return frequencies between divided by a factor, where kept is 0, and kept, where it is 1."""
    return [w * ((1 - k) / factor + k) for w, k in zip(frequencies, kept, strict=True)]


def answer(frequencies: Row, factor: Number = 1) -> Inputs:
    """Return an answer of the suite."""
    return {"frequencies": frequencies, "attention_factor": exact(factor)}


def of_base(g: Inputs, base: Number | None = None) -> Row:
    """Return the frequencies of a base, that of the input if none is given."""
    base = exact(g["base"] if base is None else base)
    power = g.get("power", lambda i, d: exact(-2 * i) / d)
    return [base ** power(i, g["d"]) for i in range(g["d"] // 2)]


def default(g: Inputs) -> Inputs:
    """Return base^(−2i/d)."""
    return answer(of_base(g))


def linear(g: Inputs) -> Inputs:
    """Return every frequency divided by the factor."""
    return answer([w / exact(g["factor"]) for w in of_base(g)])


def larger_base(g: Inputs, factor: Number) -> Inputs:
    """Return the frequencies of base · factor^(d/(d−2))."""
    return answer(of_base(g, exact(g["base"]) * exact(factor) ** (exact(g["d"]) / (g["d"] - 2))))


def ntk(g: Inputs) -> Inputs:
    """Return the frequencies of a larger base."""
    return larger_base(g, g["factor"])


def stretch(g: Inputs, length: Number) -> Number:
    """Return by how much dynamic NTK stretches a sequence of this length."""
    trained = exact(g["trained_length"])
    return exact(g["factor"]) * length / trained - (exact(g["factor"]) - 1)


def dynamic(g: Inputs) -> Inputs:
    """Return those of a base that grows with the length beyond the trained one."""
    length = max(g["length"], g["trained_length"])
    return larger_base(g, stretch(g, length))


def _whole_stretch(g: Inputs) -> Inputs:
    """Divide as integers."""
    if g["length"] <= g["trained_length"]:
        return default(g)
    factor = exact(g["factor"])
    return larger_base(g, mp.floor(factor * g["length"] / g["trained_length"]) - (factor - 1))


def pair_of(g: Inputs, turns: Number) -> Number:
    """Return the pair that makes so many turns in training, as a real number."""
    ratio = exact(g["trained_length"]) / (2 * mp.pi * exact(turns))
    return g["d"] * mp.log(ratio) / (2 * mp.log(exact(g["base"])))


def temperature(factor: Number, mscale: Number = 1) -> Number:
    """Return YaRN's factor of queries and keys."""
    return 1 + exact(mscale) * mp.log(exact(factor)) / 10


def yarn_factor(g: Inputs) -> Number:
    """Return the attention factor of YaRN, as transformers computes it."""
    if g.get("attention_factor") is not None:
        return exact(g["attention_factor"])
    if g.get("mscale") and g.get("mscale_all_dim"):
        top = temperature(g["factor"], g["mscale"])
        return top / temperature(g["factor"], g["mscale_all_dim"])
    return temperature(g["factor"])


def yarn_kept(g: Inputs) -> Row:
    """Return how much of each frequency is kept."""
    pairs = range(g["d"] // 2)
    fast, slow = g.get("fast", 32), g.get("slow", 1)
    clip = g.get("clip", clip_to_unit)
    if g.get("ramp", "pairs") == "turns":
        often = [g["trained_length"] * w / (2 * mp.pi) for w in of_base(g)]
        return [clip((r - exact(slow)) / (exact(fast) - exact(slow))) for r in often]
    first, last = pair_of(g, fast), pair_of(g, slow)
    if g.get("truncate", True):
        down, up = g.get("rounded", (mp.floor, mp.ceil))
        first, last = down(first), up(last)
    first = max(first, exact(g.get("bottom", 0)))
    last = min(last, exact(g.get("top", g["d"] - 1)))
    if first == last:
        last += exact("0.001")
    return [1 - clip((i - first) / (last - first)) for i in pairs]


def yarn(g: Inputs) -> Inputs:
    """Return frequencies kept in fast pairs and divided in slow ones."""
    omega = of_base(g)
    return answer(blend_frequencies(omega, yarn_kept(g), exact(g["factor"])), yarn_factor(g))


def llama3(g: Inputs) -> Inputs:
    """Return frequencies kept, divided or blended, by wavelength."""
    omega, length = of_base(g), exact(g["trained_length"])
    low, high = exact(g.get("low", 1)), exact(g.get("high", 4))
    kept = []
    for w in omega:
        wavelength = 2 * mp.pi / w
        if wavelength < length / high:
            kept.append(exact(1))
        elif low == 0 or wavelength <= length / low:
            kept.append((length / wavelength - low) / (high - low) if high > low else exact(1))
        else:
            kept.append(exact(0))
    return answer(blend_frequencies(omega, kept, exact(g["factor"])))


def longrope_factor(g: Inputs) -> Number:
    """Return the attention factor of LongRoPE."""
    if g.get("attention_factor") is not None:
        return exact(g["attention_factor"])
    return mp.sqrt(1 + mp.log(exact(g["factor"])) / mp.log(exact(g["trained_length"])))


def longrope(g: Inputs) -> Inputs:
    """Return frequencies divided pair by pair."""
    divisors = g["long"] if g["length"] > g["trained_length"] else g["short"]
    omega = of_base(g)
    divided = [w / exact(s) for w, s in zip(omega, divisors, strict=True)]
    return answer(divided, longrope_factor(g))


def proportional(g: Inputs) -> Inputs:
    """Return the fastest frequencies, and 0 for the others."""
    turning, factor = g["rotary_d"] // 2, exact(g.get("factor", 1))
    return answer([w / factor if i < turning else exact(0) for i, w in enumerate(of_base(g))])


RULES: dict[str, Callable[[Inputs], Inputs]] = {
    "default": default,
    "linear": linear,
    "ntk": ntk,
    "dynamic": dynamic,
    "yarn": yarn,
    "llama3": llama3,
    "longrope": longrope,
    "proportional": proportional,
}
ALL = tuple(RULES)


def expected_answer(g: Inputs) -> Inputs:
    """Return the answer to an input."""
    return RULES[g["rule"]]({"base": 10000} | g)


def bug_of_rules(rules: str | Iterable[str], wrong: Callable[[Inputs], Inputs | None]) -> Answer:
    """Return a bug of some rules only."""
    names = {rules} if isinstance(rules, str) else set(rules)
    return lambda g: wrong({"base": 10000} | g) if g["rule"] in names else None


def _with_frequencies(g: Inputs, frequencies: Row) -> Inputs:
    """Return the right attention factor with other frequencies."""
    return answer(frequencies, RULES[g["rule"]](g)["attention_factor"])


def _factor(g: Inputs, factor: Number) -> Inputs:
    """Return the right frequencies with another attention factor."""
    return answer(RULES[g["rule"]](g)["frequencies"], factor)


def _reversed_ramp(g: Inputs) -> Inputs:
    kept = yarn_kept(g)
    omega = omegas(g["d"], g["base"])
    return _with_frequencies(g, blend_frequencies(omega, [1 - k for k in kept], exact(g["factor"])))


def _with_arguments(**other: Any) -> Callable[[Inputs], Inputs]:
    return lambda g: RULES[g["rule"]](g | other)


def _multiplied_factor(g: Inputs) -> Inputs | None:
    if g.get("attention_factor") is None:
        return None
    return _factor(g, exact(g["attention_factor"]) * temperature(g["factor"]))


def _formula_again(g: Inputs) -> Inputs | None:
    if g.get("attention_factor") is None:
        return None
    return _factor(g, temperature(g["attention_factor"]))


def _without_arguments(*keys: str) -> Callable[[Inputs], Inputs]:
    return lambda g: RULES[g["rule"]]({k: v for k, v in g.items() if k not in keys})


def _factor_inside_power(g: Inputs) -> Inputs:
    """Put the factor inside the power: (factor · base)^(−2i/d)."""
    omega, slowed = omegas(g["d"], g["base"]), omegas(g["d"], g["base"] * exact(g["factor"]))
    kept = yarn_kept(g)
    return _with_frequencies(
        g, [s * (1 - k) + w * k for w, s, k in zip(omega, slowed, kept, strict=True)]
    )


def _without_half(g: Inputs) -> Inputs | None:
    """Find the ends of the ramp in dimensions instead of pairs."""
    if g.get("ramp", "pairs") != "pairs":
        return None
    doubled = yarn_kept(g | {"d": 2 * g["d"]})[: g["d"] // 2]
    omega = omegas(g["d"], g["base"])
    return _with_frequencies(g, blend_frequencies(omega, doubled, exact(g["factor"])))


def _other_ramp(g: Inputs) -> Inputs | None:
    if g.get("ramp", "pairs") == "pairs":
        return yarn(g | {"ramp": "turns"})
    return yarn(g | {"ramp": "pairs"})


def _steps(g: Inputs) -> Inputs:
    """Leave out the blend: pairs between the limits are divided like the slow ones."""
    omega = omegas(g["d"], g["base"])
    limit = exact(g["trained_length"]) / exact(g.get("high", 4))
    kept = [exact(1) if 2 * mp.pi / w < limit else exact(0) for w in omega]
    return _with_frequencies(g, blend_frequencies(omega, kept, exact(g["factor"])))


def _llama_reversed(g: Inputs) -> Inputs:
    """Blend the wrong way round between the limits."""
    omega = omegas(g["d"], g["base"])
    low, high = exact(g.get("low", 1)), exact(g.get("high", 4))
    often = [g["trained_length"] * w / (2 * mp.pi) for w in omega]
    kept = []
    for r in often:
        ramp = (r - low) / (high - low) if high > low else clip_to_unit(r - low + 1)
        kept.append(1 - ramp if 0 < ramp < 1 else clip_to_unit(ramp))
    return _with_frequencies(g, blend_frequencies(omega, kept, exact(g["factor"])))


def _kept_by_ntk(g: Inputs) -> Inputs:
    """Keep fast pairs at the frequencies of NTK-aware scaling instead of those of the base."""
    omega, kept, factor = ntk(g)["frequencies"], yarn_kept(g), exact(g["factor"])
    slow = omegas(g["d"], g["base"])
    blended = [w * k + v / factor * (1 - k) for w, v, k in zip(omega, slow, kept, strict=True)]
    return _with_frequencies(g, blended)


def _without_still_pairs(g: Inputs) -> Inputs | None:
    """Leave out the zeros of pairs that stand still."""
    found: Row = proportional(g)["frequencies"]
    return _with_frequencies(g, [w for w in found if w])


def _unclipped(g: Inputs) -> Inputs | None:
    """Let the blend go on beyond its ends."""
    if g["rule"] == "yarn":
        return yarn(g | {"clip": lambda value: value})
    low, high = exact(g.get("low", 1)), exact(g.get("high", 4))
    if low == high:
        return None
    often = [g["trained_length"] * w / (2 * mp.pi) for w in of_base(g)]
    return _blended(g, [(r - low) / (high - low) for r in often])


def _slow_kept(g: Inputs) -> Inputs:
    """Keep the slow pairs, too, so that only those between the limits are scaled."""
    low = exact(g.get("low", 1))
    slow = [g["trained_length"] * w < 2 * mp.pi * low for w in of_base(g)]
    found = llama3(g)["frequencies"]
    return answer([w if one else f for w, f, one in zip(of_base(g), found, slow, strict=True)])


def _still_in_front(g: Inputs) -> Inputs:
    still, omega = (g["d"] - g["rotary_d"]) // 2, linear({"factor": 1} | g)["frequencies"]
    return answer([w if i >= still else exact(0) for i, w in enumerate(omega)])


def _early(g: Inputs) -> Inputs | None:
    """Take the long divisors at exactly the trained length."""
    at_edge = g["length"] == g["trained_length"]
    return longrope(g | {"length": g["length"] + 1}) if at_edge else None


def _divided_by_length(g: Inputs, which: str) -> Inputs:
    omega = omegas(g["d"], g["base"])
    return _with_frequencies(g, [w / exact(s) for w, s in zip(omega, g[which], strict=True)])


def _below(g: Inputs) -> Inputs | None:
    """Scale below the trained length, too."""
    often = stretch(g, g["length"])
    return larger_base(g, often) if often > 0 else None


def _exchanged(g: Inputs) -> Inputs:
    """Read each limit under the name of the other."""
    if g["rule"] == "yarn":
        return yarn(g | {"fast": g.get("slow", 1), "slow": g.get("fast", 32)})
    return llama3(g | {"low": g.get("high", 4), "high": g.get("low", 1)})


def _exchanged_clipped(g: Inputs) -> Inputs | None:
    """Read each limit under the name of the other, where the blend is clipped to 0 … 1."""
    low, high = exact(g.get("high", 4)), exact(g.get("low", 1))
    if low == high:
        return None
    often = [g["trained_length"] * w / (2 * mp.pi) for w in omegas(g["d"], g["base"])]
    return _blended(g, [clip_to_unit((r - low) / (high - low)) for r in often])


def _blended(g: Inputs, kept: Row) -> Inputs:
    """Return the right attention factor with frequencies that are kept so far."""
    blended = blend_frequencies(omegas(g["d"], g["base"]), kept, exact(g["factor"]))
    return _with_frequencies(g, blended)


def _without_two_pi(g: Inputs) -> Inputs | None:
    """Count turns in radians."""
    if g["rule"] == "yarn":
        return yarn(g | {"trained_length": g["trained_length"] * 2 * mp.pi})
    low, high = exact(g.get("low", 1)), exact(g.get("high", 4))
    often = [g["trained_length"] * w for w in omegas(g["d"], g["base"])]
    if low == high:
        return _blended(g, [exact(int(r > low)) for r in often])
    return _blended(g, [clip_to_unit((r - low) / (high - low)) for r in often])


def _one_longer(g: Inputs) -> Inputs:
    return RULES[g["rule"]](g | {"length": g["length"] + 1})


def _one_shorter(g: Inputs) -> Inputs | None:
    return RULES[g["rule"]](g | {"length": g["length"] - 1}) if g["length"] > 1 else None


def _whole_factor(g: Inputs) -> Inputs | None:
    return RULES[g["rule"]](g | {"factor": int(g["factor"])}) if "factor" in g else None


def _binary_temperature(g: Inputs) -> Inputs | None:
    if {"attention_factor", "mscale", "mscale_all_dim"} & g.keys():
        return None
    return _factor(g, 1 + mp.log(exact(g["factor"]), 2) / 10)


def _blend_by_wavelengths(g: Inputs) -> Inputs | None:
    """Blend linearly in the wavelength instead of the turns."""
    low, high = exact(g.get("low", 1)), exact(g.get("high", 4))
    if not low < high or not low:
        return None
    longest, shortest = g["trained_length"] / low, g["trained_length"] / high
    waves = [2 * mp.pi / w for w in omegas(g["d"], g["base"])]
    return _blended(g, [clip_to_unit((longest - v) / (longest - shortest)) for v in waves])


def _blended_wavelengths(g: Inputs) -> Inputs:
    """Blend the wavelengths instead of the frequencies."""
    omega, factor = omegas(g["d"], g["base"]), exact(g["factor"])
    kept = [
        (f * factor / w - 1) / (factor - 1)
        for w, f in zip(omega, llama3(g)["frequencies"], strict=True)
    ]
    return _with_frequencies(
        g, [w / (k + (1 - k) * factor) for w, k in zip(omega, kept, strict=True)]
    )


def _qwen(g: Inputs) -> Inputs | None:
    """Stretch by one less than a power of two, as the first Qwen does, whatever the factor."""
    if g["length"] <= g["trained_length"]:
        return None
    steps = mp.ceil(mp.log(exact(g["length"]) / g["trained_length"], 2) + 1 - exact("1e-30"))
    return larger_base(g, exact(2) ** steps - 1)


def _temperature_of_long(g: Inputs) -> Inputs | None:
    """Leave the attention factor out up to the trained length."""
    fixed = g.get("attention_factor") is not None
    return None if fixed or g["length"] > g["trained_length"] else _factor(g, 1)


def _scales(change: Callable[[Number, Number], Number]) -> Callable[[Inputs], Inputs | None]:
    """Return a bug of mscale and mscale_all_dim, where both are given."""

    def wrong(g: Inputs) -> Inputs | None:
        if not (g.get("mscale") and g.get("mscale_all_dim")):
            return None
        return _factor(
            g, change(*(temperature(g["factor"], g[k]) for k in ("mscale", "mscale_all_dim")))
        )

    return wrong


def _own_temperature(change: Callable[[Inputs], Number]) -> Callable[[Inputs], Inputs | None]:
    """Return a bug of the attention factor, where a rule computes it from the factor alone."""

    def wrong(g: Inputs) -> Inputs | None:
        given = {"attention_factor", "mscale", "mscale_all_dim"} & g.keys()
        return None if given else _factor(g, change(g))

    return wrong


def _extended_temperature(g: Inputs) -> Number:
    factor = exact(g["factor"])
    return mp.sqrt(1 + mp.log(factor) / mp.log(factor * g["trained_length"]))


def _heated(g: Inputs) -> Inputs:
    found = RULES[g["rule"]](g)
    return _with_frequencies(g, [w * found["attention_factor"] for w in found["frequencies"]])


def _reversed_divisors(g: Inputs) -> Inputs:
    return {key: g[key][::-1] for key in ("short", "long")}


def _without_exponent(g: Inputs) -> Inputs:
    factor = exact(g["factor"])
    if g["rule"] == "dynamic":
        factor = stretch(g, max(g["length"], g["trained_length"]))
    return answer(of_base(g, g["base"] * factor))


def _other_exponent(g: Inputs) -> Inputs:
    power = exact(g["d"]) / (g["d"] - 1)
    return answer(of_base(g, g["base"] * exact(g["factor"]) ** power))


def _factor_twice(g: Inputs) -> Inputs:
    twice = RULES[g["rule"]](g | {"factor": exact(g.get("factor", 1)) ** 2})
    return _with_frequencies(g, twice["frequencies"])


def _divisors_exchanged(g: Inputs) -> Inputs:
    return longrope(g | {"short": g["long"], "long": g["short"]})


def _longrope_temperature(g: Inputs) -> Inputs | None:
    """Take LongRoPE's formula where YaRN's belongs."""
    if g["factor"] < 1:
        return None
    return _factor(g, mp.sqrt(1 + mp.log(exact(g["factor"])) / mp.log(exact(g["trained_length"]))))


BUGS: dict[str, tuple[str, Answer]] = {
    "limits exchanged": (
        "Each limit is read under the name of the other: high for low, or slow for fast.",
        bug_of_rules(("yarn", "llama3"), _exchanged),
    ),
    "limits exchanged and blend clipped": (
        "high is read for low and low for high, and the blend is clipped.",
        bug_of_rules("llama3", _exchanged_clipped),
    ),
    "limits ignored for 1 and 2": (
        "The limits are 1 and 2, whatever was given.",
        bug_of_rules("llama3", _with_arguments(low=1, high=2)),
    ),
    "turns without 2π": (
        "Turns are counted in radians: the wavelength lacks its 2π.",
        bug_of_rules(("yarn", "llama3"), _without_two_pi),
    ),
    "temperature of LongRoPE": (
        "The attention factor is LongRoPE's.",
        bug_of_rules("yarn", _longrope_temperature),
    ),
    "temperature inverted": (
        "The attention factor is 1 divided by the right one.",
        bug_of_rules(
            ("yarn", "longrope"), lambda g: _factor(g, 1 / RULES[g["rule"]](g)["attention_factor"])
        ),
    ),
    "temperature by the binary logarithm": (
        "The attention factor is computed with log2 instead of the natural logarithm.",
        bug_of_rules("yarn", lambda g: _binary_temperature(g)),
    ),
    "base divided by the factor": (
        "The base is divided by the factor instead of the frequencies.",
        bug_of_rules(
            "linear", lambda g: answer(omegas(g["d"], exact(g["base"]) / exact(g["factor"])))
        ),
    ),
    "factor as an integer": (
        "The factor loses its fraction.",
        bug_of_rules(ALL, _whole_factor),
    ),
    "frequencies rounded to float16": (
        "Frequencies are rounded to float16.",
        bug_of_rules(
            ALL,
            lambda g: _with_frequencies(
                g, [float16(w) for w in RULES[g["rule"]](g)["frequencies"]]
            ),
        ),
    ),
    **{
        name: (said, bug_of_rules(ALL, _with_arguments(power=power)))
        for name, (said, power) in POWERS.items()
    },
    "base ignored": (
        "The base is 10000, whatever was given.",
        bug_of_rules(ALL, _with_arguments(base=10000)),
    ),
    "frequencies reversed": (
        "The slowest pair comes first.",
        bug_of_rules(ALL, lambda g: _with_frequencies(g, RULES[g["rule"]](g)["frequencies"][::-1])),
    ),
    "frequencies rounded to bfloat16": (
        "Frequencies are rounded to bfloat16.",
        bug_of_rules(
            ALL,
            lambda g: _with_frequencies(
                g, [bfloat16(w) for w in RULES[g["rule"]](g)["frequencies"]]
            ),
        ),
    ),
    "scaling ignored": (
        "The frequencies are those of the base, without any rule.",
        bug_of_rules(ALL[1:], default),
    ),
    "factor multiplies": (
        "Frequencies are multiplied by the factor instead of divided.",
        bug_of_rules(
            "linear", lambda g: answer([w * g["factor"] for w in omegas(g["d"], g["base"])])
        ),
    ),
    "base times factor": (
        "The new base is base · factor, without the exponent d/(d−2); so for dynamic's factor.",
        bug_of_rules(("linear", "ntk", "dynamic"), _without_exponent),
    ),
    "exponent upside down": (
        "The new base is base · factor^((d−2)/d).",
        bug_of_rules(
            "ntk",
            lambda g: answer(
                omegas(g["d"], g["base"] * exact(g["factor"]) ** (exact(g["d"] - 2) / g["d"]))
            ),
        ),
    ),
    "linear for another rule": (
        "All frequencies are divided by the factor.",
        bug_of_rules(
            ("ntk", "yarn", "llama3"), lambda g: _with_frequencies(g, linear(g)["frequencies"])
        ),
    ),
    "one table for all lengths": (
        "The rule for the factor holds at every length, also where nothing should change.",
        bug_of_rules("dynamic", ntk),
    ),
    "ratio of lengths alone": (
        "The base grows with length/trained, and the factor is ignored.",
        bug_of_rules(
            "dynamic",
            lambda g: larger_base(g, max(exact(g["length"]) / g["trained_length"], exact(1))),
        ),
    ),
    "stretch rounded down": (
        "factor · length is divided by the trained length as integers, without the remainder.",
        bug_of_rules("dynamic", _whole_stretch),
    ),
    "factor times ratio": (
        "The base grows with factor · length/trained, without subtracting factor − 1.",
        bug_of_rules(
            "dynamic",
            lambda g: larger_base(
                g,
                (
                    exact(g["factor"]) * g["length"] / g["trained_length"]
                    if g["length"] > g["trained_length"]
                    else exact(1)
                ),
            ),
        ),
    ),
    "scaled below the trained length": (
        "The base shrinks in sequences below the trained length.",
        bug_of_rules("dynamic", _below),
    ),
    "ramp reversed": (
        "The ramp runs the wrong way: fast pairs are divided and slow ones kept.",
        bug_of_rules("yarn", _reversed_ramp),
    ),
    "truncate ignored": (
        "The ends of the ramp are rounded to whole pairs, though truncate is false.",
        bug_of_rules("yarn", lambda g: yarn(g | {"truncate": True})),
    ),
    "never truncated": (
        "The ends of the ramp are not rounded to whole pairs.",
        bug_of_rules("yarn", lambda g: yarn(g | {"truncate": False})),
    ),
    "the other ramp": (
        "The ramp is linear in the turns instead of the pairs, or the other way round.",
        bug_of_rules("yarn", _other_ramp),
    ),
    "limits ignored": (
        "The limits are those of Llama models, whatever was given.",
        bug_of_rules(("yarn", "llama3"), _without_arguments("fast", "slow", "low", "high")),
    ),
    "ramp without the half": (
        "The ends of the ramp are found in dimensions instead of pairs.",
        bug_of_rules("yarn", _without_half),
    ),
    "factor inside the power": (
        "Slow pairs get (factor · base)^(−2i/d) instead of base^(−2i/d) / factor.",
        bug_of_rules("yarn", _factor_inside_power),
    ),
    "kept pairs by NTK's base": (
        "Kept pairs rotate by the larger base of NTK-aware scaling, not by the model's.",
        bug_of_rules("yarn", lambda g: _kept_by_ntk(g) if g["d"] > 2 else None),
    ),
    "ramp by the new length": (
        "Turns are counted in the extended length instead of the trained one.",
        bug_of_rules(
            ("yarn", "llama3"),
            lambda g: RULES[g["rule"]](
                g | {"trained_length": int(g["trained_length"] * g["factor"])}
            ),
        ),
    ),
    "attention_factor as multiplier": (
        "attention_factor multiplies YaRN's own temperature instead of replacing it.",
        bug_of_rules("yarn", _multiplied_factor),
    ),
    "attention_factor through the formula": (
        "The temperature is computed from attention_factor as if that were the factor.",
        bug_of_rules("yarn", _formula_again),
    ),
    "attention_factor ignored": (
        "attention_factor is not read, and the temperature is computed.",
        bug_of_rules(("yarn", "longrope"), _without_arguments("attention_factor")),
    ),
    "mscale ignored": (
        "mscale and mscale_all_dim are not read.",
        bug_of_rules(
            "yarn", lambda g: _factor(g, temperature(g["factor"])) if "mscale" in g else None
        ),
    ),
    "temperature forgotten": (
        "The attention factor is 1.",
        bug_of_rules(("yarn", "longrope"), lambda g: _factor(g, 1)),
    ),
    "temperature squared": (
        "The attention factor is that of scores, the square.",
        bug_of_rules(
            ("yarn", "longrope"),
            lambda g: _factor(g, RULES[g["rule"]](g)["attention_factor"] ** 2),
        ),
    ),
    "no blend": (
        "Pairs between the limits are divided in full.",
        bug_of_rules("llama3", _steps),
    ),
    "blend reversed": (
        "Between the limits the blend runs the wrong way.",
        bug_of_rules("llama3", _llama_reversed),
    ),
    "short factors never used": (
        "The long divisors hold at every length.",
        bug_of_rules("longrope", lambda g: _divided_by_length(g, "long")),
    ),
    "long factors never used": (
        "The short divisors hold at every length.",
        bug_of_rules("longrope", lambda g: _divided_by_length(g, "short")),
    ),
    "switched one too early": (
        "The long divisors hold from the trained length on, that included.",
        bug_of_rules("longrope", _early),
    ),
    "divisors multiply": (
        "Frequencies are multiplied by the divisors.",
        bug_of_rules(
            "longrope",
            lambda g: _with_frequencies(
                g,
                [
                    w * w / f
                    for w, f in zip(
                        omegas(g["d"], g["base"]), longrope(g)["frequencies"], strict=True
                    )
                ],
            ),
        ),
    ),
    "temperature of YaRN": (
        "The attention factor is YaRN's.",
        bug_of_rules("longrope", lambda g: _factor(g, temperature(g["factor"]))),
    ),
    "pairs inside the rotating part": (
        "Pairs that stand still are left out, so that others are paired inside the rotating part.",
        bug_of_rules("proportional", _without_still_pairs),
    ),
    "partial for proportional": (
        "All frequencies of the base are spread over the pairs that rotate.",
        bug_of_rules(
            "proportional",
            lambda g: answer(
                [
                    *(w / exact(g.get("factor", 1)) for w in omegas(g["rotary_d"], g["base"])),
                    *[exact(0)] * ((g["d"] - g["rotary_d"]) // 2),
                ]
            ),
        ),
    ),
    "factor ignored": (
        "The factor of a proportional rotation is not read.",
        bug_of_rules("proportional", lambda g: proportional(g | {"factor": 1})),
    ),
    "table of the longest": (
        "The base is that of factor times the trained length, at every length.",
        bug_of_rules(
            "dynamic", lambda g: dynamic(g | {"length": exact(g["factor"]) * g["trained_length"]})
        ),
    ),
    "one token too many": (
        "The length is taken one too high.",
        bug_of_rules(("dynamic", "longrope"), _one_longer),
    ),
    "one token too few": (
        "The length is taken one too low.",
        bug_of_rules(("dynamic", "longrope"), _one_shorter),
    ),
    "ramp ended at the last pair": (
        "The upper end of the ramp is at most d/2 − 1, the last pair, instead of d − 1.",
        bug_of_rules("yarn", lambda g: yarn(g | {"top": g["d"] // 2 - 1})),
    ),
    "ramp begun before the first pair": (
        "The lower end of the ramp is not raised to 0.",
        bug_of_rules("yarn", lambda g: yarn(g | {"bottom": -g["d"]})),
    ),
    "both ends rounded down": (
        "The upper end of the ramp is rounded down instead of up.",
        bug_of_rules("yarn", lambda g: yarn(g | {"rounded": (mp.floor, mp.floor)})),
    ),
    "trained length 8192": (
        "The trained length is that of Llama 3, whatever was given.",
        bug_of_rules("llama3", _with_arguments(trained_length=8192)),
    ),
    "ramp by a shorter length": (
        "Turns are counted in the trained length divided by the factor.",
        bug_of_rules(
            ("yarn", "llama3"),
            lambda g: _with_frequencies(
                g,
                RULES[g["rule"]](g | {"trained_length": exact(g["trained_length"]) / g["factor"]})[
                    "frequencies"
                ],
            ),
        ),
    ),
    "temperature without the one": (
        "The attention factor is ln(factor) / 10.",
        bug_of_rules("yarn", _own_temperature(lambda g: mp.log(exact(g["factor"])) / 10)),
    ),
    "temperature in the frequencies": (
        "Frequencies are multiplied by the attention factor.",
        bug_of_rules(("yarn", "longrope"), _heated),
    ),
    "divisors reversed": (
        "The divisors are read from the last pair to the first.",
        bug_of_rules("longrope", lambda g: longrope(g | _reversed_divisors(g))),
    ),
    "exponent d over d − 1": (
        "The exponent of the factor is d/(d−1) instead of d/(d−2).",
        bug_of_rules("ntk", _other_exponent),
    ),
    "ends rounded inwards": (
        "The lower end of the ramp is rounded up, and the upper one down.",
        bug_of_rules("yarn", lambda g: yarn(g | {"rounded": (mp.ceil, mp.floor)})),
    ),
    "blend not clipped": (
        "The blend goes on beyond its ends, below 0 and above 1.",
        bug_of_rules(("yarn", "llama3"), _unclipped),
    ),
    "slow pairs kept": (
        "Pairs that turn more slowly than the lower limit are not divided.",
        bug_of_rules("llama3", _slow_kept),
    ),
    "temperature by the extended length": (
        "The logarithm of the extended length stands in place of that of the trained one.",
        bug_of_rules("longrope", _own_temperature(_extended_temperature)),
    ),
    "still pairs in front": (
        "The pairs that stand still come first.",
        bug_of_rules("proportional", _still_in_front),
    ),
    "pairs counted in dimensions": (
        "As many pairs rotate as dimensions should.",
        bug_of_rules("proportional", lambda g: proportional(g | {"rotary_d": 2 * g["rotary_d"]})),
    ),
    "blend by wavelengths": (
        "The blend is linear in the wavelength instead of the turns.",
        bug_of_rules("llama3", _blend_by_wavelengths),
    ),
    "wavelengths blended": (
        "Wavelengths are blended instead of frequencies.",
        bug_of_rules("llama3", _blended_wavelengths),
    ),
    "powers of two": (
        "The base grows by 2^⌈log2(length/trained) + 1⌉ − 1, as in the first Qwen.",
        bug_of_rules("dynamic", _qwen),
    ),
    "temperature of long sequences alone": (
        "Up to the trained length the attention factor is 1.",
        bug_of_rules("longrope", _temperature_of_long),
    ),
    "mscale and mscale_all_dim exchanged": (
        "Each is read under the name of the other.",
        bug_of_rules("yarn", _scales(lambda one, every: every / one)),
    ),
    "mscale_all_dim ignored": (
        "The attention factor is the numerator alone.",
        bug_of_rules("yarn", _scales(lambda one, every: one)),
    ),
    "temperature by the decimal logarithm": (
        "The attention factor is computed with log10 instead of the natural logarithm.",
        bug_of_rules("yarn", _own_temperature(lambda g: 1 + mp.log10(exact(g["factor"])) / 10)),
    ),
    "temperature without the tenth": (
        "The attention factor is 1 + ln(factor).",
        bug_of_rules("yarn", _own_temperature(lambda g: 1 + mp.log(exact(g["factor"])))),
    ),
    "temperature without the root": (
        "The attention factor is 1 + ln(factor) / ln(trained), without the square root.",
        bug_of_rules("longrope", _own_temperature(lambda g: longrope_factor(g) ** 2)),
    ),
    "factor applied twice": (
        "Frequencies are scaled twice, by the square of the factor.",
        bug_of_rules(("linear", "ntk", "yarn", "llama3", "proportional"), _factor_twice),
    ),
    "short and long factors exchanged": (
        "The long divisors hold up to the trained length, and the short ones beyond.",
        bug_of_rules("longrope", _divisors_exchanged),
    ),
}

DEEPSEEK = "mscale alone counts"


def _deepseek(g: Inputs) -> Inputs | None:
    """Return the attention factor of DeepSeek's code, with 1 for mscale and 0 for the other."""
    g = {"base": 10000} | g
    top = temperature(g["factor"], g.get("mscale", 1))
    return _factor(g, top / temperature(g["factor"], g.get("mscale_all_dim", 0)))


SMALLER = "factor below 1 computed"
SHRUNK = "A factor below 1 is put into the rule like any other, and shortens the context."
CONVENTIONS: dict[str, tuple[str, Answer]] = {
    DEEPSEEK: (
        "Of mscale and mscale_all_dim one is missing: DeepSeek's code takes 1 for the first and 0"
        " for the second, transformers ignores both.",
        _deepseek,
    ),
    SMALLER: (SHRUNK, expected_answer),
}

BASES = (10000, 500000, 1e6)


def frequencies_suite() -> Suite:
    """Return suite frequencies."""
    suite = Suite(
        "frequencies",
        "The frequency of each pair of a head of width d, in radians per position, under a scaling"
        ' rule. base is 10000 if it is not given, ramp "pairs", truncate true, fast 32, slow 1, low'
        " 1, high 4.",
        "frequencies, d/2 numbers, and attention_factor, by which queries and keys are also"
        " multiplied; 1 if the rule has no such factor.",
        expected_answer,
        BUGS,
        CONVENTIONS,
        tolerance=lambda inputs, expected: power_tolerance(),
    )
    add = suite.add
    for d in (2, 4, 6, 8, 10, 16, 32, 64):
        add("default", {"rule": "default", "d": d}, "default")
        for base in (100, 500000, 1e6, 123456.5):
            add("default", {"rule": "default", "d": d, "base": base}, "base")
    for d in (4, 8, 16):
        for factor in (1, 2, 4, 8.5):
            for base in (10000, 500000):
                inputs = {"d": d, "factor": factor, "base": base}
                add("linear", {"rule": "linear"} | inputs)
                add("ntk", {"rule": "ntk"} | inputs)
    for d in (4, 8, 16):
        for trained, factor in ((2048, 2), (4096, 1), (8192, 4.5)):
            for length in (1, trained - 1, trained, trained + 1, 2 * trained, 5 * trained + 7):
                inputs = {"d": d, "length": length, "factor": factor, "trained_length": trained}
                edge = ("edge",) if abs(length - trained) < 2 else ()
                add("dynamic", {"rule": "dynamic", "base": 10000} | inputs, "length", *edge)
    _add_yarn(suite)
    _add_llama3(suite)
    _add_longrope(suite)
    for d, turning in ((8, 2), (8, 4), (8, 8), (16, 4), (16, 12), (32, 8)):
        for factor in (1, 4):
            for base in (10000, 1e6):
                inputs = {"d": d, "rotary_d": turning, "factor": factor, "base": base}
                add("proportional", {"rule": "proportional"} | inputs, "partial")
    for d, trained in ((8, 131072), (16, 131072), (8, 128), (16, 96)):
        ends: Inputs = {"rule": "yarn", "d": d, "factor": 4, "trained_length": trained}
        add("yarn-ends", ends | {"base": 10000, "ramp": "pairs"}, "limits", "edge")
    _add_refused(suite)
    return suite


def _add_yarn(suite: Suite) -> None:
    for d in (8, 16, 32):
        for factor, trained in ((2, 512), (4, 4096), (16, 2048), (40, 4096)):
            for base in (10000, 500000):
                inputs = {"rule": "yarn", "d": d, "factor": factor, "trained_length": trained}
                suite.add("yarn", inputs | {"base": base, "ramp": "pairs"})
                untruncated = {"ramp": "pairs", "truncate": False}
                suite.add("yarn", inputs | {"base": base} | untruncated, "truncate")
    for d in (8, 16):
        for factor, trained in ((4, 256), (8, 4096), (32, 1024)):
            inputs = {"rule": "yarn", "d": d, "factor": factor, "trained_length": trained}
            suite.add("yarn", inputs | {"base": 10000, "ramp": "turns"}, "ramp by turns")
    for d in (16, 32):
        for fast, slow in ((8, 1), (4, 0.5), (64, 2), (32, 4)):
            limits: Inputs = {"rule": "yarn", "d": d, "factor": 8, "trained_length": 4096}
            limits |= {"base": 10000, "fast": fast, "slow": slow, "ramp": "pairs"}
            suite.add("yarn", limits, "limits")
            suite.add("yarn", limits | {"truncate": False}, "limits", "truncate")
    inputs = {"rule": "yarn", "d": 16, "trained_length": 4096, "base": 10000, "ramp": "pairs"}
    for factor in (4, 40):
        for scale, other in ((1, 1), (0.707, 1), (1, 0.707), (0.707, 0.707), (2, 1)):
            scales = {"factor": factor, "mscale": scale, "mscale_all_dim": other}
            suite.add("yarn-mscale", inputs | scales, "attention factor")
        for scale in (0.5, 1, 1.5):
            one = {"factor": factor, "mscale": scale}
            suite.add("yarn-mscale", inputs | one, "attention factor", acceptable=[DEEPSEEK])
            one = {"factor": factor, "mscale_all_dim": scale}
            suite.add("yarn-mscale", inputs | one, "attention factor", acceptable=[DEEPSEEK])
        for attention in (1, 1.25, 0.5):
            fixed = {"factor": factor, "attention_factor": attention}
            suite.add("yarn-factor", inputs | fixed, "attention factor")


def _add_llama3(suite: Suite) -> None:
    for d in (8, 16, 32):
        for factor, trained, base in ((8, 8192, 500000), (32, 8192, 500000), (4, 512, 10000)):
            inputs = {"rule": "llama3", "d": d, "factor": factor, "trained_length": trained}
            suite.add("llama3", inputs | {"base": base, "low": 1, "high": 4})
            suite.add("llama3", inputs | {"base": base, "low": 2, "high": 8}, "limits")
            suite.add("llama3", inputs | {"base": base, "low": 1, "high": 32}, "limits")
    for d in (8, 16):
        inputs = {"rule": "llama3", "d": d, "factor": 16, "trained_length": 8192, "base": 500000}
        suite.add("llama3", inputs | {"low": 1, "high": 1}, "limits", "edge")


def _add_longrope(suite: Suite) -> None:
    for d in (4, 8, 12):
        short = [1 + i / 16 for i in range(d // 2)]
        long = [1 + i * i / 2 for i in range(d // 2)]
        for trained, factor in ((4096, 32), (2048, 2), (8192, 4)):
            for length in (1, trained, trained + 1, 3 * trained):
                inputs = {"rule": "longrope", "d": d, "length": length, "short": short}
                inputs |= {"long": long, "trained_length": trained, "factor": factor}
                edge = ("edge",) if trained <= length <= trained + 1 else ()
                suite.add("longrope", inputs | {"base": 10000}, "length", *edge)
        for attention in (1, 1.25):
            fixed = inputs | {"attention_factor": attention, "base": 10000}
            suite.add("longrope-factor", fixed, "attention factor")


def _add_refused(suite: Suite) -> None:
    plain: Inputs = {"rule": "default", "d": 8, "base": 10000}
    for d in (0, -2, 3, 7):
        suite.refuse(plain | {"d": d}, "width")
    for base in (0, -10000):
        suite.refuse(plain | {"base": base}, "base")
    scaled: Inputs = plain | {"rule": "linear"}
    for factor in (0, -2, 0.5):
        accepted = [SMALLER] if factor > 0 else []
        suite.refuse(scaled | {"factor": factor}, "factor", acceptable=accepted)
        suite.refuse(scaled | {"rule": "ntk", "factor": factor}, "factor", acceptable=accepted)
    suite.refuse(plain | {"rule": "ntk", "d": 2, "factor": 2}, "width")
    trained: Inputs = plain | {"factor": 2, "trained_length": 0}
    suite.refuse(trained | {"rule": "yarn", "ramp": "pairs"}, "length")
    suite.refuse(trained | {"rule": "llama3", "low": 1, "high": 4}, "length")
    suite.refuse(trained | {"rule": "dynamic", "length": 5}, "length")
    suite.refuse(trained | {"rule": "dynamic", "length": 0, "trained_length": 16}, "length")
    limits: Inputs = plain | {"factor": 2, "trained_length": 64}
    suite.refuse(limits | {"rule": "yarn", "fast": 1, "slow": 32, "ramp": "pairs"}, "limits")
    suite.refuse(limits | {"rule": "llama3", "low": 4, "high": 1}, "limits")
    divisors = {"short": [1, 1, 1, 1], "long": [2, 2, 2, 2]}
    inputs = plain | {"rule": "longrope", "length": 9, "trained_length": 8, "factor": 2} | divisors
    suite.refuse(inputs | {"short": [1, 1, 1]}, "shape")
    suite.refuse(inputs | {"long": [2] * 5}, "shape")
    suite.refuse(inputs | {"long": [2, 2, 2, 0]}, "divisors")
    suite.refuse(inputs | {"short": [1, 1, 1, -1]}, "divisors")
    suite.refuse(plain | {"rule": "proportional", "rotary_d": 10}, "partial")
    suite.refuse(plain | {"rule": "proportional", "rotary_d": 3}, "partial")
    suite.refuse(plain | {"rule": "other", "factor": 2}, "unknown rule")
