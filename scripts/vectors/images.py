"""Suites resize_grid and mrope_positions: grids of places at other sizes, and images in a text."""

from __future__ import annotations

from typing import Any

from scripts.vectors.cases import Answer, Suite, angle_tolerance
from scripts.vectors.exact import Number, Row, exact, largest, leaves, mp, vectors

Inputs = dict[str, Any]


def cubic(distance: Number, sharp: Number) -> Number:
    """Return Keys' kernel with this value of a."""
    x = abs(distance)
    if x <= 1:
        return (sharp + 2) * x**3 - (sharp + 3) * x**2 + 1
    return sharp * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else exact(0)


def hat(distance: Number, sharp: Number) -> Number:
    """Return the kernel of linear interpolation."""
    return max(1 - abs(distance), exact(0))


def weights(old: int, new: int, how: Inputs) -> list[Row]:
    """Return the weight of each old place in each new one."""
    step = exact(old) / (new + exact(how.get("more", 0)))
    kernel = {"cubic": cubic, "linear": hat}[how["kernel"]]
    sharp = exact(how.get("sharp", -0.5 if how["antialias"] else -0.75))
    rows = []
    for place in range(new):
        at = (place + exact("0.5")) * step - exact("0.5")
        if how.get("edges"):
            at = place * step
        if how["corners"]:
            at = exact(place) * (old - 1) / max(new - 1, 1)
        row = [exact(0)] * old
        if how["antialias"]:
            wide = max(step, exact(1))
            row = [kernel((at - n) / wide, sharp) for n in range(old)]
            whole = wide if how.get("loose") else sum(row)
            row = [weight / whole for weight in row]
        else:
            lower = int(mp.floor(at))
            for near in range(lower - 1, lower + 3):
                if how.get("zeros") and not 0 <= near < old:
                    continue
                row[min(max(near, 0), old - 1)] += kernel(at - near, sharp)
        rows.append(row)
    return rows


def resized(inputs: Inputs, **other: Any) -> Any:
    """Return the rows of a grid at other sizes."""
    how = inputs | other
    grid, (height, width) = how["grid"], how["sizes"]
    down, across = weights(len(grid), height, how), weights(len(grid[0]), width, how)
    columns = range(len(grid[0][0]))
    return [
        [
            [
                sum(
                    a * b * exact(grid[y][x][c])
                    for y, a in enumerate(one)
                    if a
                    for x, b in enumerate(two)
                    if b
                )
                for c in columns
            ]
            for two in across
        ]
        for one in down
    ]


def _flipped(key: str) -> Answer:
    """Return a bug that takes the other value of a choice, where that is possible."""

    def wrong(inputs: Inputs) -> Any:
        other = inputs | {key: not inputs[key]}
        return None if other["corners"] and other["antialias"] else resized(other)

    return wrong


def _axes_exchanged(inputs: Inputs) -> Any:
    """Read the new sizes as width and height, and return the places in the order asked for."""
    height, width = inputs["sizes"]
    if height == width:
        return None
    flat = [row for line in resized(inputs, sizes=[width, height]) for row in line]
    return [flat[n * width : (n + 1) * width] for n in range(height)]


def _read_across(grid: Any) -> Any:
    """Return the places of a grid as if they were stored column by column."""
    flat, height = [row for line in grid for row in line], len(grid)
    return [flat[n::height] for n in range(height)]


def _nearest(inputs: Inputs) -> Any:
    grid, (height, width) = inputs["grid"], inputs["sizes"]
    rows, columns = len(grid), len(grid[0])
    return [
        [[exact(v) for v in grid[y * rows // height][x * columns // width]] for x in range(width)]
        for y in range(height)
    ]


GRIDS: dict[str, tuple[str, Answer]] = {
    "corners exchanged": (
        "The ends stay where they should move, or the other way round.",
        _flipped("corners"),
    ),
    "antialias exchanged": (
        "The kernel grows where it should not, or does not where it should.",
        _flipped("antialias"),
    ),
    "the other kernel": (
        "Interpolation is linear instead of cubic, or the other way round.",
        lambda g: resized(g, kernel="linear" if g["kernel"] == "cubic" else "cubic"),
    ),
    "the other cubic": (
        "The cubic kernel has the sharpness of the other kind: −3/4 with antialias, −1/2 without.",
        lambda g: (
            resized(g, sharp=-0.75 if g["antialias"] else -0.5) if g["kernel"] == "cubic" else None
        ),
    ),
    "height and width exchanged": ("The new sizes are read as width and height.", _axes_exchanged),
    "a tenth added to the sizes": (
        "The step is that of sizes that are 0.1 larger, as in DINOv2.",
        lambda g: None if g["corners"] else resized(g, more="0.1"),
    ),
    "edges aligned": (
        "Place i is read at i · step, without the half that aligns the centres of cells.",
        lambda g: None if g["corners"] or g["antialias"] else resized(g, edges=True),
    ),
    "weights not normalised": (
        "The weights of a kernel that grows do not add up to 1 at the ends.",
        lambda g: resized(g, loose=True) if g["antialias"] else None,
    ),
    "grid read as width by height": (
        "The rows of the table are read as those of a grid whose sides are exchanged.",
        lambda g: resized(g, grid=_read_across(g["grid"])),
    ),
    "zeros beyond the ends": (
        "Places beyond the ends count as 0 instead of as the last.",
        lambda g: None if g["antialias"] else resized(g, zeros=True),
    ),
    "nearest place": ("The nearest old row is taken, not a mixture.", _nearest),
}


def resize_grid_suite() -> Suite:
    """Return suite resize_grid."""
    suite = Suite(
        "resize_grid",
        "A grid of learned positions, (height, width, d), resized to other sizes as by torch's"
        " interpolate. kernel is linear, or cubic with Keys' a of −3/4, or −1/2 with antialias."
        " corners: the corner positions keep their values; otherwise cells are aligned. antialias:"
        " where the grid shrinks, the kernel is as many times wider as the step, and weights beyond"
        " the ends are dropped.",
        "The new grid, (sizes[0], sizes[1], d).",
        resized,
        GRIDS,
        tolerance=lambda inputs, answer: angle_tolerance(2 * largest(leaves(inputs["grid"])), 0),
    )
    seed = 9000
    choices = ((True, False), (False, False), (False, True))
    ways = [(kernel, *one) for kernel in ("linear", "cubic") for one in choices]
    for kernel, corners, antialias in ways:
        for old, new in (((2, 2), (4, 4)), ((3, 4), (5, 2)), ((6, 5), (3, 4)), ((4, 7), (2, 3))):
            seed += 1
            inputs = {"grid": vectors(seed, *old, 1), "sizes": list(new), "kernel": kernel}
            smaller = "smaller" if new[0] < old[0] else "larger"
            suite.add(kernel, inputs | {"corners": corners, "antialias": antialias}, smaller)
    plain = {"grid": vectors(1, 2, 2, 1), "sizes": [2, 2], "kernel": "linear"}
    plain |= {"corners": False, "antialias": False}
    suite.refuse(plain | {"sizes": [0, 2]}, "sizes")
    suite.refuse(plain | {"kernel": "quintic"}, "unknown kernel")
    suite.refuse(plain | {"corners": True, "antialias": True}, "contradiction")
    return suite


def places(inputs: Inputs, **other: Any) -> Any:
    """Return time, height and width of each token of text, images and videos."""
    how: Inputs = {"intervals": 1, "after": "largest"}
    how |= inputs | other
    found: list[list[int]] = []
    start = 0
    for part in how["parts"]:
        if isinstance(part, int):
            found += [[start + n] * 3 for n in range(part)]
            start += part
            continue
        frames, height, width = part
        times = [how.get("time", _time)(f, how["intervals"], start) for f in range(frames)]
        own = [
            [time, how.get("sides", start) + row, how.get("sides", start) + column]
            for time in times
            for row, column in _patches(height, width, how.get("by_columns", False))
        ]
        found += [[start, *place[1:]] if how.get("still") else place for place in own]
        after = {"largest": max(map(max, own)) + 1, "sides": start + max(height, width)}
        after |= {"early": max(map(max, own))}
        after |= {"frames": times[-1] + 1}
        after |= {"tokens": start + len(own), "one": start + 1}
        start = after[how["after"]]
    return found


def _patches(height: int, width: int, by_columns: bool) -> list[tuple[int, int]]:
    """Return the row and the column of each patch of a frame."""
    if by_columns:
        return [(row, column) for column in range(width) for row in range(height)]
    return [divmod(n, width) for n in range(height * width)]


def _frames_apart(parts: Any) -> Any:
    """Return parts with an image for each frame."""
    found: list[Any] = []
    for part in parts:
        found += [part] if isinstance(part, int) else [[1, *part[1:]]] * part[0]
    return found


def _time(frame: int, interval: Number, start: int) -> int:
    return start + int(mp.floor(exact(frame) * exact(interval)))


def _order(*axes: int) -> Answer:
    return lambda inputs: [[place[axis] for axis in axes] for place in places(inputs)]


def _steps_by_count(inputs: Inputs) -> Any:
    """Count the last part of text by the tokens before it."""
    parts = inputs["parts"]
    if not isinstance(parts[-1], int):
        return None
    right = places(inputs)
    first = len(right) - parts[-1]
    return [*right[:first], *([n] * 3 for n in range(first, len(right)))]


MEDIA: dict[str, tuple[str, Answer]] = {
    "text after counted in tokens": (
        "Text after an image goes on from the count of tokens, not from the largest position.",
        lambda g: places(g, after="tokens"),
    ),
    "steps counted in tokens": (
        "The last text, as steps after a prompt are, is counted by the tokens before it.",
        _steps_by_count,
    ),
    "image as one position": (
        "Text after an image goes on as if that took a single position.",
        lambda g: places(g, after="one"),
    ),
    "the other end": (
        "Text after a video begins after its sides instead of its largest position, or the other"
        " way round.",
        lambda g: places(g, after="largest" if g.get("after") == "sides" else "sides"),
    ),
    "frames at one time": (
        "All frames of a video have the time of the first.",
        lambda g: places(g, still=True),
    ),
    "start times interval": (
        "The time of all frames is the start multiplied by the interval.",
        lambda g: places(g, time=lambda f, interval, start: int(start * interval)),
    ),
    "interval ignored": ("Frames are one position apart.", lambda g: places(g, intervals=1)),
    "text alone": (
        "Every token has the next position on all axes, as in a text.",
        lambda g: [[n] * 3 for n in range(len(places(g)))],
    ),
    "height and width exchanged": ("The last two axes are exchanged.", _order(0, 2, 1)),
    "time last": ("The axes come as height, width and time.", _order(1, 2, 0)),
    "text after the last frame": (
        "Text after a video begins one after its last time, whatever its sides.",
        lambda g: places(g, after="frames"),
    ),
    "times rounded to nearest": (
        "Times are rounded to the nearest integer instead of down.",
        lambda g: places(
            g, time=lambda f, interval, start: start + int(mp.nint(f * exact(interval)))
        ),
    ),
    "times rounded up": (
        "Times are rounded up instead of down.",
        lambda g: places(
            g, time=lambda f, interval, start: start + int(mp.ceil(f * exact(interval)))
        ),
    ),
    "interval as an integer": (
        "The interval loses its fraction.",
        lambda g: places(g, intervals=int(g.get("intervals", 1))),
    ),
    "patches by columns": (
        "The patches of a frame come column by column.",
        lambda g: places(g, by_columns=True),
    ),
    "part after a grid one too early": (
        "The part after a grid begins at its largest position, not one after.",
        lambda g: None if g.get("after") == "sides" else places(g, after="early"),
    ),
    "frames as images": (
        "Each frame of a video is placed as an image of its own, after the one before.",
        lambda g: places(g, parts=_frames_apart(g["parts"])),
    ),
    "sides from zero": (
        "Height and width are counted from 0 in each image, time from where it starts.",
        lambda g: places(g, sides=0),
    ),
    "image from zero": (
        "Images are counted from 0, not from where they start.",
        lambda g: _from_zero(g),
    ),
    "positions from one": (
        "The first position counts as 1.",
        lambda g: [[p + 1 for p in place] for place in places(g)],
    ),
}


def _from_zero(inputs: Inputs) -> Any:
    found, done = places(inputs), 0
    for part in inputs["parts"]:
        size = part if isinstance(part, int) else part[0] * part[1] * part[2]
        if not isinstance(part, int):
            first = found[done]
            for place in found[done : done + size]:
                place[:] = [a - b for a, b in zip(place, first, strict=True)]
        done += size
    return found


def mrope_positions_suite() -> Suite:
    """Return suite mrope_positions."""
    suite = Suite(
        "mrope_positions",
        "The positions of M-RoPE in a sequence of parts: a number of tokens of text, or frames,"
        " height and width of an image or a video. A grid starts at the next position; its frames"
        " are intervals apart in time, rounded down, 1 if not given. The part after it begins"
        " one after the largest position, or with after sides at the grid's start plus the larger"
        " of height and width. A step after a prompt is text at the end.",
        "Time, height and width of each token.",
        places,
        MEDIA,
    )
    image, video = [1, 4, 4], [3, 2, 2]
    for parts in (
        [5],
        [5, image, 3],
        [5, image, 3, 1],
        [image, 2],
        [2, [1, 2, 3], 2],
        [2, [1, 3, 2], 1, [1, 2, 2], 4],
        [3, image, image, 2],
    ):
        suite.add("image", {"parts": parts}, "image" if len(parts) > 1 else "text")
    for parts in (
        [15, video, 2],
        [4, [4, 2, 3], 3, 1],
        [video, 1, [1, 2, 2], 2],
        [6, [6, 1, 2], 2],
    ):
        for given in ({}, {"intervals": 4}, {"intervals": 0.5}, {"intervals": 4, "after": "sides"}):
            suite.add("video", {"parts": parts} | given, "video")
    suite.refuse({"parts": [3, [1, 0, 2]]}, "sizes")
    suite.refuse({"parts": [-1, [1, 2, 2]]}, "sizes")
    suite.refuse({"parts": [3, [2, 2, 2]], "intervals": -1}, "interval")
    return suite
