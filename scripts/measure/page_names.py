"""What a page may name of the measurements."""

from scripts.measure.report import measurement

NAMES = {"measurement": measurement}
