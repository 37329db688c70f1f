import os

os.environ["KERAS_BACKEND"] = "jax"
import numpy as np
from keras_hub.src.models.llama.llama_rotary_embedding import LlamaRotaryEmbedding

layer = LlamaRotaryEmbedding(position_scaling_factor=4.0)
unit = np.zeros((1, 2, 64), "float32")
unit[..., :32] = 1
x = np.array(layer(unit))[0, 1]
print(f"the fastest pair turns by {np.arctan2(x[32], x[0]):.4f} a token")
print(f"with positions divided by 4 by {1 / 4:.4f}")
