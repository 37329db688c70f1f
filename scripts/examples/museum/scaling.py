"""Exhibits about rules for longer texts, and about settings that nobody reads."""

from typing import Any

import numpy as np

from posenc import frequencies, longrope_temperature, yarn_frequencies, yarn_temperature

BASES = {"full_attention": "rope_theta", "sliding_attention": "rope_local_base_freq"}


def multiplied(
    rule: str, d: int, factor: float, attention_factor: float | None = None, **limits: Any
) -> Any:
    """Return YaRN whose attention factor is multiplied by the one that it replaces."""
    unsupported(rule, "yarn", limits)
    scale = 0.1 * np.log(factor) + 1
    if attention_factor is not None:
        scale = scale * attention_factor  # attention_factor is already the whole factor
    omega = yarn_frequencies(d, factor=factor, **limits)
    return {"frequencies": omega, "attention_factor": scale}


def whole_pairs(
    rule: str, d: int, factor: float, trained_length: int, base: float, **limits: Any
) -> Any:
    """Return YaRN whose ramp begins and ends at whole pairs, whatever truncate says."""
    unsupported(rule, "yarn", limits)
    turns = np.array([limits.get("fast", 32), limits.get("slow", 1)])
    low, high = d * np.log(trained_length / (2 * np.pi * turns)) / (2 * np.log(base))
    low, high = max(np.floor(low), 0), min(np.ceil(high), d - 1)  # ignores truncate
    slowed = np.clip((np.arange(d // 2) - low) / max(high - low, 0.001), 0, 1)
    omega = frequencies(d, base=base) * (1 - slowed + slowed / factor)
    return {"frequencies": omega, "attention_factor": 0.1 * np.log(factor) + 1}


def factor_inside_power(
    rule: str, d: int, factor: float, trained_length: int, base: float, **limits: Any
) -> Any:
    """Return YaRN whose slow pairs have the factor inside of the power."""
    unsupported(rule, "yarn", limits)
    limits |= {"trained_length": trained_length, "base": base}
    omega = frequencies(d, base=base)
    slowed = 1 - yarn_frequencies(d, factor=1e12, **limits) / omega  # 1 where YaRN slows in full
    slow = (factor * base) ** (-np.arange(0, d, 2) / d)  # should be base ** (…) / factor
    blend = (1 - slowed) * omega + slowed * slow
    return {"frequencies": blend, "attention_factor": 0.1 * np.log(factor) + 1}


def constant(
    rule: str, d: int, length: int, factor: float, trained_length: int, base: float
) -> Any:
    """Return dynamic NTK with one table for all lengths."""
    unsupported(rule, "dynamic", {})
    longest = factor * trained_length  # the longest length allowed; ignores length
    stretch = factor * longest / trained_length - (factor - 1)
    omega = frequencies(d, base=base * stretch ** (d / (d - 2)))
    return {"frequencies": omega, "attention_factor": 1.0}


def one_too_early(
    rule: str, length: int, trained_length: int, factor: float, short: Any, long: Any, **inputs: Any
) -> Any:
    """Return LongRoPE that takes the long divisors at exactly the trained length."""
    unsupported(rule, "longrope", inputs)
    divisors = short if length < trained_length else long  # should be <=
    omega = frequencies(inputs["d"], base=inputs["base"]) / np.array(divisors)
    scale = longrope_temperature(factor, trained_length)
    return {"frequencies": omega, "attention_factor": scale}


def ten_thousand(config: Any, length: int | None = None) -> Any:
    """Return the frequencies of a configuration whose rope_theta nobody reads."""
    inner = config.get("rope_parameters", {})
    unsupported(inner.get("rope_type", "default"), "default", config)
    width = config["hidden_size"] // config["num_attention_heads"]
    omega = frequencies(config.get("head_dim", width))  # the default base, 10000
    return {"frequencies": omega, "attention_factor": 1.0}


def factor_of_lengths(config: Any, length: int | None = None) -> Any:
    """Return YaRN whose factor is the ratio of two lengths."""
    rule = config.get("rope_scaling", {})
    unsupported(rule.get("rope_type", "default"), "yarn", {})
    trained = rule["original_max_position_embeddings"]
    factor = config["max_position_embeddings"] / trained  # ignores rule["factor"]
    limits = {"trained_length": trained, "base": config["rope_theta"], "ramp": "pairs"}
    omega = yarn_frequencies(config["head_dim"], factor=factor, **limits)
    return {"frequencies": omega, "attention_factor": yarn_temperature(factor)}


def windows_scaled(config: Any, length: int | None = None) -> Any:
    """Return the frequencies of all layers, scaled whether a layer has a window or not."""
    bases = {kind: config.get(name, 0) for kind, name in BASES.items()}
    unsupported("linear" if all(bases.values()) else "default", "linear", {})
    factor = config.get("rope_scaling", {}).get("factor", 1)
    layers = [
        frequencies(config["head_dim"], base=bases[kind]) / factor  # should not divide for a window
        for kind in config["layer_types"]
    ]
    return {"layers": [{"frequencies": omega, "attention_factor": 1.0} for omega in layers]}


def unsupported(rule: str, ours: str, inputs: Any) -> None:
    """Raise NotImplementedError unless an exhibit has this rule, with these settings."""
    others = {"mscale", "mscale_all_dim", "rope_scaling", "attention_factor"} & set(inputs)
    if rule != ours or others or inputs.get("ramp") == "turns":
        raise NotImplementedError(f"{rule} with {', '.join(inputs)}")
