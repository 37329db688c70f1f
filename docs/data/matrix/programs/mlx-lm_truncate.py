import math

import mlx.core as mx
from mlx_lm.models.rope_utils import initialize_rope

d, base, length, factor, pair = 64, 150000.0, 4096, 32.0, 10
scaling = {"type": "yarn", "factor": factor, "original_max_position_embeddings": length}
rope = initialize_rope(d, base, False, scaling | {"truncate": False})
x = mx.concatenate([mx.ones((1, 1, 1, d // 2)), mx.zeros((1, 1, 1, d // 2))], axis=-1)
x = (rope(x, offset=1) / rope.mscale)[0, 0, 0]
ends = [d * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (32, 1)]
ramp = (pair - ends[0]) / (ends[1] - ends[0])
omega = base ** (-2 * pair / d) * (1 - ramp + ramp / factor)
print(f"pair {pair} turns by {mx.arctan2(x[pair + d // 2], x[pair]).item():.6f}")
print(f"with ends that are not rounded: {omega:.6f}")
