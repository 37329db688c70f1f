"""The names of this room that pages can use."""

from scripts.measure import summary

NAMES = {"measurement": summary.measurement, "summary": summary}
