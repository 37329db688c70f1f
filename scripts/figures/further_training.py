"""Further training under each rule: perplexity and a key far back, before and after."""

from __future__ import annotations

from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.figures._parts import panel, write
from scripts.figures.style import Ink
from scripts.measure.summary import FURTHER_TRAINED, measurement

SIZE = (930, 300)
PHONE = (340, 560)
ROW, TOP, LEFT, APART = 26, 64, 168, 190  # a rule's; from the top; of the panels; and between them
WIDE, TALL = 270, ROW * len(FURTHER_TRAINED)


def draw(figure: Figure, ink: Ink, narrow: bool) -> None:
    """Draw a panel of perplexities at eight times the length, and one of accuracies."""
    wide = 150 if narrow else WIDE
    _key(figure, ink)
    for number, (task, title) in enumerate(PANELS.items()):
        left, top = (LEFT, TOP + 258 * number) if narrow else (LEFT + (WIDE + APART) * number, TOP)
        axes = panel(figure, left, top, wide, TALL)
        _dots(axes, ink, task)
        axes.set_title(title)
        axes.set_yticks(range(len(FURTHER_TRAINED)))
        axes.set_yticklabels(FURTHER_TRAINED.values())


PANELS = {"further": "perplexity, 512 bytes", "further_retrieval": "accuracy, 256 letters"}


def _key(figure: Figure, ink: Ink) -> None:
    """Draw a hollow and a filled dot, and what they mean."""
    for left, words, face in ((8, "before", ink.paper), (110, "after further training", None)):
        axes = panel(figure, left, 8, 20, 20)
        axes.plot(0, 0, "o", color=ink.categorical[0], markerfacecolor=face)
        axes.set(xlim=(-1, 1), ylim=(-1, 1))
        axes.set_axis_off()
        write(figure, words, left + 24, 14)


def _dots(axes: Axes, ink: Ink, task: str) -> None:
    """Draw the medians of each rule, joined, and the range over the seeds."""
    measured = measurement()
    values = measured.perplexities if task == "further" else measured.accuracies
    longest = measured.lengths(task)[-1]
    color = ink.categorical[0]
    for row, name in enumerate(FURTHER_TRAINED):
        before, after = (values(f"{name}{end}", longest, task) for end in ("", ", further"))
        axes.plot([median(before), median(after)], [row, row], color=ink.edge, linewidth=0.75)
        for found, face in ((before, ink.paper), (after, color)):
            axes.plot([min(found), max(found)], [row, row], color=color, linewidth=2, alpha=0.4)
            axes.plot(median(found), row, "o", color=color, markerfacecolor=face)
    axes.set_ylim(len(FURTHER_TRAINED) - 0.5, -0.5)
    if task == "further":
        axes.set_xscale("log")
        axes.set_xticks((4, 16, 64), ("4", "16", "64"))
        axes.minorticks_off()
    else:
        axes.set_xlim(-0.03, 1.03)
        axes.set_xticks((0, 0.5, 1), ("0", "0.5", "1"))
