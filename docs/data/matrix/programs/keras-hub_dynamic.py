import os

os.environ["KERAS_BACKEND"] = "jax"
import keras_hub
import numpy as np

layer = keras_hub.layers.RotaryEmbedding(rope_type="dynamic", scaling_factor=4.0)
unit = np.zeros((1, 2, 64), "float32")
unit[..., :32] = 1
x = np.array(layer(unit))[0, 1]
print(f"the fastest pair turns by {np.arctan2(x[32], x[0]):.4f} a token in a text of 2")
print(f"with a larger base, of whatever size, by {1:.4f}")
