# In Qwen3-VL (sections 24, 20, 20) pair 61 is in no section. A token at 100 000 on all axes:
import ctypes as c
import math
import sys
from pathlib import Path


class Memory(c.Structure):
    _fields_ = [("size", c.c_size_t), ("place", c.c_void_p), ("none", c.c_bool)]


folder = Path(sys.prefix) / "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"
base = c.CDLL(str(folder / "libggml-base.so"), c.RTLD_GLOBAL)
cpu = c.CDLL(str(folder / "libggml-cpu-x64.so"))
for name in ("init", "new_tensor_3d", "new_tensor_1d", "rope_multi", "new_graph", "get_data"):
    getattr(base, f"ggml_{name}").restype = c.c_void_p
cpu.ggml_cpu_init()

P, F, L = c.c_void_p, c.c_float, c.c_int64
context = P(base.ggml_init(Memory(2**22, None, False)))
x = P(base.ggml_new_tensor_3d(context, 0, L(128), L(1), L(1)))
c.memmove(P(base.ggml_get_data(x)), (F * 128)(*[1.0] * 64), 4 * 128)
positions = P(base.ggml_new_tensor_1d(context, 26, L(4)))
c.memmove(P(base.ggml_get_data(positions)), (c.c_int * 4)(100000, 100000, 100000, 0), 16)
numbers = [F(value) for value in (5e6, 1, 0, 1, 32, 1)]
sections = (c.c_int * 4)(24, 20, 20, 0)
turned = base.ggml_rope_multi(context, x, positions, None, 128, sections, 40, 0, *numbers)
graph = P(base.ggml_new_graph(context))
base.ggml_build_forward_expand(graph, P(turned))
cpu.ggml_graph_compute_with_ctx(context, graph, 1)
y = (F * 128).from_address(base.ggml_get_data(P(turned)))
print(f"pair 61 has turned by {math.atan2(y[61 + 64], y[61]):.4f}")
print(f"by its position in time: {100000 * 5e6 ** (-2 * 61 / 128):.4f}")
