import mlx.core as mx
from mlx_lm.models.rope_utils import initialize_rope

scaling = {
    "type": "yarn",
    "factor": 16.0,
    "original_max_position_embeddings": 4096,
    "attention_factor": 1.0,
}
x = mx.random.normal((1, 1, 4, 64))
rotated = initialize_rope(64, 10000.0, False, scaling)(x)
print(f"attention factor asked for: {scaling['attention_factor']:.4f}")
print(f"vectors grow by: {(mx.linalg.norm(rotated) / mx.linalg.norm(x)).item():.4f}")
