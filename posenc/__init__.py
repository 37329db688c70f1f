"""Positional encodings for transformers, exact and readable. This file is the map.

Added to token embeddings
    Frequency of each pair    `frequencies`, `wavelengths`                posenc/frequencies.py
    The sinusoidal encoding   `sinusoidal_encoding`, `sinusoidal_table`,  posenc/sinusoidal.py
                              `shift_matrix`, `similarity`,
                              `PositionalEncoding`
    Learned embeddings        `LearnedPositionalEmbedding`,               posenc/learned.py
                              `resize_table`
    Baselines                 `counting_encoding`, `no_encoding`          posenc/baselines.py
    Combining with tokens     `add`, `concatenate`                        posenc/combine.py

Rotating queries and keys
    Rotary positions, RoPE    `apply_rope`, `apply_rope_complex`,         posenc/rotary.py
                              `rope_matrix`, `rotary_frequencies`,
                              `convert_layout`, `convert_projection`,
                              `convert_qkv`
    Longer contexts           `interpolated_frequencies`,                 posenc/scaling.py
                              `ntk_frequencies`, `dynamic_frequencies`,
                              `yarn_frequencies`, `yarn_temperature`,
                              `llama3_frequencies`,
                              `longrope_frequencies`,
                              `longrope_temperature`,
                              `proportional_frequencies`
    The base for a length     `smallest_base`, `critical_dimension`,      posenc/base.py
                              `extended_base`
    Model configurations      `read_config`, `RotaryConfig`               posenc/config.py

More than one axis: images, video
    Sinusoids on a grid       `sinusoidal_encoding_nd`, `grid_positions`  posenc/sinusoidal_nd.py
    Axial and mixed RoPE      `apply_rope_nd`, `axial_frequencies`,       posenc/rotary_nd.py
                              `mixed_frequencies`, `rotary_matrix`
    M-RoPE                    `mrope_frequencies`, `mrope_positions`      posenc/mrope.py
    Grids, resized            `resize_grid`, `resize_weights`             posenc/resize.py
    Space and levels of noise `fourier_features`, `nerf_encoding`,        posenc/features.py
                              `gaussian_frequencies`,
                              `timestep_embedding`

Added to the scores
    Attention itself          `attention`, `causal_mask`                  posenc/attention.py
    Relative positions, Shaw  `relative_positions`, `shaw_index`,         posenc/relative.py
                              `relative_shift`, `relative_row`,
                              `relative_view`
    T5's buckets              `t5_buckets`, `t5_bucket_starts`,           posenc/t5.py
                              `t5_bias`, `t5_rows`
    Swin's window             `swin_index`, `swin_bias`                   posenc/swin.py
    Linear biases, ALiBi      `alibi_slopes`, `alibi_bias`,               posenc/alibi.py
                              `alibi_key_bias`, `alibi_rows`

`posenc.nn` has the same schemes as PyTorch modules, and a small GPT to try them in.
`posenc.diagnose` tells what is wrong with the positions of a model. Both need torch.
`posenc.vectors` tests any implementation against cases with known answers.

Conventions, everywhere: pair `i` owns dimensions 2i and 2i+1, i = 0 … d/2−1; its frequency is
base^(−2i/d), base 10000 by default; positions are integers or reals of any shape; a relative
position is key − query; biases are `[heads, query, key]`, and a mask is True where a query may
attend to a key; angles are float64 and only results are cast. `python -m posenc` prints an example.
"""

from posenc.alibi import alibi_bias, alibi_key_bias, alibi_rows, alibi_slopes
from posenc.attention import attention, causal_mask
from posenc.base import critical_dimension, extended_base, smallest_base
from posenc.baselines import counting_encoding, no_encoding
from posenc.combine import add, concatenate
from posenc.config import RotaryConfig, read_config
from posenc.features import (
    fourier_features,
    gaussian_frequencies,
    nerf_encoding,
    timestep_embedding,
)
from posenc.frequencies import frequencies, wavelengths
from posenc.learned import LearnedPositionalEmbedding, resize_table
from posenc.mrope import mrope_frequencies, mrope_positions
from posenc.relative import (
    relative_positions,
    relative_row,
    relative_shift,
    relative_view,
    shaw_index,
)
from posenc.resize import resize_grid, resize_weights
from posenc.rotary import (
    apply_rope,
    apply_rope_complex,
    convert_layout,
    convert_projection,
    convert_qkv,
    rope_matrix,
    rotary_frequencies,
)
from posenc.rotary_nd import (
    apply_rope_nd,
    axial_frequencies,
    mixed_frequencies,
    rotary_matrix,
)
from posenc.scaling import (
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
from posenc.sinusoidal import (
    PositionalEncoding,
    shift_matrix,
    similarity,
    sinusoidal_encoding,
    sinusoidal_table,
)
from posenc.sinusoidal_nd import grid_positions, sinusoidal_encoding_nd
from posenc.swin import swin_bias, swin_index
from posenc.t5 import t5_bias, t5_bucket_starts, t5_buckets, t5_rows

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
    "attention",
    "axial_frequencies",
    "causal_mask",
    "concatenate",
    "convert_layout",
    "convert_projection",
    "convert_qkv",
    "counting_encoding",
    "critical_dimension",
    "dynamic_frequencies",
    "extended_base",
    "fourier_features",
    "frequencies",
    "gaussian_frequencies",
    "grid_positions",
    "interpolated_frequencies",
    "llama3_frequencies",
    "longrope_frequencies",
    "longrope_temperature",
    "mixed_frequencies",
    "mrope_frequencies",
    "mrope_positions",
    "nerf_encoding",
    "no_encoding",
    "ntk_frequencies",
    "proportional_frequencies",
    "read_config",
    "relative_positions",
    "relative_row",
    "relative_shift",
    "relative_view",
    "resize_grid",
    "resize_table",
    "resize_weights",
    "rope_matrix",
    "rotary_frequencies",
    "rotary_matrix",
    "shaw_index",
    "shift_matrix",
    "similarity",
    "sinusoidal_encoding",
    "sinusoidal_encoding_nd",
    "sinusoidal_table",
    "smallest_base",
    "swin_bias",
    "swin_index",
    "t5_bias",
    "t5_bucket_starts",
    "t5_buckets",
    "t5_rows",
    "timestep_embedding",
    "wavelengths",
    "yarn_frequencies",
    "yarn_temperature",
]
