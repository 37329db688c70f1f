"""The names of this room that pages can use."""

from scripts.proofs import summary

NAMES = {"proofs": summary}
