"""The numpy package: one file a module of `posenc`, and what holds of all of them."""
