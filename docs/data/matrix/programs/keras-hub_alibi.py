import os

os.environ["KERAS_BACKEND"] = "jax"
import keras_hub
import numpy as np

bias = np.array(keras_hub.layers.AlibiBias()(np.zeros((1, 8, 3, 3), "float32")))[0, 0]
print(f"first head, query 1 on keys 0 and 1: {bias[1, 0]:.2f} and {bias[1, 1]:.2f}")
print(f"by their distances: {-1 / 2:.2f} and {0:.2f}; the difference is the same")
