"""The PyTorch modules: one file a module of `posenc.nn`, and what holds of all of them."""
