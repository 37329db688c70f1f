"""Positional encodings for transformers, exact and readable. This file is the map.

Below all others
    Frequency of each pair    `frequencies`, `wavelengths`                  frequency.py
    Relative positions        `relative_positions`                          positions.py
    Layers that differ        `layer_types`, `rotating_layers`              layers.py

Added to token embeddings: posenc/embeddings/
    The sinusoidal encoding   `sinusoidal_encoding`, `sinusoidal_table`,    sinusoidal.py
                              `shift_matrix`, `similarity`,
                              `PositionalEncoding`
    Learned embeddings        `LearnedPositionalEmbedding`,                 learned.py
                              `resize_table`
    Other numbers for places  `random_positions`, `pose_positions`,         renumber.py
                              `self_extend_relative`,
                              `rerope_relative`, `sink_mask`,
                              `log_scale`
    Baselines                 `counting_encoding`, `no_encoding`            baselines.py
    Combining with tokens     `add`, `concatenate`                          combine.py

Rotating queries and keys: posenc/rotary/
    Rotary positions, RoPE    `apply_rope`, `apply_rope_complex`,           rope.py
                              `rope_matrix`, `rotary_frequencies`,
                              `convert_layout`, `convert_projection`,
                              `convert_qkv`
    Longer contexts           `interpolated_frequencies`,                   scaling.py
                              `ntk_frequencies`, `dynamic_frequencies`,
                              `yarn_frequencies`, `yarn_temperature`,
                              `llama3_frequencies`,
                              `longrope_frequencies`,
                              `longrope_temperature`,
                              `proportional_frequencies`
    The base for a length     `smallest_base`, `critical_dimension`,        base.py
                              `extended_base`
    Fading rotation, xPos     `xpos_decay`, `apply_xpos`                    xpos.py

More than one axis: images, video: posenc/axes/
    Sinusoids on a grid       `sinusoidal_encoding_nd`, `grid_positions`    sinusoidal_nd.py
    Axial and mixed RoPE      `apply_rope_nd`, `axial_frequencies`,         rotary_nd.py
                              `mixed_frequencies`, `rotary_matrix`
    M-RoPE                    `mrope_frequencies`, `mrope_positions`        mrope.py
    Grids, resized            `resize_grid`, `resize_weights`               resize.py
    Space and levels of noise `fourier_features`, `nerf_encoding`,          features.py
                              `gaussian_frequencies`,
                              `timestep_embedding`

Nodes of graphs and trees: posenc/graphs/
    Laplacian eigenvectors    `graph_laplacian`, `laplacian_eigenvectors`   laplacian.py
    Random walks              `random_walk_encoding`                        random_walk.py
    Distances, Graphormer     `graph_distances`, `graphormer_index`,        graphormer.py
                              `graphormer_bias`, `centrality_rows`
    Paths in a tree           `tree_choices`, `tree_encoding`               trees.py

Added to the scores: posenc/scores/
    Attention itself          `attention`, `causal_mask`                    dot_product.py
    Relative positions, Shaw  `shaw_index`, `relative_shift`,               relative.py
                              `relative_row`, `relative_view`
    T5's buckets              `t5_buckets`, `t5_bucket_starts`,             t5.py
                              `t5_bias`, `t5_rows`
    Swin's window             `swin_index`, `swin_bias`,                    swin.py
                              `swin_log_offsets`
    Linear biases, ALiBi      `alibi_slopes`, `alibi_bias`,                 alibi.py
                              `alibi_key_bias`, `alibi_rows`
    Powers and logarithms     `kerple_log_bias`, `kerple_power_bias`        kerple.py
    Products of sinusoids     `sandwich_bias`                               sandwich.py
    By content                `cope_positions`, `cope_scores`               cope.py
                              `forgetting_bias`                             forgetting.py
                              `path_scores`                                 path.py
                              `dape_bias`                                   dape.py
    Two terms or three        `deberta_index`, `deberta_buckets`,           deberta.py
                              `disentangled_scores`
                              `tupe_bias`, `untied_bias`                    tupe.py
                              `transformer_xl_rows`,                        transformer_xl.py
                              `transformer_xl_scores`
    Learned curves, FIRE      `fire_shares`, `fire_bias`                    fire.py

Model configurations: posenc/config/
    The file config.json      `read_config`, `RotaryConfig`

`posenc.nn` has the same schemes as PyTorch modules, and a small GPT to try them in.
`posenc.diagnose` tells what is wrong with the positions of a model. Both need torch.
`posenc.vectors` tests any implementation against cases with known answers.

Conventions, everywhere: pair `i` owns dimensions 2i and 2i+1, i = 0 … d/2−1; its frequency is
base^(−2i/d), base 10000 by default; positions are integers or reals of any shape; a relative
position is key − query; biases are `[heads, query, key]`, and a mask is True where a query may
attend to a key; angles are float64 and only results are cast. `python -m posenc` prints an example.
"""

import sys

from posenc.axes.features import (
    fourier_features,
    gaussian_frequencies,
    nerf_encoding,
    timestep_embedding,
)
from posenc.axes.mrope import mrope_frequencies, mrope_positions
from posenc.axes.resize import resize_grid, resize_weights
from posenc.axes.rotary_nd import (
    apply_rope_nd,
    axial_frequencies,
    mixed_frequencies,
    rotary_matrix,
)
from posenc.axes.sinusoidal_nd import grid_positions, sinusoidal_encoding_nd
from posenc.config import RotaryConfig, read_config
from posenc.embeddings.baselines import counting_encoding, no_encoding
from posenc.embeddings.combine import add, concatenate
from posenc.embeddings.learned import LearnedPositionalEmbedding, resize_table
from posenc.embeddings.renumber import (
    log_scale,
    pose_positions,
    random_positions,
    rerope_relative,
    self_extend_relative,
    sink_mask,
)
from posenc.embeddings.sinusoidal import (
    PositionalEncoding,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    sinusoidal_table,
)
from posenc.frequency import frequencies, wavelengths
from posenc.graphs.graphormer import (
    centrality_rows,
    graph_distances,
    graphormer_bias,
    graphormer_index,
)
from posenc.graphs.laplacian import graph_laplacian, laplacian_eigenvectors
from posenc.graphs.random_walk import random_walk_encoding
from posenc.graphs.trees import tree_choices, tree_encoding
from posenc.layers import layer_types, rotating_layers
from posenc.positions import relative_positions
from posenc.rotary.base import critical_dimension, extended_base, smallest_base
from posenc.rotary.rope import (
    apply_rope,
    apply_rope_complex,
    convert_layout,
    convert_projection,
    convert_qkv,
    rope_matrix,
    rotary_frequencies,
)
from posenc.rotary.scaling import (
    dynamic_frequencies,
    interpolated_frequencies,
    llama3_frequencies,
    longrope_frequencies,
    longrope_temperature,
    ntk_frequencies,
    proportional_frequencies,
    yarn_frequencies,
    yarn_temperature,
)
from posenc.rotary.xpos import apply_xpos, xpos_decay
from posenc.scores.alibi import alibi_bias, alibi_key_bias, alibi_rows, alibi_slopes
from posenc.scores.cope import cope_positions, cope_scores
from posenc.scores.dape import dape_bias
from posenc.scores.deberta import deberta_buckets, deberta_index, disentangled_scores
from posenc.scores.dot_product import attention, causal_mask
from posenc.scores.fire import fire_bias, fire_shares
from posenc.scores.forgetting import forgetting_bias
from posenc.scores.kerple import kerple_log_bias, kerple_power_bias
from posenc.scores.path import path_scores
from posenc.scores.relative import (
    relative_row,
    relative_shift,
    relative_view,
    shaw_index,
)
from posenc.scores.sandwich import sandwich_bias
from posenc.scores.swin import swin_bias, swin_index, swin_log_offsets
from posenc.scores.t5 import t5_bias, t5_bucket_starts, t5_buckets, t5_rows
from posenc.scores.transformer_xl import transformer_xl_rows, transformer_xl_scores
from posenc.scores.tupe import tupe_bias, untied_bias

__version__ = "0.1.0"

__all__ = [
    "LearnedPositionalEmbedding",
    "PositionalEncoding",
    "RotaryConfig",
    "add",
    "alibi_bias",
    "alibi_key_bias",
    "alibi_rows",
    "alibi_slopes",
    "apply_rope",
    "apply_rope_complex",
    "apply_rope_nd",
    "apply_xpos",
    "attention",
    "axial_frequencies",
    "causal_mask",
    "centrality_rows",
    "concatenate",
    "convert_layout",
    "convert_projection",
    "convert_qkv",
    "cope_positions",
    "cope_scores",
    "counting_encoding",
    "critical_dimension",
    "dape_bias",
    "deberta_buckets",
    "deberta_index",
    "disentangled_scores",
    "dynamic_frequencies",
    "extended_base",
    "fire_bias",
    "fire_shares",
    "forgetting_bias",
    "fourier_features",
    "frequencies",
    "gaussian_frequencies",
    "graph_distances",
    "graph_laplacian",
    "graphormer_bias",
    "graphormer_index",
    "grid_positions",
    "interpolated_frequencies",
    "kerple_log_bias",
    "kerple_power_bias",
    "laplacian_eigenvectors",
    "layer_types",
    "llama3_frequencies",
    "log_scale",
    "longrope_frequencies",
    "longrope_temperature",
    "mixed_frequencies",
    "mrope_frequencies",
    "mrope_positions",
    "nerf_encoding",
    "no_encoding",
    "ntk_frequencies",
    "path_scores",
    "pose_positions",
    "proportional_frequencies",
    "random_positions",
    "random_walk_encoding",
    "read_config",
    "relative_positions",
    "relative_row",
    "relative_shift",
    "relative_view",
    "rerope_relative",
    "resize_grid",
    "resize_table",
    "resize_weights",
    "rope_matrix",
    "rotary_frequencies",
    "rotary_matrix",
    "rotating_layers",
    "sandwich_bias",
    "self_extend_relative",
    "shaw_index",
    "shift_matrix",
    "similarity",
    "sink_mask",
    "sinusoidal_encoding",
    "sinusoidal_encoding_nd",
    "sinusoidal_table",
    "smallest_base",
    "swin_bias",
    "swin_index",
    "swin_log_offsets",
    "t5_bias",
    "t5_bucket_starts",
    "t5_buckets",
    "t5_rows",
    "timestep_embedding",
    "transformer_xl_rows",
    "transformer_xl_scores",
    "tree_choices",
    "tree_encoding",
    "tupe_bias",
    "untied_bias",
    "wavelengths",
    "xpos_decay",
    "yarn_frequencies",
    "yarn_temperature",
]

# Where the modules were before the package had wings, as in `from posenc.alibi import alibi_bias`.
_FORMER = {"attention": "scores.dot_product", "frequencies": "frequency"}
_WINGS = "embeddings", "rotary", "axes", "graphs", "scores"
for _path in [name.removeprefix("posenc.") for name in sys.modules if name.startswith("posenc.")]:
    _wing, _, _module = _path.partition(".")
    if _wing in _WINGS and _module:
        _FORMER.setdefault(_module, _path)
for _module, _path in _FORMER.items():
    sys.modules.setdefault(f"posenc.{_module}", sys.modules[f"posenc.{_path}"])
