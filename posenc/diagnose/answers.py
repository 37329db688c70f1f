"""What a question returns: a `Diagnosis`; and the error raised where it has no answer."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

HEALTHY, ILL, UNDETERMINED, ABSENT = "healthy", "ill", "undetermined", "absent"
MARKS = {HEALTHY: "[ ok ]", ILL: "[ ILL]", UNDETERMINED: "[  ? ]", ABSENT: "[  - ]"}


@dataclass(frozen=True)
class Diagnosis:
    """The answer to one question about a model.

    Attributes:
        question: what was asked.
        status: "healthy", "ill", "undetermined", or "absent" where there is nothing to judge.
        verdict: the answer in a few words, one of those that the function documents.
        why: one sentence: what was measured, or why nothing could be.
        measured: the numbers, by name.
        remedy: what helps; empty unless ill.
    """

    question: str
    status: str
    verdict: str
    why: str
    measured: Mapping[str, float] = field(default_factory=dict)
    remedy: str = ""

    @property
    def ill(self) -> bool:
        """Whether something is wrong. False does not mean healthy: it may be undetermined."""
        return self.status == ILL

    def __str__(self) -> str:
        answer = f"{self.verdict[0].upper()}{self.verdict[1:]}. {self.why}"
        lines = [f"{MARKS[self.status]} {self.question}", *_indented_lines(answer)]
        return "\n".join(
            lines + (_indented_lines(f"What helps: {self.remedy}") if self.remedy else [])
        )


def _indented_lines(text: str) -> list[str]:
    """Return the text as lines to print below a question, short enough for a narrow window."""
    margin = " " * len(MARKS[ILL])
    return textwrap.wrap(text, 62, initial_indent=f"{margin} ", subsequent_indent=f"{margin} ")


def answer(
    status: str,
    verdict: str,
    why: str,
    measured: Mapping[str, float] | None = None,
    remedy: str = "",
) -> Diagnosis:
    """Return an answer that does not name its question yet: `posenc.diagnose.ask.ask` adds it."""
    return Diagnosis("", status, verdict, why, dict(measured or {}), remedy)


class CannotTellError(Exception):
    """A question has no answer. The message says why, as the end of "Undetermined, because …"."""


class ForwardError(CannotTellError):
    """The model's own forward failed. The cause is the error that it raised."""


def short(error: BaseException | None) -> str:
    """Return an error as one line of at most 160 characters."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line if len(line) <= 160 else f"{line[:157]}..."
