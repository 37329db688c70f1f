"""Suite config: whole configurations, in the format of transformers, to frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scripts.vectors.cases import Answer, Suite, power_tolerance
from scripts.vectors.exact import exact
from scripts.vectors.frequencies import BUGS as OF_RULES
from scripts.vectors.frequencies import RULES, SHRUNK, SMALLER, temperature

Inputs = dict[str, Any]
SHARES = ("partial_rotary_factor", "rotary_pct")
YARN = {"beta_fast": "fast", "beta_slow": "slow"}
LLAMA = {"low_freq_factor": "low", "high_freq_factor": "high"}


def settings(config: Inputs) -> Inputs:
    """Return the entries of the rule, in either spelling."""
    return config.get("rope_parameters") or config.get("rope_scaling") or {}


def parameters(inputs: Inputs) -> Inputs:
    """Return the arguments of suite frequencies that a configuration amounts to."""
    config = inputs["config"]
    entries = settings(config)
    head = config.get("qk_rope_head_dim") or config.get("head_dim")
    head = head or config["hidden_size"] // config["num_attention_heads"]
    rule = entries.get("rope_type", entries.get("type", "default"))
    share = next((x[key] for x in (config, entries) for key in SHARES if key in x), 1)
    promised = config.get("max_position_embeddings")
    trained = entries.get(
        "original_max_position_embeddings",
        config.get("original_max_position_embeddings", promised),
    )
    found: Inputs = {
        "rule": rule,
        "d": config.get("rotary_dim") or int(head * share),
        "base": entries.get("rope_theta", config.get("rope_theta", 10000)),
        "trained_length": trained,
        "length": inputs.get("length") or 1,
    }
    found |= {
        key: entries[key] for key in ("factor", "truncate", "attention_factor") if key in entries
    }
    found |= {key: entries[key] for key in ("mscale", "mscale_all_dim") if key in entries}
    found |= {ours: entries[key] for key, ours in (YARN | LLAMA).items() if key in entries}
    if rule == "longrope":
        found |= {"short": entries["short_factor"], "long": entries["long_factor"]}
        found.setdefault("factor", exact(promised or trained) / trained)
    if rule == "proportional":
        found |= {"d": head, "rotary_d": 2 * int(share * head // 2)}
    return found


def expected_answer(inputs: Inputs, **other: Any) -> Inputs:
    """Return the answer to an input, some arguments of which may be replaced."""
    if has_layers(inputs["config"]):
        return {"layers": [layer_answer(inputs, one) for one in layers(inputs["config"])]}
    found = parameters(inputs) | other
    scaled = RULES[found["rule"]](found)
    if inputs["config"]["model_type"] in DEEPSEEK:
        scaled |= {"softmax_factor": softmax_factor(found)}
    return scaled


DEEPSEEK = ("deepseek_v3",)
LOCAL_BASES = ("rope_local_base_freq", "local_rope_theta")
FULL, SLIDING = "full_attention", "sliding_attention"


def softmax_factor(found: Inputs) -> Any:
    """Return by how much the scores are scaled in addition, in models that do so."""
    every = found.get("mscale_all_dim")
    return temperature(found["factor"], every) ** 2 if every else exact(1)


def has_layers(config: Inputs) -> bool:
    """Return whether the layers of a model differ."""
    return any(key in config for key in (*LOCAL_BASES, "layer_types", "no_rope_layers"))


def layer_types(config: Inputs) -> list[str]:
    """Return the type of each layer."""
    every, count = config.get("global_attn_every_n_layers"), config["num_hidden_layers"]
    if every:  # the first of each group attends to all
        return [SLIDING if n % every else FULL for n in range(count)]
    return list(config.get("layer_types") or [FULL] * count)


def layers(config: Inputs) -> list[Inputs | None]:
    """Return the configuration of each layer as if the model had no others; None: no rotation."""
    rotates = config.get("no_rope_layers") or [1] * config["num_hidden_layers"]
    return [
        typed(config, kind) if turns else None
        for kind, turns in zip(layer_types(config), rotates, strict=True)
    ]


def typed(config: Inputs, kind: str) -> Inputs:
    """Return the configuration of layers of a type."""
    several = (*LOCAL_BASES, "layer_types", "no_rope_layers", "rope_scaling", "global_rope_theta")
    one = {key: value for key, value in config.items() if key not in several}
    by_type = config.get("rope_parameters", {})
    if kind in by_type:
        return one | {"rope_parameters": by_type[kind]}
    local = next((config[key] for key in LOCAL_BASES if key in config), None)
    if kind == SLIDING and local:
        return one | {"rope_theta": local}
    base = config.get("global_rope_theta", config.get("rope_theta"))
    scaled = {"rope_scaling": config["rope_scaling"]} if "rope_scaling" in config else {}
    return one | {"rope_theta": base} | scaled


def layer_answer(inputs: Inputs, config: Inputs | None) -> Inputs:
    """Return the answer for a layer; it has no frequencies if the layer does not rotate."""
    if config is None:
        return {"frequencies": [], "attention_factor": exact(1)}
    return expected_answer(inputs | {"config": config})


def without_keys(*keys: str) -> Answer:
    """Return what a program answers that does not read these keys."""

    def strip(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: strip(inner) for key, inner in value.items() if key not in keys}

    def wrong(inputs: Inputs) -> Any:
        stripped = inputs | {"config": strip(inputs["config"])}
        return expected_answer(stripped) if stripped != inputs else None

    return wrong


def _inner_base(inputs: Inputs) -> Any:
    """Look for the base outside of rope_parameters only."""
    inside = "rope_theta" in settings(inputs["config"])
    return expected_answer(inputs, base=10000) if inside else None


def _outer_base(inputs: Inputs) -> Any:
    """Look for the base inside of rope_parameters only."""
    outside = "rope_theta" in inputs["config"] and "rope_theta" not in settings(inputs["config"])
    return expected_answer(inputs, base=10000) if outside else None


def _outer_length(inputs: Inputs) -> Any:
    """Do not look for the trained length at the top level."""
    original = "original_max_position_embeddings"
    if original not in inputs["config"]:
        return None
    without = {key: value for key, value in inputs["config"].items() if key != original}
    return expected_answer(inputs | {"config": without})


def _quotient(inputs: Inputs) -> Any:
    config = inputs["config"]
    if "head_dim" not in config or "hidden_size" not in config:
        return None
    width = config["hidden_size"] // config["num_attention_heads"]
    one = {key: value for key, value in config.items() if key != "head_dim"}
    return expected_answer(inputs | {"config": one}) if width % 2 == 0 else None


def _bug_of_rules(change: Callable[[Inputs, Inputs], Inputs | None], *rules: str) -> Answer:
    """Return a bug of some rules, which changes the arguments."""

    def wrong(inputs: Inputs) -> Any:
        found = parameters(inputs)
        other = change(found, inputs) if found["rule"] in rules else None
        return None if other is None else expected_answer(inputs, **other)

    return wrong


def _multiplied_factor(found: Inputs, inputs: Inputs) -> Inputs | None:
    if found.get("attention_factor") is None:
        return None
    return {"attention_factor": exact(found["attention_factor"]) * temperature(found["factor"])}


def _promised_length(found: Inputs, inputs: Inputs) -> Inputs | None:
    promised = inputs["config"].get("max_position_embeddings")
    return {"trained_length": promised} if promised else None


def _nested_share(inputs: Inputs) -> Any:
    """Do not look for the share of dimensions that rotate inside of the rule."""
    config, entries = inputs["config"], settings(inputs["config"])
    place = "rope_parameters" if config.get("rope_parameters") else "rope_scaling"
    kept = {key: value for key, value in entries.items() if key not in SHARES}
    return expected_answer(inputs | {"config": config | {place: kept}})


def _width(key: str) -> Answer:
    """Return a bug of the width of heads with a part that does not rotate."""

    def wrong(inputs: Inputs) -> Any:
        config = inputs["config"]
        if "qk_rope_head_dim" not in config:
            return None
        return expected_answer(inputs, d=config["qk_rope_head_dim"] + config.get(key, 0))

    return wrong


def _head_of_model(inputs: Inputs) -> Any:
    if "qk_rope_head_dim" not in inputs["config"]:
        return None
    config = inputs["config"]
    return expected_answer(inputs, d=config["hidden_size"] // config["num_attention_heads"])


def _factor_of_lengths(found: Inputs, inputs: Inputs) -> Inputs | None:
    """Compute the factor from the lengths, though it is given."""
    promised = inputs["config"].get("max_position_embeddings")
    return {"factor": exact(promised) / found["trained_length"]} if promised else None


def _limits_exchanged(inputs: Inputs) -> Any:
    """Read each limit under the name of the other."""
    names = {"beta_fast": "beta_slow", "low_freq_factor": "high_freq_factor"}
    names |= {other: one for one, other in names.items()}
    entries = settings(inputs["config"])
    if not entries.keys() & names.keys():
        return None
    swapped = {names.get(key, key): value for key, value in entries.items()}
    place = "rope_parameters" if inputs["config"].get("rope_parameters") else "rope_scaling"
    return expected_answer(inputs | {"config": inputs["config"] | {place: swapped}})


def _of_frequencies(name: str) -> tuple[str, Answer]:
    """Return a bug of suite frequencies."""
    said, wrong = OF_RULES[name]
    return said, lambda inputs: wrong(parameters(inputs))


OF_FREQUENCIES = (
    "temperature forgotten",
    "temperature squared",
    "temperature of LongRoPE",
    "temperature of YaRN",
    "attention_factor through the formula",
    "factor as an integer",
    "kept pairs by NTK's base",
    "factor inside the power",
    "ramp reversed",
    "never truncated",
    "the other ramp",
    "ramp by the new length",
    "turns without 2π",
    "no blend",
    "blend reversed",
    "linear for another rule",
    "factor multiplies",
    "divisors multiply",
    "ratio of lengths alone",
    "one token too many",
    "one token too few",
    "both ends rounded down",
    "blend by wavelengths",
    "wavelengths blended",
    "powers of two",
    "temperature of long sequences alone",
    "mscale and mscale_all_dim exchanged",
    "mscale_all_dim ignored",
    "temperature by the decimal logarithm",
    "temperature without the root",
    "factor applied twice",
    "short and long factors exchanged",
    "exponent from one",
    "half minus one",
    "wavelengths",
    "ends rounded inwards",
    "blend not clipped",
    "slow pairs kept",
    "base times factor",
    "temperature by the extended length",
    "frequencies reversed",
    "frequencies rounded to bfloat16",
    "exponent i over d",
)
BUGS: dict[str, tuple[str, Answer]] = {
    "limits exchanged": (
        "Each limit is read under the name of the other.",
        _limits_exchanged,
    ),
    "low_freq_factor and high_freq_factor ignored": (
        "The limits of llama3 are 1 and 4, whatever is given.",
        without_keys("low_freq_factor", "high_freq_factor"),
    ),
    "original_max_position_embeddings sought inside": (
        "The trained length is sought beside the rule only, and max_position_embeddings taken.",
        lambda inputs: _outer_length(inputs),
    ),
    **{name: _of_frequencies(name) for name in OF_FREQUENCIES},
    "rope_theta ignored": ("The base is 10000, whatever is given.", without_keys("rope_theta")),
    "rope_theta sought outside": (
        "A base inside rope_parameters is not found, and 10000 taken.",
        _inner_base,
    ),
    "rope_theta sought inside": (
        "A base outside of rope_parameters is not found, and 10000 taken.",
        _outer_base,
    ),
    "head_dim ignored": (
        "The width of a head is hidden_size / num_attention_heads, though head_dim is given.",
        _quotient,
    ),
    "whole head rotated": (
        "partial_rotary_factor, rotary_pct and rotary_dim are not read.",
        without_keys(*SHARES, "rotary_dim"),
    ),
    "scaling ignored": (
        "The frequencies are those of the base, without any rule.",
        _bug_of_rules(lambda found, inputs: {"rule": "default"}, *list(RULES)[1:]),
    ),
    "old spelling of the type": (
        "The rule is found under rope_type only, and type is not read.",
        without_keys("type"),
    ),
    "new spelling of the type": (
        "The rule is found under type only, and rope_type is not read.",
        without_keys("rope_type"),
    ),
    "attention_factor as multiplier": (
        "attention_factor multiplies YaRN's own temperature.",
        _bug_of_rules(_multiplied_factor, "yarn"),
    ),
    "attention_factor ignored": (
        "attention_factor is not read.",
        without_keys("attention_factor"),
    ),
    "mscale ignored": (
        "mscale and mscale_all_dim are not read.",
        without_keys("mscale", "mscale_all_dim"),
    ),
    "truncate ignored": ("truncate is not read.", without_keys("truncate")),
    "limits ignored": (
        "beta_fast and beta_slow are not read.",
        without_keys("beta_fast", "beta_slow"),
    ),
    "trained length ignored": (
        "max_position_embeddings is taken for the trained length.",
        _bug_of_rules(_promised_length, "yarn", "llama3", "longrope"),
    ),
    "short factors never used": (
        "The long divisors hold at every length.",
        _bug_of_rules(lambda found, inputs: {"short": found["long"]}, "longrope"),
    ),
    "long factors never used": (
        "The short divisors hold at every length.",
        _bug_of_rules(lambda found, inputs: {"long": found["short"]}, "longrope"),
    ),
    "switched one too early": (
        "The long divisors hold from the trained length on, that included.",
        _bug_of_rules(
            lambda found, inputs: (
                {"length": found["length"] + 1}
                if found["length"] == found["trained_length"]
                else None
            ),
            "longrope",
        ),
    ),
    "one table for all lengths": (
        "Dynamic NTK scales by the factor at every length.",
        _bug_of_rules(lambda found, inputs: {"rule": "ntk"}, "dynamic"),
    ),
    "rotary_pct ignored": (
        "A quarter of each head rotates, as in GPT-NeoX, whatever rotary_pct says.",
        lambda inputs: (
            expected_answer(inputs | {"config": inputs["config"] | {"rotary_pct": 0.25}})
            if "rotary_pct" in inputs["config"]
            else None
        ),
    ),
    "trained length multiplied": (
        "The trained length is multiplied by the factor before it is used.",
        _bug_of_rules(
            lambda found, inputs: {"trained_length": found["trained_length"] * found["factor"]},
            "dynamic",
            "yarn",
            "llama3",
        ),
    ),
    "partial_rotary_factor sought outside": (
        "A share inside rope_parameters is not found, and the whole head rotates.",
        _nested_share,
    ),
    "width with the part that stands still": (
        "The width is qk_nope_head_dim + qk_rope_head_dim.",
        _width("qk_nope_head_dim"),
    ),
    "qk_rope_head_dim ignored": (
        "The width of a head is hidden_size / num_attention_heads.",
        _head_of_model,
    ),
    "factor of the lengths": (
        "The factor is max_position_embeddings divided by the trained length, whatever is given.",
        _bug_of_rules(_factor_of_lengths, "yarn", "llama3"),
    ),
}


def _all_like(kind: str) -> Answer:
    """Return the answer for layers of a type, as if there were no others."""
    return lambda inputs: expected_answer(inputs | {"config": typed(inputs["config"], kind)})


def _each_like(kind: str) -> Answer:
    def wrong(inputs: Inputs) -> Any:
        one = _all_like(kind)(inputs)
        return {"layers": [one] * inputs["config"]["num_hidden_layers"]}

    return wrong


def _layers(change: Callable[[Inputs], Inputs | None]) -> Answer:
    """Return the answer with another configuration of all layers."""

    def wrong(inputs: Inputs) -> Any:
        other = change(inputs["config"])
        return None if other is None else expected_answer(inputs | {"config": other})

    return wrong


def _scaled_windows(inputs: Inputs) -> Any:
    """Apply the scaling to the layers with a window, too."""
    config = inputs["config"]
    rule = config.get("rope_scaling") or config.get("rope_parameters", {}).get(FULL)
    if not rule:
        return None
    found = []
    for kind in layer_types(config):
        one = typed(config, kind)
        base = one.get("rope_theta") or one["rope_parameters"]["rope_theta"]
        scaled = rule | ({"rope_theta": base} if "rope_theta" in rule else {})
        place = "rope_scaling" if "rope_scaling" in config else "rope_parameters"
        found.append(layer_answer(inputs, one | {place: scaled}))
    return {"layers": found}


def _types_exchanged(config: Inputs) -> Inputs | None:
    if "no_rope_layers" in config:
        return config | {"no_rope_layers": [1 - one for one in config["no_rope_layers"]]}
    other = {FULL: SLIDING, SLIDING: FULL}
    kept = {key: value for key, value in config.items() if key != "global_attn_every_n_layers"}
    return kept | {"layer_types": [other[kind] for kind in layer_types(config)]}


def _last_of_each(config: Inputs) -> Inputs | None:
    """Take the last of each group for the layer that attends to all, or the first."""
    if "no_rope_layers" in config or len({*layer_types(config)}) < 2:
        return None
    kept = {key: value for key, value in config.items() if key != "global_attn_every_n_layers"}
    return kept | {"layer_types": layer_types(config)[::-1]}


def _all_rotate(config: Inputs) -> Inputs | None:
    if "no_rope_layers" not in config:
        return None
    return config | {"no_rope_layers": [1] * config["num_hidden_layers"]}


def _moved_layers(inputs: Inputs, by: int) -> Any:
    found = expected_answer(inputs)["layers"]
    return {"layers": found[by:] + found[:by]}


def _with_local_base(config: Inputs, base: Callable[[Inputs], Any]) -> Inputs | None:
    """Return a configuration whose layers with a window have another base."""
    given = {key: base(config) for key in LOCAL_BASES if key in config}
    return config | given if given else None


LAYER_BUGS: dict[str, tuple[str, Answer]] = {
    "one rule for all layers": (
        "The frequencies of layers that attend to all are returned for every layer.",
        _all_like(FULL),
    ),
    "one rule for each layer": (
        "Every layer has the frequencies of those that attend to all.",
        _each_like(FULL),
    ),
    "the window's rule for all layers": (
        "The frequencies of layers with a window are returned for every layer.",
        _all_like(SLIDING),
    ),
    "the window's rule for each layer": (
        "Every layer has the frequencies of those with a window.",
        _each_like(SLIDING),
    ),
    "layers with a window scaled": (
        "The scaling is applied to the layers with a window, too, which have none.",
        _scaled_windows,
    ),
    "types of layers exchanged": (
        "Layers have the settings of the others, or rotate where they should not.",
        _layers(_types_exchanged),
    ),
    "layers counted from the end": (
        "The layer that attends to all is sought at the other end of each group.",
        _layers(_last_of_each),
    ),
    "layers one further": (
        "Each layer has the settings of the one before it.",
        lambda inputs: _moved_layers(inputs, -1),
    ),
    "layers one back": (
        "Each layer has the settings of the one after it.",
        lambda inputs: _moved_layers(inputs, 1),
    ),
    "base of the window ignored": (
        "The base of layers with a window is 10000, whatever is given.",
        _layers(lambda config: _with_local_base(config, lambda c: 10000)),
    ),
    "base of the window sought in rope_theta": (
        "Layers with a window have the base of those that attend to all.",
        _layers(
            lambda config: _with_local_base(
                config, lambda c: c.get("global_rope_theta", c.get("rope_theta"))
            )
        ),
    ),
    "all layers rotate": ("Layers that should not rotate do.", _layers(_all_rotate)),
}
SOFTMAX_BUGS: dict[str, tuple[str, Answer]] = {
    "softmax factor forgotten": (
        "The scores are not scaled in addition.",
        lambda g: {k: v for k, v in expected_answer(g).items() if k != "softmax_factor"},
    ),
    "softmax factor 1": (
        "The softmax factor is 1.",
        lambda g: expected_answer(g) | {"softmax_factor": exact(1)},
    ),
    "softmax factor not squared": (
        "The softmax factor is the temperature, not its square.",
        lambda g: (
            expected_answer(g)
            | {"softmax_factor": expected_answer(g)["softmax_factor"] ** exact("0.5")}
        ),
    ),
    "softmax factor by mscale": (
        "The softmax factor is computed from mscale instead of mscale_all_dim.",
        lambda g: (
            expected_answer(g)
            | {
                "softmax_factor": temperature(
                    parameters(g)["factor"], parameters(g).get("mscale", 1)
                )
                ** 2
            }
        ),
    ),
}


def of_one_rule(bug: tuple[str, Answer]) -> tuple[str, Answer]:
    """Return a bug of models whose layers are alike."""
    said, answered = bug

    def wrong(inputs: Inputs) -> Any:
        if has_layers(inputs["config"]):
            return None
        found = answered(inputs)
        if found is not None and inputs["config"]["model_type"] in DEEPSEEK:
            found = {"softmax_factor": expected_answer(inputs)["softmax_factor"]} | found
        return found

    return said, wrong


def _only(
    holds: Callable[[Inputs], bool], bugs: dict[str, tuple[str, Answer]]
) -> dict[str, tuple[str, Answer]]:
    """Return bugs of some configurations only."""

    def bug(answered: Answer) -> Answer:
        return lambda inputs: answered(inputs) if holds(inputs["config"]) else None

    return {name: (said, bug(answered)) for name, (said, answered) in bugs.items()}


UNREAD, INNER = "unknown keys passed over", "rope_parameters first"
CONVENTIONS: dict[str, tuple[str, Answer]] = {
    UNREAD: ("Keys that are not known are passed over, a misspelt one as well.", expected_answer),
    INNER: ("Where rope_theta stands twice, that inside rope_parameters holds.", expected_answer),
    SMALLER: (SHRUNK, expected_answer),
}


def config_suite() -> Suite:
    """Return suite config."""
    suite = Suite(
        "config",
        "Configurations of models in the format of transformers, in both spellings. length is that"
        " of the whole sequence; where it is missing it does not matter.",
        "frequencies of the pairs that rotate, and attention_factor. Where layers differ: layers,"
        " with these for each layer, and no frequencies for one that does not rotate. For DeepSeek"
        " V3 also softmax_factor, by which the scores are multiplied.",
        expected_answer,
        {name: of_one_rule(bug) for name, bug in BUGS.items()}
        | _only(has_layers, LAYER_BUGS)
        | _only(lambda config: config["model_type"] in DEEPSEEK, SOFTMAX_BUGS),
        CONVENTIONS,
        tolerance=lambda inputs, expected: power_tolerance(),
    )
    for hidden, heads, head in (
        (64, 4, None),
        (96, 4, 32),
        (128, 8, 32),
        (60, 5, None),
        (80, 4, 16),
    ):
        for base in (10000, 500000, 1e6):
            for promised in (2048, 32768):
                outer: Inputs = {"model_type": "llama", "hidden_size": hidden}
                outer |= {"num_attention_heads": heads, "max_position_embeddings": promised}
                outer |= {"head_dim": head} if head else {}
                suite.add("plain", {"config": outer | {"rope_theta": base}}, "old spelling")
                inner = {"rope_type": "default", "rope_theta": base}
                suite.add("plain", {"config": outer | {"rope_parameters": inner}}, "new spelling")
    for share in (0.25, 0.5, 0.75):
        for kind, key in (("phi", SHARES[0]), ("stablelm", SHARES[0]), ("gpt_neox", SHARES[1])):
            outer = {"model_type": kind, "hidden_size": 128, "num_attention_heads": 4}
            outer |= {"max_position_embeddings": 2048, key: share, "rope_theta": 10000}
            suite.add("partial", {"config": outer}, "partial")
    for entries, promised, name in _scaled_entries():
        for head, base in ((16, 10000), (32, 500000)):
            outer = {"model_type": "llama", "hidden_size": 8 * head, "num_attention_heads": 8}
            outer |= {"head_dim": head, "max_position_embeddings": promised}
            here = dict(entries)
            if "short_factor" in here:
                here["short_factor"] = [1 + i / 16 for i in range(head // 2)]
                here["long_factor"] = [1 + i / 2 for i in range(head // 2)]
            lengths = _lengths(entries, promised)
            for length in lengths:
                options = {"length": length} if length else {}
                old = outer | {"rope_theta": base, "rope_scaling": {"type": name} | here}
                new = outer | {"rope_parameters": {"rope_type": name, "rope_theta": base} | here}
                suite.add(name, {"config": old} | options, "old spelling")
                suite.add(name, {"config": new} | options, "new spelling")
    _add_lengths(suite)
    _add_layers(suite)
    _add_softmax(suite)
    _add_nested(suite)
    _add_refused(suite)
    return suite


def _add_lengths(suite: Suite) -> None:
    """Add trained lengths at the top level and of any number, other limits, and factors."""
    original = "original_max_position_embeddings"
    for head, base in ((16, 10000), (32, 500000)):
        outer: Inputs = {"model_type": "llama", "hidden_size": 8 * head, "num_attention_heads": 8}
        outer |= {"head_dim": head, "rope_theta": base}
        short = [1 + i / 16 for i in range(head // 2)]
        long = [1 + i / 2 for i in range(head // 2)]
        phi = {"type": "longrope", "short_factor": short, "long_factor": long}
        config = outer | {"model_type": "phi3", "max_position_embeddings": 131072, original: 4096}
        for length in (4096, 4097):
            given = {"config": config | {"rope_scaling": phi}, "length": length}
            suite.add("top-level", given, "trained length")
        for trained, promised, factor in ((4090, 16360, 4.0), (1000, 2500, 2.5), (777, 12432, 16)):
            yarn: Inputs = {"rope_type": "yarn", "factor": factor, original: trained}
            config = outer | {"max_position_embeddings": promised, "rope_scaling": yarn}
            suite.add("uneven", {"config": config}, "trained length")
        for promised, factor in ((40960, 4.0), (32768, 16.0), (4096, 4.0), (131072, 2.5)):
            yarn = {"rope_type": "yarn", "factor": factor, original: 4096}
            config = outer | {"max_position_embeddings": promised, "rope_scaling": yarn}
            suite.add("ratio", {"config": config}, "factor")
        for low, high in ((2.0, 8.0), (1.0, 2.0), (1.0, 32.0), (0.5, 3.0)):
            llama: Inputs = {"rope_type": "llama3", "factor": 8.0, original: 8192}
            llama |= {"low_freq_factor": low, "high_freq_factor": high}
            config = outer | {"max_position_embeddings": 131072, "rope_scaling": llama}
            suite.add("limits", {"config": config}, "limits")
        for factor in (2.5, 8.5):
            linear = {"rope_type": "linear", "factor": factor}
            config = outer | {"max_position_embeddings": 4096, "rope_scaling": linear}
            suite.add("fraction", {"config": config}, "factor")


def _add_layers(suite: Suite) -> None:
    """Add models whose layers differ: by a window, or in whether they rotate."""
    scaled = {"rope_type": "linear", "factor": 8.0}
    plain: Inputs = {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16}
    plain |= {"max_position_embeddings": 8192}
    for types in ([SLIDING, SLIDING, FULL, SLIDING], [FULL, SLIDING, SLIDING]):
        gemma = plain | {"model_type": "gemma3_text", "sliding_window": 512, "layer_types": types}
        gemma |= {"num_hidden_layers": len(types)}
        bases = {"rope_theta": 1e6, "rope_local_base_freq": 10000}
        suite.add("layers", {"config": gemma | bases}, "layers", "old spelling")
        config = gemma | bases | {"rope_scaling": scaled}
        suite.add("layers", {"config": config}, "layers", "old spelling")
        inner = {
            FULL: scaled | {"rope_theta": 1e6},
            SLIDING: {"rope_type": "default", "rope_theta": 10000},
        }
        suite.add(
            "layers", {"config": gemma | {"rope_parameters": inner}}, "layers", "new spelling"
        )
    for every, count in ((3, 7), (2, 3)):
        bert = plain | {"model_type": "modernbert", "local_attention": 128}
        bert |= {"global_rope_theta": 160000, "local_rope_theta": 10000}
        bert |= {"num_hidden_layers": count, "global_attn_every_n_layers": every}
        suite.add("layers", {"config": bert}, "layers", "old spelling")
    for rotates in ([1, 1, 1, 0], [1, 0, 1]):
        smol = plain | {"model_type": "smollm3", "rope_theta": 2e6, "no_rope_layers": rotates}
        smol |= {"num_hidden_layers": len(rotates)}
        suite.add("layers", {"config": smol}, "layers", "no rotation")


def _add_softmax(suite: Suite) -> None:
    """Add models whose scores are scaled in addition."""
    plain: Inputs = {"model_type": "deepseek_v3", "hidden_size": 128, "num_attention_heads": 4}
    plain |= {"qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "v_head_dim": 32}
    plain |= {"max_position_embeddings": 163840, "rope_theta": 10000}
    yarn: Inputs = {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}
    yarn |= {"beta_fast": 32, "beta_slow": 1}
    for one, every in ((1.0, 1.0), (0.707, 0.707), (1.0, 0.707)):
        config = plain | {"rope_scaling": yarn | {"mscale": one, "mscale_all_dim": every}}
        suite.add("softmax", {"config": config}, "softmax factor")


def _add_nested(suite: Suite) -> None:
    """Add shares inside the rule, and layers with a window and a base of their own."""
    plain: Inputs = {"hidden_size": 128, "num_attention_heads": 4, "head_dim": 32}
    plain |= {"max_position_embeddings": 8192}
    for share, rule in ((0.25, "default"), (0.5, "linear")):
        inner: Inputs = {"rope_type": rule, "rope_theta": 10000, SHARES[0]: share}
        inner |= {"factor": 4.0} if rule == "linear" else {}
        config = plain | {"model_type": "llama", "rope_parameters": inner}
        suite.add("nested", {"config": config}, "partial", "new spelling")
    types = [SLIDING, SLIDING, FULL]
    gemma = plain | {"model_type": "gemma3_text", "sliding_window": 512, "layer_types": types}
    gemma |= {"num_hidden_layers": len(types), "rope_theta": 1e6, "rope_local_base_freq": 20000}
    suite.add("layers", {"config": gemma}, "layers", "base")
    suite.add("layers", {"config": gemma | {"layer_types": types[::-1]}}, "layers", "base")


def _scaled_entries() -> list[tuple[Inputs, int, str]]:
    """Return entries of a rule, the promised length and the name of the rule."""
    original = "original_max_position_embeddings"
    llama = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    yarn = {"factor": 4.0, original: 8192}
    return [
        ({"factor": 2.0}, 4096, "linear"),
        ({"factor": 8.0}, 16384, "linear"),
        ({"factor": 4.0}, 4096, "dynamic"),
        (yarn, 32768, "yarn"),
        ({"factor": 16.0, original: 2048}, 32768, "yarn"),
        (yarn | {"beta_fast": 16.0, "beta_slow": 2.0}, 32768, "yarn"),
        (yarn | {"truncate": False}, 32768, "yarn"),
        (yarn | {"attention_factor": 1.0}, 32768, "yarn"),
        (yarn | {"attention_factor": 1.4852}, 32768, "yarn"),
        ({"factor": 40.0, original: 4096, "mscale": 1.0, "mscale_all_dim": 1.0}, 163840, "yarn"),
        ({"factor": 40.0, original: 4096, "mscale": 0.707, "mscale_all_dim": 1.0}, 163840, "yarn"),
        ({"factor": 8.0, original: 8192} | llama, 131072, "llama3"),
        ({"factor": 32.0, original: 8192} | llama, 131072, "llama3"),
        ({original: 4096, "short_factor": [], "long_factor": []}, 131072, "longrope"),
    ]


def _lengths(entries: Inputs, promised: int) -> tuple[int | None, ...]:
    if "short_factor" in entries:
        return (4096, 4097)
    return (promised, 3 * promised) if entries == {"factor": 4.0} else (None,)


def _add_refused(suite: Suite) -> None:
    plain: Inputs = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}
    plain |= {"max_position_embeddings": 2048}
    based = plain | {"rope_theta": 10000}
    for wrong in (
        {"rope_type": "linear"},
        {"rope_type": "other", "factor": 2.0},
        {"rope_type": "yarn", "original_max_position_embeddings": 1024},
        {"rope_type": "linear", "factor": 0.5},
        {"rope_type": "linear", "factor": "two"},
        {"rope_type": "llama3", "factor": 8.0},
        {"rope_type": "longrope", "factor": 2.0, "short_factor": [1], "long_factor": [2]},
    ):
        accepted = [SMALLER] if wrong.get("factor") == 0.5 else []
        config = based | {"rope_scaling": wrong}
        suite.refuse({"config": config}, "scaling", acceptable=accepted)
    misspelt = {"rope_type": "linear", "factor": 2.0, "facter": 4.0}
    suite.refuse({"config": based | {"rope_scaling": misspelt}}, "unread key", acceptable=[UNREAD])
    suite.refuse({"config": plain | {"rope_teta": 500000}}, "unread key", acceptable=[UNREAD])
    suite.refuse({"config": based | {"head_dim": 15}}, "odd width")
    suite.refuse({"config": based | {"num_attention_heads": 5}}, "width")
    suite.refuse({"config": plain | {"rope_theta": "many"}}, "base")
    twice = {"rope_type": "default", "rope_theta": 500000}
    config = based | {"rope_parameters": twice}
    suite.refuse({"config": config}, "contradiction", acceptable=[INNER])
