"""The names of this room that pages can use."""

from scripts.measure.summary import measurement

NAMES = {"measurement": measurement}
