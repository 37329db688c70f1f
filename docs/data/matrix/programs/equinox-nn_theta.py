import jax.numpy as jnp
from equinox.nn import RotaryPositionalEmbedding

x = jnp.ones((8, 4))
before = RotaryPositionalEmbedding(4, theta=10000.0)(x)
after = RotaryPositionalEmbedding(4, theta=500000.0)(x)
cosines, sines = RotaryPositionalEmbedding.precompute_freqs_cis(4, 8, 500000.0, jnp.float32)
expected = cosines[7, 1] - sines[7, 1]
print(f"theta 500000 after theta 10000: {after[7, 1]:.6f}, as with theta 10000: {before[7, 1]:.6f}")
print(f"theta 500000 by its own table: {expected:.6f}")
