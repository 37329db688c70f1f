"""Tests of the formal proofs, and of what checks them."""
