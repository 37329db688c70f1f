"""The base, the lengths and the rule of the frequencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from posenc._arguments import LARGEST, _shown
from posenc.config.diffusion import KIND, PART_WIDTHS, checked_widths
from posenc.config.entries import Entries, agreed, refuse_unknown
from posenc.config.families import (
    ALPHA,
    BASE,
    FIXED,
    META,
    MULTIPLIED,
    ORIGINAL,
    REMOTE,
    SHARE,
    STEPPING,
    WIDTH,
)
from posenc.config.head import Head
from posenc.config.keys import (
    ATTENTION,
    ATTN,
    BASES,
    CHUNKS,
    COMMON,
    EXTRAPOLATION,
    LENGTHS,
    OF_YARN,
    RATIO,
    RULES,
    SAME_LENGTHS,
    SCALE,
    STEPS,
    TELECHAT,
    TRAINED,
    type_of,
)
from posenc.config.layers import Reading, Section
from posenc.rotary.scaling import FAST, SLOW, longrope_temperature, yarn_temperature

# What is said where the base is missing.
LOST = (
    "Compare it with the base in training or in an earlier file: transformers 5 loses rope_theta if"
    " the mapping around it is replaced."
)
# How a note begins where the trained length is missing beside a rule, on standard error as well.
UNGIVEN = f"{ORIGINAL} is not given"


class Rule(NamedTuple):
    """How it is rotated; see `RotaryConfig`."""

    scheme: str
    base: float | None = None
    factor: float = 1.0
    trained_length: int | None = None
    length: int | None = None
    attention_factor: float = 1.0
    softmax_factor: float = 1.0
    settings: Mapping[str, Any] = {}
    base_given: bool = True  # whether the base is in the file
    assumed: bool = False  # whether the promised length is taken for the trained one


def rule_of(reading: Reading, section: Section, head: Head) -> Rule:
    """Return how layers that rotate are rotated."""
    entries = section.entries
    kind = type_of(entries)
    scheme = "ntk" if kind == "dynamic" and "alpha" in entries else kind
    if scheme == "fixed-ntk" and reading.known and reading.kind not in FIXED:
        raise ValueError(
            f'{entries.path("type")} must not be "ntk" with model type {_shown(reading.kind)},'
            " which has no such rule"
        )
    if scheme == "ntk" and reading.known and reading.kind not in ALPHA:
        raise ValueError(
            f"{entries.path('alpha')} must be in a configuration of HunYuan, the only model that"
            f" reads it; got model type {_shown(reading.kind)}"
        )
    refuse_unknown(entries, COMMON | RULES[scheme], f'rope_type "{kind}"')
    if scheme == "default":
        scheme = _outer_scheme(reading)
    if kind == "dynamic" and head.rotary_d < 4:
        raise ValueError(
            f'{WIDTH} must be 4 or more with rope_type "{kind}"; got a rotated width of'
            f" {head.rotary_d}"
        )
    (base, given), length = _base_of(reading, section), promised_length(reading.entries)
    start = Rule(scheme, base, 1.0, length, length, base_given=given)
    rule = READERS[scheme](reading, entries, head, start)
    if rule.length is not None and rule.length > LARGEST:
        raise ValueError(
            f"{entries.path('factor')} must promise at most 2**53 positions; got {rule.factor:g}"
        )
    return rule


def _outer_scheme(reading: Reading) -> str:
    """Return the rule that a key outside of a section names, as in code that comes with weights."""
    if reading.entries.flag(STEPS, False) and (reading.kind in STEPPING or not reading.known):
        return "ntk-steps"
    if reading.kind == KIND and PART_WIDTHS in reading.entries:
        return "axial"
    return (
        "linear"
        if reading.entries.number(SCALE, least=0, above=True) not in (None, 1)
        else "default"
    )


def _base_of(reading: Reading, section: Section) -> tuple[float, bool]:
    """Return the base, which a model type may take for given, and whether the file has it."""
    entries = section.entries
    if BASE in entries.mapping and BASE not in entries:
        raise ValueError(
            f"{entries.path(BASE)} must be the base that the model was trained with; got null, as"
            " transformers 5 writes it after config.rope_scaling = ..., and cannot load it"
        )
    bases = {entries.path(BASE): entries.number(BASE, least=1, above=True)}
    if not section.apart:
        outer = reading.entries
        bases |= {outer.path(key): outer.number(key, least=1, above=True) for key in BASES}
        bases |= _base_of_attention(outer)
    base: float | None = agreed(bases)
    given = [path for path, one in bases.items() if one is not None]
    if base is None and not reading.known:
        raise ValueError(
            f"{BASE} must be given, as the default of this model type is not known; got none"
        )
    if base is None:
        base = reading.defaults[BASE]
        taker = "The code of this model" if reading.kind in REMOTE else "transformers"
        said = f"{BASE} is not given. {taker} uses {base:.15g} for this model type."
        lost = "" if reading.kind in REMOTE else f" {LOST}"
        reading.notes.append(said + lost)
        return _times_ratio(reading, base), False
    if given == [f"rope_parameters.{BASE}"] and _is_inside(reading):
        reading.notes.append(
            f"{BASE} is in rope_parameters. A program that looks for it outside uses its own"
            " default, as DeepSpeed did (PR 8345)."
        )
    elif given == [*_base_of_attention(reading.entries)]:
        said = f"{BASE} is in {ATTENTION}. A program that looks for it outside uses its own default"
        if reading.known:
            said += f", as transformers 5.24 does: {reading.defaults[BASE]:.15g}"
        reading.notes.append(f"{said}.")
    completed = reading.completed and section.entries.place.startswith("rope_parameters.")
    return _times_ratio(reading, base), section.base_given and not completed


def _times_ratio(reading: Reading, base: float) -> float:
    """Return the base times `rope_ratio`, if that is given."""
    ratio = reading.entries.number(RATIO, least=0, above=True)
    if ratio is None:
        return base
    if reading.kind not in MULTIPLIED:
        raise ValueError(
            f"{reading.entries.path(RATIO)} must be a key that is read, as only with model type"
            f' "chatglm"; got {_shown(reading.entries.mapping[RATIO])}'
        )
    reading.notes.append(
        f"{RATIO} multiplies the base, as in the code of ChatGLM (rtp-llm, chat_glm_v3.py)."
    )
    return base * ratio


def _is_inside(reading: Reading) -> bool:
    """Say whether rope_parameters are in the file, not those of the model type or put together."""
    return not reading.completed and "rope_parameters" in reading.entries


def _base_of_attention(entries: Entries) -> dict[str, float | None]:
    """Return the base in the settings of attention, by its name, as DBRX has it."""
    if not isinstance(entries.mapping.get(ATTENTION), Mapping):
        return {}
    attention = entries.within(ATTENTION)
    return {attention.path(BASE): attention.number(BASE, least=1, above=True)}


def promised_length(entries: Entries) -> int | None:
    """Return the length that a configuration promises."""
    given = {entries.path(key): entries.integer(key) for key in SAME_LENGTHS}
    if TRAINED in entries:  # one of them is the trained length
        return max((length for length in given.values() if length), default=None)
    agreed(given)
    return next((entries.integer(key) for key in LENGTHS if key in entries), None)


def _original(reading: Reading, entries: Entries, length: int | None) -> int | None:
    """Return the length before the context was extended."""
    outer = reading.entries
    places = [(outer, ORIGINAL), (outer, TRAINED), (entries, ORIGINAL)]
    original: int | None = agreed({x.path(key): x.integer(key, least=2) for x, key in places})
    if original is not None and length is not None and length < original:
        reading.notes.append(
            f"{ORIGINAL} is {original}, more than {LENGTHS[0]}, {length}. transformers uses the"
            " former as the length before the rule was applied."
        )
    return original


def _factor(entries: Entries) -> float:
    """Return the factor, which must be there."""
    return entries.required_number("factor", least=1)


def _required_length(reading: Reading, length: int | None, scheme: str, *, least: int = 1) -> int:
    """Return a length that the rule cannot do without."""
    path = reading.entries.path(LENGTHS[0])
    if length is None:
        raise ValueError(f'{path} must be given with rope_type "{scheme}"; got none')
    if length < least:
        raise ValueError(f'{path} must be {least} or more with rope_type "{scheme}"; got {length}')
    return length


def _note_missing(reading: Reading, original: int | None, trained: int) -> None:
    """Note which length is taken for the trained one where that is not given."""
    if original is None:
        reading.notes.append(
            f"{UNGIVEN}. transformers uses {LENGTHS[0]}, {trained}. This answer holds only if"
            " sequences in training were that long: if they were shorter, set the key to their"
            " length."
        )


def _read_default(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    original = _original(reading, entries, rule.length) or _chunked_length(reading)
    assumed = original is None and rule.length is not None
    return rule._replace(trained_length=original or rule.length, assumed=assumed)


def _chunked_length(reading: Reading) -> int | None:
    """Return the length before attention went by chunks, as in Qwen2.5-1M."""
    chunks = reading.entries.within(CHUNKS)
    original = chunks.integer(ORIGINAL, least=2)
    if original is not None:
        reading.notes.append(
            f"{chunks.path(ORIGINAL)} is {original}. vLLM attends in chunks, so that no distance is"
            " larger than that; transformers does not read it."
        )
    return original


def _read_linear(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    original = _original(reading, entries, rule.length)
    scale = reading.entries.number(SCALE, least=0, above=True)
    factor = _factor(entries) if scale is None else 1 / scale
    if original is None and factor != 1:
        reading.notes.append(
            f'With "linear", {LENGTHS[0]} is the length before scaling to some programs, and the'
            f" length after it to others: vLLM multiplies it by the factor, {factor:g}, and"
            " transformers does not. So the trained length is open."
        )
    trained = rule.length if factor == 1 else original
    return rule._replace(factor=factor, trained_length=trained)


def _read_dynamic(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    factor, trained = _factor(entries), _required_length(reading, rule.length, "dynamic")
    reading.notes.append(
        "The frequencies depend on the length of the whole sequence. transformers goes by the"
        " longest it has read so far, and keys in its cache keep the earlier frequencies (issue"
        " 25104)."
    )
    return rule._replace(factor=factor, length=int(trained * factor))


def _read_steps(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    trained = reading.entries.integer("seq_length") or rule.length
    reading.notes.append(
        f"Beyond {trained} positions the base grows with each doubling of the length, as in the"
        " code of Qwen-7B, whose scores are also scaled by the logarithm of the position if"
        " use_logn_attn says so."
    )
    return rule._replace(trained_length=_required_length(reading, trained, STEPS))


def _read_axial(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    outer = reading.entries
    widths = checked_widths(outer, PART_WIDTHS, outer.mapping[PART_WIDTHS])
    agreed({outer.path(WIDTH): head.rotary_d, f"the sum of {PART_WIDTHS}": sum(widths)})
    return rule._replace(settings={"widths": tuple(widths)})


def _read_fixed_ntk(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    reading.notes.append(
        "The base is larger at every length, and all pairs are slowed in addition:"
        " NTKScalingRotaryEmbedding in the code that comes with the weights, and in vLLM."
        " transformers has no such rule."
    )
    return rule._replace(factor=_factor(entries))


def _read_ntk(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    unread = entries.given(["factor", *sorted(OF_YARN)])
    for key in unread:
        entries.number(key, least=0)
    verb = "has" if len(unread) == 1 else "have"
    said = f" {', '.join(unread)} {verb} no effect." if unread else ""
    reading.notes.append(f"With alpha, the base is larger at every length.{said}")
    if reading.kind not in ALPHA:
        reading.notes.append(
            "It is unclear whether alpha is read, as this model type is not known: transformers"
            " reads it only for HunYuan, vLLM for every model."
        )
    return rule._replace(factor=entries.required_number("alpha", least=1))


def _read_llama3(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    factor = _factor(entries)
    given = _original(reading, entries, rule.length)
    original = _required_length(reading, given or rule.length, "llama3")
    _note_missing(reading, given, original)
    low = entries.required_number("low_freq_factor", least=0, above=True)
    high = entries.required_number("high_freq_factor", least=0, above=True)
    _check_order(entries, low_freq_factor=low, high_freq_factor=high)
    is_open = rule.length is None and reading.kind == META
    if is_open:
        reading.notes.append(
            f"The file does not say how long sequences were after scaling: {original} is the length"
            " before. The model card, or the config.json of the model, has the other."
        )
    return rule._replace(
        factor=factor,
        trained_length=original,
        length=None if is_open else rule.length or int(original * factor),
        settings={"low": low, "high": high},
    )


def _check_order(entries: Entries, **limits: float) -> None:
    """Raise ValueError if the second limit is below the first."""
    (first, low), (second, high) = limits.items()
    if high < low:
        raise ValueError(f"{entries.path(second)} must be at least {first}, {low:g}; got {high:g}")


def _read_yarn(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    promised = agreed(
        {x.path(LENGTHS[0]): x.integer(LENGTHS[0]) for x in (reading.entries, entries)}
    )
    promised = promised or rule.length
    original = _original(reading, entries, promised)
    trained = _required_length(reading, original or promised, "yarn")
    _note_missing(reading, original, trained)
    left_open = "factor" in entries.mapping and "factor" not in entries  # null
    factor = max(promised / trained, 1.0) if left_open and promised else _factor(entries)
    length = round(factor * trained)
    if promised not in (None, trained, length):
        reading.notes.append(
            f"{LENGTHS[0]} is {promised}, but factor times {ORIGINAL} is {length}. transformers"
            " warns and goes by the factor."
        )
    fast = entries.number("beta_fast", least=0, above=True) or FAST
    slow = entries.number("beta_slow", least=0, above=True) or SLOW
    _check_order(entries, beta_slow=slow, beta_fast=fast)
    truncate = entries.flag("truncate", True)
    if not truncate:
        reading.notes.append(
            "The ramp is not truncated to integer pairs. mlx-lm 0.32.2 and llama.cpp truncate it"
            " all the same; vLLM did before PR 28244."
        )
    if not entries.flag("apply_yarn_scaling", True):
        reading.notes.append(
            "apply_yarn_scaling is false: in that case vLLM used to leave rotated dimensions"
            " unscaled. Neither vLLM 0.33 nor transformers reads it."
        )
    if entries.number(EXTRAPOLATION, least=0) not in (None, 1):
        raise ValueError(
            f"{entries.path(EXTRAPOLATION)} must be 1; got {_shown(entries.mapping[EXTRAPOLATION])}"
        )
    attention, softmax = _yarn_factors(reading, entries, head, factor)
    attn = entries.number(ATTN, least=0, above=True)
    if attn is not None:
        reading.notes.append(
            f"{ATTN} is {attn:g}. Neither transformers nor vLLM 0.33 reads it; SGLang 0.5.23 and"
            " older versions of vLLM multiply the attention factor by it, which makes"
            f" {attention * attn:.10g}."
            " attention_factor is a different setting: the factor itself."
        )
    return rule._replace(
        factor=factor,
        trained_length=trained,
        length=length,
        attention_factor=attention,
        softmax_factor=softmax,
        settings={"fast": fast, "slow": slow, "truncate": truncate},
    )


def _yarn_factors(
    reading: Reading, entries: Entries, head: Head, factor: float
) -> tuple[float, float]:
    """Return by how much YaRN scales rotated dimensions, and by how much the scores beside."""
    given = entries.number("attention_factor", least=0, above=True)
    mscale, everywhere = (entries.number(key, least=0) for key in ("mscale", "mscale_all_dim"))
    notes = reading.notes
    if given is not None:
        notes.append(
            "attention_factor is the factor itself. SGLang 0.5.23 reads it only for a few models;"
            " for one of them, Laguna, it was multiplied by YaRN's factor (PR 33558), as in"
            " TensorRT-LLM (PR 16379). mlx-lm 0.32.2 does not read it."
        )
        if mscale or everywhere:
            notes.append("mscale and mscale_all_dim give way to attention_factor.")
    elif TELECHAT in (entries.text("rope_type"), entries.text("type")):
        given = yarn_temperature(factor, mscale=0.7)
        notes.append(
            "TeleChat3's factor is 1 + 0.07 ln factor (vLLM 0.33, transformers_utils/config.py);"
            f" mlx-lm 0.32.2 takes YaRN's, {yarn_temperature(factor):.10g}."
        )
    elif mscale and everywhere:
        given = yarn_temperature(factor, mscale=mscale)
        given /= yarn_temperature(factor, mscale=everywhere)
        notes.append(
            "A program that does not read mscale uses a different attention factor, as vLLM did"
            " before it read mscale (issue 48621)."
        )
    else:
        given = yarn_temperature(factor)
        if mscale or everywhere:
            notes.append(
                "One of mscale and mscale_all_dim is missing, or 0, so transformers ignores both."
                " DeepSeek's code takes 1 for the first and 0 for the second."
            )
    softmax = 1.0
    if head.latent and everywhere:
        softmax = yarn_temperature(factor, mscale=everywhere) ** 2
        notes.append(
            "All scores are scaled too, by the square of the temperature with mscale_all_dim."
            " Without this scaling, positions after the first are wrong (onnxruntime/mobius, PR"
            " 548)."
        )
    entries.flag("finetuned", False)  # of no effect
    if entries.number("llama_4_scaling_beta", least=0) is not None:
        notes.append("Besides being rotated, queries are also scaled, depending on their position.")
    return given, softmax


def _read_longrope(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    original = _original(reading, entries, rule.length)
    trained = _required_length(reading, original or rule.length, "longrope", least=2)
    _note_missing(reading, original, trained)
    factor = entries.number("factor", least=1)
    if factor is None:
        factor = max(_required_length(reading, rule.length, "longrope") / trained, 1.0)
    pairs = head.rotary_d // 2
    scales = {
        key: entries.number(key, least=0, above=True) for key in ("short_mscale", "long_mscale")
    }
    given = agreed(
        {entries.path("attention_factor"): entries.number("attention_factor", least=0, above=True)}
        | {entries.path(key): scale for key, scale in scales.items()}
    )
    reading.notes.append(
        f"Up to {trained} positions the short divisors apply, beyond them the long ones, to all"
        " tokens of a sequence. mlx-lm 0.32.2 never uses the short ones; vLLM goes by the longest"
        " sequence it is set up for (PR 27431)."
    )
    return rule._replace(
        factor=factor,
        trained_length=trained,
        length=rule.length or round(factor * trained),
        attention_factor=given or longrope_temperature(factor, trained),
        settings={
            "short": entries.numbers("short_factor", pairs),
            "long": entries.numbers("long_factor", pairs),
        },
    )


def _read_proportional(reading: Reading, entries: Entries, head: Head, rule: Rule) -> Rule:
    turning = 2 * int(head.share * head.d // 2)
    if turning < 2:
        raise ValueError(
            f"{entries.path(SHARE)} must leave a pair to rotate; got {head.share:g} of {head.d}"
        )
    factor = entries.number("factor", least=1) or 1.0
    return rule._replace(factor=factor, settings={"rotary_d": turning})


READERS: dict[str, Callable[[Reading, Entries, Head, Rule], Rule]] = {
    "default": _read_default,
    "linear": _read_linear,
    "dynamic": _read_dynamic,
    "ntk": _read_ntk,
    "ntk-steps": _read_steps,
    "axial": _read_axial,
    "fixed-ntk": _read_fixed_ntk,
    "yarn": _read_yarn,
    "longrope": _read_longrope,
    "llama3": _read_llama3,
    "proportional": _read_proportional,
}
