"""Runs the test vectors against other libraries, each in an environment of its own."""
