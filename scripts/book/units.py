"""Units of bound numbers: `{{ 57.3 degrees = frequencies(8)[0] in radians }}`.

The unit before the equals sign is the one printed on the page; the one at the end is that of the
expression. The value is converted before it is compared, so printing the wrong unit fails like
printing a wrong number.
"""

from __future__ import annotations

import math

# The size of each unit, in terms of the first of its kind.
KINDS = {
    "angle": {"radian": 1.0, "degree": math.pi / 180, "°": math.pi / 180, "turn": 2 * math.pi},
    "time": {"second": 1.0, "millisecond": 1e-3, "microsecond": 1e-6},
    "size": {"byte": 1.0, "KB": 1e3, "MB": 1e6},
}
UNITS = {unit: (kind, size) for kind, sizes in KINDS.items() for unit, size in sizes.items()}


def convert(value: float, computed: str, printed: str) -> float:
    """Return a value converted from one unit to another.

    Examples:
        >>> convert(0.5, "turns", "degrees")
        180.0
    """
    (one, size), (other, unit) = _unit(computed), _unit(printed)
    if one != other:
        raise ValueError(f"{computed} is a unit of {one}, but {printed} is a unit of {other}")
    return value if size == unit else value * (size / unit)


def _unit(name: str) -> tuple[str, float]:
    if not name:
        raise ValueError("both sides need a unit: {{ 57 degrees = 1 in radians }}")
    if name not in UNITS and name.removesuffix("s") not in UNITS:
        raise ValueError(f"{name!r} is not a known unit; known are {', '.join(UNITS)}")
    return UNITS.get(name) or UNITS[name.removesuffix("s")]
