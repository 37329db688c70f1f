"""The names of this room that pages can use."""

from scripts.measure.report import measurement

NAMES = {"measurement": measurement}
