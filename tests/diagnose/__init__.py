"""The tests of posenc.diagnose, a file a module."""
