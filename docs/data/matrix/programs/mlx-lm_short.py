import mlx.core as mx
from mlx_lm.models.rope_utils import initialize_rope

scaling = {
    "type": "longrope",
    "original_max_position_embeddings": 4096,
    "short_factor": [1.0] * 32,
    "long_factor": [4.0] * 32,
}
rope = initialize_rope(64, 10000.0, False, scaling, 131072)
x = mx.zeros((1, 1, 100, 64)).at[..., :32].add(1.0)  # 100 tokens, far below 4096
x = rope(x)[0, 0, 1]
print(f"the first pair turns by {mx.arctan2(x[32], x[0]).item():.4f} a token")
print(f"divided by its short factor: {1 / scaling['short_factor'][0]:.4f}")
