import os

os.environ["DEV"] = "PYTHON"
import numpy as np
from tinygrad import Tensor
from tinygrad.nn.onnx import onnx_ops

angles = np.arange(8, dtype=np.float32)[:, None]
tables = Tensor(np.cos(angles)), Tensor(np.sin(angles))
for position in (-1, -9):
    x = Tensor(np.array([[[[1.0, 0.0]]]], np.float32))
    one, two = onnx_ops["RotaryEmbedding"](x, *tables, Tensor([[position]])).numpy().ravel()
    print(f"position {position} turns (1, 0) to ({one:.4f}, {two:.4f})", end=", ")
    print(f"expected ({np.cos(position):.4f}, {np.sin(position):.4f})")
