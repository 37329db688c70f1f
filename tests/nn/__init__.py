"""The tests of posenc.nn, a file a module."""
