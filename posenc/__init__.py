"""Positional encodings for transformers, exact and readable. This file is the map.

Each import below names a file, under its subject, and all that is public in it. A name that is
imported `as` itself is public, for type checkers too.

`posenc.nn` has the same schemes as PyTorch modules, and a small GPT to try them in.
`posenc.diagnose` tells what is wrong with the positions of a model. Both need torch.
`posenc.vectors` tests any implementation against cases with known answers.

Conventions, everywhere: pair `i` owns dimensions 2i and 2i+1, i = 0 … d/2−1; its frequency is
base^(−2i/d), base 10000 by default; positions are integers or reals of any shape; a relative
position is key − query; biases are `[heads, query, key]`, and a mask is True where a query may
attend to a key; angles are float64 and only results are cast. `python -m posenc` prints an example.
"""

import sys

# Below all others

# Frequency of each pair
from posenc.frequency import frequencies as frequencies, wavelengths as wavelengths

# Relative positions
from posenc.positions import relative_positions as relative_positions

# Layers that differ
from posenc.layers import layer_types as layer_types, rotating_layers as rotating_layers

# Added to token embeddings: posenc/embeddings/

# The sinusoidal encoding
from posenc.embeddings.sinusoidal import (
    PositionalEncoding as PositionalEncoding,
    shift_matrix as shift_matrix,
    similarity as similarity,
    sinusoidal_encoding as sinusoidal_encoding,
    sinusoidal_table as sinusoidal_table,
)

# Learned embeddings
from posenc.embeddings.learned import (
    LearnedPositionalEmbedding as LearnedPositionalEmbedding,
    resize_table as resize_table,
)

# Other numbers for places
from posenc.embeddings.renumber import (
    dual_chunk_relative as dual_chunk_relative,
    log_scale as log_scale,
    pose_positions as pose_positions,
    random_positions as random_positions,
    rerope_relative as rerope_relative,
    self_extend_relative as self_extend_relative,
    sink_mask as sink_mask,
)

# Baselines
from posenc.embeddings.baselines import (
    counting_encoding as counting_encoding,
    no_encoding as no_encoding,
)

# Combining with tokens
from posenc.embeddings.combine import add as add, concatenate as concatenate

# Rotating queries and keys: posenc/rotary/

# Rotary positions, RoPE
from posenc.rotary.rope import (
    apply_rope as apply_rope,
    apply_rope_complex as apply_rope_complex,
    convert_layout as convert_layout,
    convert_projection as convert_projection,
    convert_qkv as convert_qkv,
    rope_matrix as rope_matrix,
    rotary_frequencies as rotary_frequencies,
)

# Longer contexts
from posenc.rotary.scaling import (
    dynamic_frequencies as dynamic_frequencies,
    interpolated_frequencies as interpolated_frequencies,
    llama3_frequencies as llama3_frequencies,
    longrope_frequencies as longrope_frequencies,
    longrope_temperature as longrope_temperature,
    ntk_frequencies as ntk_frequencies,
    proportional_frequencies as proportional_frequencies,
    riflex_frequencies as riflex_frequencies,
    yarn_frequencies as yarn_frequencies,
    yarn_temperature as yarn_temperature,
)

# The base for a length
from posenc.rotary.base import (
    critical_dimension as critical_dimension,
    extended_base as extended_base,
    smallest_base as smallest_base,
)

# Fading rotation, xPos
from posenc.rotary.xpos import apply_xpos as apply_xpos, xpos_decay as xpos_decay

# Angles from positions alone, PoPE
from posenc.rotary.pope import apply_pope as apply_pope

# More than one axis: images, video: posenc/axes/

# Sinusoids on a grid
from posenc.axes.sinusoidal_nd import (
    grid_positions as grid_positions,
    sinusoidal_encoding_nd as sinusoidal_encoding_nd,
)

# Axial and mixed RoPE
from posenc.axes.rotary_nd import (
    apply_rope_nd as apply_rope_nd,
    axial_frequencies as axial_frequencies,
    frequencies_by_axis as frequencies_by_axis,
    mixed_frequencies as mixed_frequencies,
    rotary_matrix as rotary_matrix,
)

# M-RoPE
from posenc.axes.mrope import (
    mrope_frequencies as mrope_frequencies,
    mrope_positions as mrope_positions,
)

# Grids, resized
from posenc.axes.resize import resize_grid as resize_grid, resize_weights as resize_weights

# Space and levels of noise
from posenc.axes.features import (
    fourier_features as fourier_features,
    gaussian_frequencies as gaussian_frequencies,
    nerf_encoding as nerf_encoding,
    timestep_embedding as timestep_embedding,
)

# Nodes of graphs and trees: posenc/graphs/

# Laplacian eigenvectors
from posenc.graphs.laplacian import (
    graph_laplacian as graph_laplacian,
    laplacian_eigenvectors as laplacian_eigenvectors,
)

# Random walks
from posenc.graphs.random_walk import random_walk_encoding as random_walk_encoding

# Distances, Graphormer
from posenc.graphs.graphormer import (
    centrality_rows as centrality_rows,
    graph_distances as graph_distances,
    graphormer_bias as graphormer_bias,
    graphormer_index as graphormer_index,
)

# Paths in a tree
from posenc.graphs.trees import tree_choices as tree_choices, tree_encoding as tree_encoding

# Added to the scores: posenc/scores/

# Attention itself
from posenc.scores.dot_product import attention as attention, causal_mask as causal_mask

# Relative positions, Shaw
from posenc.scores.relative import (
    relative_row as relative_row,
    relative_shift as relative_shift,
    relative_view as relative_view,
    shaw_index as shaw_index,
)

# T5's buckets
from posenc.scores.t5 import (
    t5_bias as t5_bias,
    t5_bucket_starts as t5_bucket_starts,
    t5_buckets as t5_buckets,
    t5_rows as t5_rows,
)

# Swin's window
from posenc.scores.swin import (
    swin_bias as swin_bias,
    swin_index as swin_index,
    swin_log_offsets as swin_log_offsets,
)

# Linear biases, ALiBi
from posenc.scores.alibi import (
    alibi_bias as alibi_bias,
    alibi_key_bias as alibi_key_bias,
    alibi_rows as alibi_rows,
    alibi_slopes as alibi_slopes,
)

# Powers and logarithms
from posenc.scores.kerple import (
    kerple_log_bias as kerple_log_bias,
    kerple_power_bias as kerple_power_bias,
)

# Products of sinusoids
from posenc.scores.sandwich import sandwich_bias as sandwich_bias

# By content
from posenc.scores.cope import cope_positions as cope_positions, cope_scores as cope_scores
from posenc.scores.forgetting import forgetting_bias as forgetting_bias
from posenc.scores.path import path_scores as path_scores
from posenc.scores.dape import dape_bias as dape_bias

# Compressed keys
from posenc.scores.latent import latent_scores as latent_scores

# Two terms or three
from posenc.scores.deberta import (
    deberta_buckets as deberta_buckets,
    deberta_index as deberta_index,
    disentangled_scores as disentangled_scores,
)
from posenc.scores.tupe import tupe_bias as tupe_bias, untied_bias as untied_bias
from posenc.scores.transformer_xl import (
    transformer_xl_rows as transformer_xl_rows,
    transformer_xl_scores as transformer_xl_scores,
)

# Learned curves, FIRE
from posenc.scores.fire import fire_bias as fire_bias, fire_shares as fire_shares

# Model configurations: posenc/config/

# The file config.json
from posenc.config import RotaryConfig as RotaryConfig, read_config as read_config

__version__ = "0.2.0"
__all__ = [name for name, value in sorted(globals().items()) if callable(value)]

# Where the modules were before the package had wings, as in `from posenc.alibi import alibi_bias`.
_FORMER = {"attention": "scores.dot_product", "frequencies": "frequency"}
_WINGS = "embeddings", "rotary", "axes", "graphs", "scores"
for _path in [name.removeprefix("posenc.") for name in sys.modules if name.startswith("posenc.")]:
    _wing, _, _module = _path.partition(".")
    if _wing in _WINGS and _module:
        _FORMER.setdefault(_module, _path)
for _module, _path in _FORMER.items():
    sys.modules.setdefault(f"posenc.{_module}", sys.modules[f"posenc.{_path}"])
