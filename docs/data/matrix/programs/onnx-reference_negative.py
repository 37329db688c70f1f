import numpy as np
from onnx.reference.ops.op_rotary_embedding import rotary_embedding

angles = np.arange(8)[:, None] * np.ones((1, 1))
x = np.array([[[[1.0, 0.0]]]])
tables = np.cos(angles), np.sin(angles)
rotated = rotary_embedding(x, *tables, position_ids=np.array([[-1]]))
print(f"position -1 turns (1, 0) to ({rotated[0, 0, 0, 0]:.4f}, {rotated[0, 0, 0, 1]:.4f})")
print(f"by one radian backwards: ({np.cos(-1):.4f}, {np.sin(-1):.4f})")
