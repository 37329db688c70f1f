"""Attention, and everything that is added to its scores."""
