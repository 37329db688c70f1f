"""What the vectors ask for, in plain Python, so that faults can be planted in it line by line."""

from math import ceil, cos, floor, frexp, ldexp, log, pi, sin, sqrt  # noqa: F401


def omegas(d, base=10000.0):
    return [base ** (-2 * i / d) for i in range(d // 2)]


def temperature(factor, mscale=1.0):
    return 0.1 * mscale * log(factor) + 1.0


def blend(omega, kept, factor):
    return [w * (k + (1 - k) / factor) for w, k in zip(omega, kept, strict=True)]


def between(value):
    return min(max(value, 0.0), 1.0)


def default(d, base=10000.0):
    return omegas(d, base), 1.0


def linear(d, factor, base=10000.0):
    return [w / factor for w in omegas(d, base)], 1.0


def ntk(d, factor, base=10000.0):
    return omegas(d, base * factor ** (d / (d - 2))), 1.0


def dynamic(d, length, factor, trained_length, base=10000.0):
    longest = max(length, trained_length)
    return ntk(d, factor * longest / trained_length - (factor - 1), base)


def yarn(
    d, factor, trained_length, base=10000.0, fast=32, slow=1, ramp="pairs", truncate=True, **scales
):
    omega = omegas(d, base)

    def pair(turns):
        return d * log(trained_length / (turns * 2 * pi)) / (2 * log(base))

    first, last = pair(fast), pair(slow)
    if truncate:
        first, last = floor(first), ceil(last)
    first, last = max(first, 0), min(last, d - 1)
    last = last if last > first else first + 0.001
    kept = [between((last - i) / (last - first)) for i in range(d // 2)]
    if ramp == "turns":
        kept = [between((trained_length * w / (2 * pi) - slow) / (fast - slow)) for w in omega]
    return blend(omega, kept, factor), yarn_factor(factor, **scales)


def yarn_factor(factor, attention_factor=None, mscale=None, mscale_all_dim=None):
    if attention_factor is not None:
        return attention_factor
    if mscale and mscale_all_dim:
        return temperature(factor, mscale) / temperature(factor, mscale_all_dim)
    return temperature(factor)


def llama3(d, factor, trained_length, low=1, high=4, base=10000.0):
    turns = [trained_length * w / (2 * pi) for w in omegas(d, base)]
    kept = [between((r - low) / (high - low)) if high > low else float(r >= low) for r in turns]
    return blend(omegas(d, base), kept, factor), 1.0


def longrope(d, length, short, long, trained_length, factor, base=10000.0, attention_factor=None):
    divisors = long if length > trained_length else short
    scale = attention_factor or sqrt(1 + log(factor) / log(trained_length))
    return [w / s for w, s in zip(omegas(d, base), divisors, strict=True)], scale


def proportional(d, rotary_d, factor=1.0, base=10000.0):
    return [w / factor if 2 * i < rotary_d else 0.0 for i, w in enumerate(omegas(d, base))], 1.0


def frequencies(rule, **given):
    found, scale = globals()[rule](**given)
    return {"frequencies": found, "attention_factor": scale}


def rotate(x, angles, layout):
    turned, half = list(x), len(angles)
    for i, angle in enumerate(angles):
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + half)
        turned[a] = x[a] * cos(angle) - x[b] * sin(angle)
        turned[b] = x[a] * sin(angle) + x[b] * cos(angle)
    return turned


def rotation(x, positions, layout="interleaved", base=10000.0, frequencies=None, rotary_d=None):
    if isinstance(x[0][0], list):
        places = positions if isinstance(positions[0], list) else [positions] * len(x)
        pairs = zip(x, places, strict=True)
        return [rotation(one, place, layout, base, frequencies, rotary_d) for one, place in pairs]
    part = rotary_d or len(x[0])
    omega = frequencies or omegas(part, base)
    angles = [[p * w for w in omega] for p in positions]
    return [
        rotate(row[:part], angle, layout) + row[part:] for row, angle in zip(x, angles, strict=True)
    ]


def scores(query, key, query_positions, key_positions, layout, base):
    queries = rotation(query, query_positions, layout, base)
    keys = rotation(key, key_positions, layout, base)
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries]


def rotation_2d(x, positions, first, layout, base):
    half = len(x[0]) // 2
    row, column = ([place[axis] for place in positions] for axis in (0, 1))
    one, two = (row, column) if first == "row" else (column, row)
    left = rotation([v[:half] for v in x], one, layout, base)
    right = rotation([v[half:] for v in x], two, layout, base)
    return [a + b for a, b in zip(left, right, strict=True)]


def mrope(x, positions, sections, layout, interleaved_sections, base):
    axes = [axis for axis in range(3) for _ in range(sections[axis])]
    if interleaved_sections:
        axes = [i % 3 if i < 3 * sections[i % 3] else 0 for i in range(sum(sections))]
    omega = omegas(len(x[0]), base)
    return [
        rotate(v, [positions[axis][n] * w for axis, w in zip(axes, omega, strict=True)], layout)
        for n, v in enumerate(x)
    ]


def sinusoidal(positions, d_model, base, order, first, shift):
    half = d_model // 2
    omega = [base ** (-i / (half - shift)) for i in range(half)]
    rows = []
    for p in positions:
        one, two = [sin(p * w) for w in omega], [cos(p * w) for w in omega]
        if first == "cosine":
            one, two = two, one
        pairs = zip(one, two, strict=True)
        rows.append(one + two if order == "halves" else [v for pair in pairs for v in pair])
    return rows


def alibi(heads):
    below = 2 ** floor(log(heads, 2) + 1e-9)
    more = [2 ** (-4 * (2 * h + 1) / below) for h in range(heads - below)]
    return [2 ** (-8 * (h + 1) / below) for h in range(below)] + more


def alibi_bias(heads, query_length, key_length, causal, query_offset=0):
    def entry(slope, q, k):
        return "-Infinity" if causal and k > q else -slope * abs(k - q)

    queries = range(query_offset, query_offset + query_length)
    return [[[entry(m, q, k) for k in range(key_length)] for q in queries] for m in alibi(heads)]


def t5(relative, bidirectional, buckets, max_distance):
    if isinstance(relative, list):
        return [t5(one, bidirectional, buckets, max_distance) for one in relative]
    side = buckets // 2 if bidirectional else buckets
    own = side if bidirectional and relative > 0 else 0
    distance = abs(relative) if bidirectional else max(-relative, 0)
    exact = side // 2
    if distance < exact:
        return own + distance
    grown = log(distance / exact) / log(max_distance / exact) * (side - exact)
    return own + min(exact + floor(grown + 1e-9), side - 1)


def swin(window):
    cells = [divmod(n, window) for n in range(window * window)]
    wide, shift = 2 * window - 1, window - 1
    return [[(r - s + shift) * wide + c - e + shift for s, e in cells] for r, c in cells]


def shaw(query_length, key_length, max_distance):
    far = max_distance
    return [
        [min(max(k - q, -far), far) + far for k in range(key_length)] for q in range(query_length)
    ]


def resize(table, rows):
    found = []
    for row in range(rows):
        place = row * (len(table) - 1) / max(rows - 1, 1)
        below = min(int(place), len(table) - 1)
        above = min(below + 1, len(table) - 1)
        share = place - below
        found.append(
            [a * (1 - share) + b * share for a, b in zip(table[below], table[above], strict=True)]
        )
    return found


def positions(mask=None, lengths=None, queries=None):
    if lengths is not None:
        return [place for length in lengths for place in range(length)]
    rows = [[max(sum(row[: n + 1]) - 1, 0) for n in range(len(row))] for row in mask]
    return [row[-queries:] for row in rows] if queries else rows


TABLES = {}


class Rotary:
    def __init__(self, d, base=10000.0, layout="interleaved", **rule):
        self.d, self.base, self.layout, self.rule = d, base, layout, rule
        self.seen, self.longest = 0, 0
        self.omega = omegas(d, base)

    def rotate(self, x, positions):
        omega = TABLES.setdefault((self.d, self.base), self.omega)
        return rotation(x, positions, self.layout, frequencies=omega)

    def extend(self, x):
        start = self.seen
        self.seen = start + len(x)
        return self.rotate(x, list(range(start, start + len(x))))

    def restart(self):
        self.seen = 0

    def frequencies(self, length):
        self.longest = length
        return frequencies(d=self.d, base=self.base, length=self.longest, **self.rule)[
            "frequencies"
        ]

    def cast(self, dtype):
        self.dtype = dtype


sequences = Rotary
