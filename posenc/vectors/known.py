"""Differences that are known: cases that may fail, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from posenc._console import printable
from posenc.vectors.report import FINE_STATUSES, Outcome, Report, failure_text
from posenc.vectors.suite import load, suites

Known = str | Path | Mapping[str, str] | None
HEAD = "# Known differences: the id of a case or a shell pattern, then # and the reason.\n"
UNFILLED = "TODO: say why"


def read_known(known: Known) -> dict[str, str]:
    """Return the reason of each id or pattern, from a file or as given.

    Args:
        known: a file with the id of a case or a shell pattern on each line, then # and the reason;
            a mapping from one to the other; or None.

    Returns:
        A mapping.

    Raises:
        ValueError: a line or an id has no reason, or the file is not UTF-8.
        OSError: the file cannot be read.

    Examples:
        >>> read_known({"t5/far-*": "our buckets end sooner"})
        {'t5/far-*': 'our buckets end sooner'}
    """
    if known is None or isinstance(known, Mapping):
        return _with_reasons(dict(known or {}))
    path, found = Path(known), {}
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be UTF-8; {error}") from None
    for number, line in enumerate(text.splitlines(), 1):
        pattern, _, reason = (part.strip() for part in line.partition("#"))
        if not pattern:  # an empty line, or a comment
            continue
        if not reason:
            raise ValueError(
                f"{path}:{number}: must give a reason after #; got {printable(line.strip())!r}"
            )
        found[pattern] = reason
    return found


def _with_reasons(known: dict[str, str]) -> dict[str, str]:
    """Return a mapping, each of whose ids and patterns must have a reason."""
    for pattern, reason in known.items():
        if not reason.strip():
            raise ValueError(f"known must give a reason for each id; {pattern!r} has {reason!r}")
    return known


def as_patterns(skip: Iterable[str]) -> tuple[str, ...]:
    """Return patterns as a tuple; one text is one pattern."""
    return (skip,) if isinstance(skip, str) else tuple(skip)


def matches(case: str, patterns: Iterable[str]) -> list[str]:
    """Return the patterns that the id of a case matches."""
    return [pattern for pattern in patterns if fnmatchcase(case, pattern)]


def with_known(one: Outcome, known: Mapping[str, str]) -> Outcome:
    """Return an outcome as "known" if its failure is, and as "fixed" if that did not fail."""
    found = matches(one.case.id, known)
    if not found or one.status == "unsupported":
        return one
    status = "fixed" if one.status in FINE_STATUSES else "known"
    return replace(one, status=status, reason=known[found[0]])


def unmatched_patterns(patterns: Iterable[str], folder: str | Path | None) -> tuple[str, ...]:
    """Return the patterns that match no case of any suite that can be read."""
    left = list(patterns)
    named = {pattern.partition("/")[0] for pattern in left}
    # Suites that patterns name come first: then most often no other has to be read.
    for name in sorted(suites(folder=folder), key=lambda name: name not in named) if left else ():
        if not left:
            break
        try:
            cases = load(name, folder=folder).cases
        except (OSError, ValueError):
            continue
        for case in cases:
            hit = matches(case.id, left)
            left = [pattern for pattern in left if pattern not in hit]
    return tuple(left)


def known_text(report: Report) -> str:
    """Return the file of the differences of a run, old ones with their reasons."""
    wrong = set(map(id, report.wrong))
    kept = [one for one in report.outcomes if id(one) in wrong or one.reason]
    return HEAD + "".join(
        f"{one.case.id}  # {one.reason or f'{UNFILLED} ({printable(failure_text(one))})'}\n"
        for one in kept
        if one.status != "fixed"
    )
