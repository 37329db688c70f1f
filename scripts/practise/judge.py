"""Judges an answer: runs the checks of its exercise, and says of each whether it holds, or why not.

The same file runs in the reader's browser, in the notebook and in the tests, so it needs only
numpy. It never looks at the code of an answer, only at what it computes. If that is what a wrong
answer of the exercise computes, the message meant for that one is given; otherwise the two results
are compared in general.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Names = dict[str, Any]

ANSWER = "<your answer>"
MOST = 10_000  # characters of the answer's own output that are kept
PACKAGE = "posenc"
AGAIN = "The same slip as above."
REFUSED = "refused"
TOO_LARGE = "Maximum allowed dimension", "array is too big"
# What an error usually means, by words of its message.
HINTS = {
    "for ^:": "A power is written `**` in Python.",
    "bitwise_xor": "A power is written `**` in Python.",
    "could not be broadcast": "To combine every entry of one array with every entry of"
    " another, give one of them a new axis: `a[:, np.newaxis] * b`.",
    "mismatch in its core dimension": "The inner sizes of a product must agree: is a `.T` missing?",
    "list indices must be": "This is a list; `np.asarray` makes an array of it.",
    "EOF when reading": "Nobody can type anything in while an answer is checked.",
    "truth value of an array": "`if`, `min` and `max` take one number, and this is an array: try"
    " `np.where`, `np.minimum` or `np.maximum`.",
    "for /: 'list'": "This is a list; `np.asarray` makes an array of it.",
    "infinity to integer": "An array of integers cannot hold infinity: make it one of floats.",
    "only integer scalar arrays": "There is an array where a single integer is needed.",
    "object cannot be interpreted as an integer": "There is a float where an integer"
    " is needed: divide with `//`.",
}


@dataclass(frozen=True)
class Outcome:
    """What a program ends with: the value of its last line, or an error."""

    value: Any = None
    error: BaseException | None = None
    several: bool = False  # the value came as a tuple or a list


@dataclass(frozen=True)
class Report:
    """The sentences about an answer, each with whether it holds, and what the answer printed."""

    lines: tuple[tuple[bool, str], ...]
    printed: str = ""

    @property
    def is_solved(self) -> bool:
        """Return whether all sentences hold."""
        return all(holds for holds, _ in self.lines)

    def __str__(self) -> str:
        """Return the sentences, one a line, each with a tick or a cross."""
        return "\n".join(f"{'✓' if holds else '✗'} {says}" for holds, says in self.lines)


class _Bounded(io.StringIO):
    """Keeps the first characters of an output, however long it is."""

    def write(self, text: str) -> int:
        return super().write(text[: max(0, MOST - self.tell())])


def report(exercise: Names, answer: str) -> Report:
    """Return the report about an answer, given as a text."""
    printed = _Bounded()
    with contextlib.redirect_stdout(printed), _without_the_package():
        names: Names = {}
        run(exercise.get("given", ""), names, "<given>")
        fault = _fault(answer, names)
        lines = ((False, fault),) if fault else judge_answer(exercise, names)
    return Report(lines, printed.getvalue())


def as_json(exercise: str, answer: str) -> str:
    """Return the report as the page reads it."""
    result = report(json.loads(exercise), answer)
    return json.dumps(
        {"solved": result.is_solved, "lines": result.lines, "printed": result.printed}
    )


def judge_answer(exercise: Names, names: Names) -> tuple[tuple[bool, str], ...]:
    """Return the sentences about an answer that has been run, given by the names it defines."""
    missing = [name for name in exercise["defines"] if name not in names]
    if missing:
        return ((False, f"There is no `{missing[0]}`: keep the name that the exercise gives."),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wrong answers overflow, and say so in their message
        return _judge_checks(exercise, names)


def _judge_checks(exercise: Names, names: Names) -> tuple[tuple[bool, str], ...]:
    """Return a sentence for each check."""
    checks = exercise["checks"]
    right = _outcomes(exercise["solution"], checks)
    answers = [_outcome(code, names) for _, code in checks]
    near = exercise["tolerance"]
    correct = [same_outcome(a, b, near) for a, b in zip(answers, right, strict=True)]
    answers = [_as_mask(a, b) for a, b in zip(answers, right, strict=True)]
    reasons = [] if all(correct) else _reasons(exercise, answers, right, correct)
    return tuple(
        (holds, says if holds else f"{says} {reason}")
        for (says, _), holds, reason in zip(checks, correct, reasons or correct, strict=True)
    )


def _reasons(
    exercise: Names, answers: list[Outcome], right: list[Outcome], correct: list[bool]
) -> list[str]:
    """Return why each check fails, empty for those that hold."""
    known = _explanations(exercise, answers, right, correct)
    reasons, causes = [], []
    for n, holds in enumerate(correct):
        reason = next((message for message, explains in known if explains[n]), "")
        cause = ""
        if not holds:
            cause = reason or _cause(answers[n]) or describe_difference(answers[n], right[n])
        if holds or cause in causes:
            reasons.append("" if holds else AGAIN)
        else:
            reasons.append(reason or describe_difference(answers[n], right[n]))
        causes.append(cause)
    return reasons


def _explanations(
    exercise: Names, answers: list[Outcome], right: list[Outcome], correct: list[bool]
) -> list[tuple[str, list[bool]]]:
    """Return the message of each wrong answer, and whether it explains the outcome of each check.

    The wrong answer that has the most outcomes in common with the given one comes first. One that
    explains no more than half of what fails counts only where it cannot be chance.
    """
    near, ranked = exercise["tolerance"], []
    for message, code in exercise["wrong"]:
        wrong = _outcomes(code, exercise["checks"])
        equal = [same_outcome(a, b, near) for a, b in zip(wrong, answers, strict=True)]
        explains = [
            same_outcome(a, b, near) and not same_outcome(a, c, near)
            for a, b, c in zip(wrong, answers, right, strict=True)
        ]
        most = 2 * sum(explains) > correct.count(False)
        explains = [
            explained and (most or _tells_apart(answer))
            for explained, answer in zip(explains, answers, strict=True)
        ]
        ranked.append((sum(equal), message, explains))
    ranked.sort(key=lambda one: -one[0])  # stable, so that ties keep their order
    return [(message, explains) for _, message, explains in ranked]


def _cause(answer: Outcome) -> str:
    """Return where an answer stops and with which error, or an empty string if it does not."""
    return f"{_lines(answer.error)} {type(answer.error).__name__}" if answer.error else ""


def _as_mask(answer: Outcome, right: Outcome) -> Outcome:
    """Return zeros and ones as False and True, where those are right."""
    a, b = answer.value, right.value
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and b.dtype == bool):
        return answer
    is_mask = a.shape == b.shape and a.dtype.kind in "iuf" and bool(np.isin(a, (0, 1)).all())
    return Outcome(a.astype(bool)) if is_mask else answer


def _tells_apart(answer: Outcome) -> bool:
    """Return whether an outcome tells slips apart: many end in nan, or in the same one number."""
    value = answer.value
    if not isinstance(value, np.ndarray):
        return True
    return value.size > 1 and not (value.dtype.kind == "f" and bool(np.isnan(value).all()))


def run(code: str, names: Names, place: str = ANSWER) -> None:
    """Run a program in a namespace, with its lines known to tracebacks."""
    linecache.cache[place] = len(code), None, code.splitlines(keepends=True), place
    names.setdefault("__name__", "answer")
    exec(compile(code, place, "exec"), names)


def _outcomes(code: str, checks: list[tuple[str, str]]) -> list[Outcome]:
    """Return the outcome of each check for a whole answer."""
    names: Names = {}
    run(code, names, "<known answer>")
    return [_outcome(check, names) for _, check in checks]


def _outcome(check: str, names: Names) -> Outcome:
    """Return the outcome of a check, a program of which the last line is an expression."""
    *statements, last = ast.parse(check).body
    assert isinstance(last, ast.Expr)
    there = {"np": np, "refuses": refuses, **names, "__name__": "check"}
    try:
        exec(compile(ast.Module(statements, []), "<check>", "exec"), there)
        value = eval(compile(ast.Expression(last.value), "<check>", "eval"), there)
        return Outcome(normal(value), several=isinstance(value, list | tuple))
    except (Exception, SystemExit) as error:
        return Outcome(error=error)


def refuses(call: Callable[[], object]) -> str:
    """Return whether a call raises a ValueError, or else in a sentence what it does."""
    try:
        value = call()
    except ValueError:
        return REFUSED
    except AssertionError:
        return "An `assert` stops it, but Python can skip assertions: raise a ValueError."
    except Exception as error:
        return f"It stops with {type(error).__name__}: raise a ValueError."
    if value is None or isinstance(value, str):
        return (
            "It goes on after that: `raise ValueError(…)` stops it, and `return` or `print` do not."
        )
    return "It is accepted."


def normal(value: Any) -> Any:
    """Return a value in a form that can be compared: numbers as arrays, the rest as it is."""
    if hasattr(value, "detach"):  # a tensor of PyTorch
        value = value.detach().cpu()
        return (value.double() if value.is_floating_point() else value).numpy()
    if isinstance(value, list | tuple):
        items = [normal(item) for item in value]
        arrays = bool(items) and all(isinstance(item, np.ndarray) for item in items)
        return np.stack(items) if arrays and len({a.shape for a in items}) == 1 else tuple(items)
    if isinstance(value, int | float | complex | np.generic | np.ndarray):
        return np.array(value)
    return value


def same_outcome(answer: Outcome, right: Outcome, near: float) -> bool:
    """Return whether two outcomes are equal, numbers up to a relative difference."""
    if answer.error or right.error:
        return _error_text(answer.error) == _error_text(right.error)
    return _equal(answer.value, right.value, near)


def _error_text(error: BaseException | None) -> str:
    return "" if error is None else f"{type(error).__name__}: {error}"


def _equal(answer: Any, right: Any, near: float) -> bool:
    if isinstance(answer, tuple) and isinstance(right, tuple):
        return len(answer) == len(right) and all(map(_equal, answer, right, [near] * len(right)))
    if not (isinstance(answer, np.ndarray) and isinstance(right, np.ndarray)):
        return type(answer) is type(right) and bool(answer == right)
    if answer.shape != right.shape or (answer.dtype == bool) != (right.dtype == bool):
        return False
    return _close(answer, right, near)


def _close(answer: Any, right: Any, near: float) -> bool:
    """Return whether two arrays of one shape hold the same numbers."""
    if "O" in (answer.dtype.kind, right.dtype.kind) or "U" in (answer.dtype.kind, right.dtype.kind):
        return bool(np.array_equal(answer, right))
    return bool(np.allclose(answer, right, rtol=near, atol=near / 100, equal_nan=True))


def describe_difference(answer: Outcome, right: Outcome) -> str:
    """Return in a sentence how an outcome differs from the right one."""
    if answer.error:
        return f"{_stop_message(answer.error)}"
    if right.error:
        return "It should be refused."
    a, b = answer.value, right.value
    if isinstance(b, str) and b == REFUSED:
        return str(a)
    if a is None or a is ...:
        return "Nothing comes back: is there a `return`?"
    if isinstance(a, tuple) and isinstance(b, np.ndarray):
        return (
            f"It gives {len(a)} parts of different shapes, where one array of {b.shape} is right."
        )
    if isinstance(b, tuple) and isinstance(a, tuple) and len(a) == len(b):
        return next(
            describe_difference(Outcome(x), Outcome(y))
            for x, y in zip(a, b, strict=True)
            if not _equal(x, y, 1e-9)
        )
    if not isinstance(b, np.ndarray) or not isinstance(a, np.ndarray):
        return f"It gives {_short_repr(a)}, where {_short_repr(b)} is right."
    if a.shape != b.shape:
        parts = f" What comes back is a list or tuple of length {len(a)}." if answer.several else ""
        return _shapes(a, b) + parts
    if _equal(a, b, 1e-9):
        return "It gives 0 and 1, where True and False are right: compare, or use `dtype=bool`."
    if (a.dtype == bool) != (b.dtype == bool):
        expected, actual = (
            ("True and False", "numbers") if b.dtype == bool else ("numbers", "True and False")
        )
        return f"It gives {actual}, where {expected} are right."
    return _numbers(a, b)


def _shapes(a: Any, b: Any) -> str:
    """Return how the shapes of two arrays differ."""
    sentence = f"The shape is {a.shape}, where {b.shape} is right"
    if a.ndim == 2 and a.T.shape == b.shape and _close(a.T, b, 1e-6):
        return f"{sentence}: rows and columns are swapped."
    if a.size == b.size and _close(a.reshape(b.shape), b, 1e-6):
        return f"{sentence}; the numbers are right, and only the shape is not."
    return f"{sentence}."


def _numbers(a: Any, b: Any) -> str:
    """Return how the numbers of two arrays of one shape differ."""
    if a.dtype == bool:
        if a.ndim and np.array_equal(~a, b):
            return "True and False are swapped."
        return _first(a, b, a != b)
    if np.isnan(a).any() and not np.isnan(b).any():
        count = f"{np.isnan(a).sum()} of {a.size}"
        return f"{count} numbers are not a number (nan): is there 0/0, or inf − inf?"
    with np.errstate(all="ignore"):
        return _pattern(a, b) or _first(a, b, ~np.isclose(a, b, rtol=1e-9, atol=1e-11))


def _pattern(a: Any, b: Any) -> str:
    """Return the pattern in how two arrays differ, or an empty string."""
    if a.dtype.kind in "iu" and _close(a, np.trunc(b), 1e-9):
        return "These are integers: an array of integers drops what is after the point."
    if not a.any():
        return "All numbers are 0." if a.ndim else ""
    large = np.isneginf(b) & (a < -1000)
    if large.any() and _close(a[~large], b[~large], 1e-9):
        return "There is a large negative number where −∞ is right: hide a key with `-np.inf`."
    if end := _stops_at(a, b):
        return (
            f"From [{end}] on all numbers are 0: does a loop end early, or is a `return` inside it?"
        )
    if _close(a, b, 1e-4):
        return (
            "It is nearly right, and differs in a late digit: is something rounded, or in float32?"
        )
    if _close(-a, b, 1e-9):
        return "Every number has the wrong sign."
    if a.ndim == 2 and a.T.shape == b.shape and _close(a.T, b, 1e-9):
        return "Rows and columns are swapped."
    if a.size > 1 and _close(np.sort(a.ravel()), np.sort(b.ravel()), 1e-9):
        back = any(_close(np.flip(a, axis), b, 1e-9) for axis in range(a.ndim))
        return f"The numbers are right, but in {'reverse' if back else 'another'} order."
    some = b != 0
    if some.any() and np.isfinite(b).all() and np.isfinite(a).all():
        ratio = a[some] / b[some]
        if _close(a, b * ratio[0], 1e-9) and a.size > 1 and 1e-4 < abs(ratio[0]) < 1e4:
            return f"Every number is {ratio[0]:.6g} times what it should be."
        if a.size > 1 and _close(a, b + (a - b).ravel()[0], 1e-9):
            return f"Every number differs by {(a - b).ravel()[0]:+.6g} from what it should be."
    return ""


def _stops_at(a: Any, b: Any) -> int:
    """Return the first place from which on everything is 0 by mistake, or 0 if there is none."""
    end = int(np.max(np.argwhere(a)[:, 0]) + 1) if a.ndim and a.any() else 0
    right = bool(end) and end < len(a) and _close(a[:end], b[:end], 1e-9)
    return end if right else 0


def _first(a: Any, b: Any, differs: Any) -> str:
    """Return where two arrays differ first."""
    if a.dtype == bool and a.ndim == 0:
        return "That does not hold."
    if a.ndim == 0:
        return f"It gives {_short_repr(a)}, where {_short_repr(b)} is right."
    place = tuple(int(n) for n in np.argwhere(differs)[0])
    at = ", ".join(map(str, place))
    count = f"{int(differs.sum())} of {a.size}"
    found, right = _short_repr(a[place]), _short_repr(b[place])
    return f"At [{at}] it gives {found}, where {right} is right; {count} differ."


def _short_repr(value: Any) -> str:
    """Return a short text of a value."""
    if isinstance(value, np.ndarray | np.generic) and np.ndim(value) == 0:
        value = np.asarray(value).item()
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value) if isinstance(value, str | int | tuple) else type(value).__name__
    return text if len(text) < 60 else f"{text[:60]}…"


def _stop_message(error: BaseException) -> str:
    """Return where and why an answer stops."""
    lines = _lines(error)
    ways = [f"line {number}, `{text}`" for number, text in lines]
    where = f" in {', and there in '.join(ways)}" if ways else ""
    return f"It stops{where}: {_error_sentence(error)}"


def _error_sentence(error: BaseException) -> str:
    """Return what an error says, in a sentence."""
    if isinstance(error, MemoryError) or any(words in str(error) for words in TOO_LARGE):
        return "there is not enough memory for an array of that size."
    if isinstance(error, RecursionError):
        return "a function calls itself without end."
    if isinstance(error, ModuleNotFoundError):
        if error.name and error.name.split(".")[0] == PACKAGE:
            return f"`{PACKAGE}` is not available here: write the function yourself."
        return f"there is no `{error.name}` here, only numpy and Python's own library."
    words = str(error).rstrip(". ").split("\n")[0]
    sentence = f"{type(error).__name__}: {words}." if words else f"{type(error).__name__}."
    return sentence + next((f" {hint}" for sign, hint in HINTS.items() if sign in words), "")


def _lines(error: BaseException) -> list[tuple[int, str]]:
    """Return the first and the last line of the answer that an error went through."""
    found, trace = [], error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == ANSWER:
            found.append(trace.tb_lineno)
        trace = trace.tb_next
    ends = dict.fromkeys([*found[:1], *found[-1:]])
    return [(number, linecache.getline(ANSWER, number).strip()) for number in ends]


def _fault(answer: str, names: Names) -> str:
    """Run an answer; return why it cannot be run, or an empty string."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(answer, names)
    except SyntaxError as error:
        text = (error.text or "").strip()
        shown = f", `{text}`," if text else ""
        return f"Line {error.lineno}{shown} is not Python: {error.msg}."
    except (Exception, SystemExit) as error:
        return _stop_message(error)
    return ""


@contextlib.contextmanager
def _without_the_package() -> Any:
    """Keep the package from being imported while an answer runs."""
    names = [name for name in sys.modules if name.split(".")[0] == PACKAGE]
    modules = {name: sys.modules.pop(name) for name in names}
    sys.modules[PACKAGE] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[PACKAGE]
        sys.modules.update(modules)
