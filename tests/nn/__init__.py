"""Tests of posenc.nn, one file per module."""
