"""`make prove`: check the proofs of docs/proofs/, what they assume, and that changed ones fail.

python3 -m scripts.proofs             compares with docs/data/proofs.json
python3 -m scripts.proofs --record    writes it
"""

from __future__ import annotations

import argparse
import sys

if sys.version_info < (3, 11):  # noqa: UP036 (here no installer has asked for it)
    sys.exit(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.")

from scripts.proofs import checker, install, record, run
from scripts.proofs.source import ProofsError


def main() -> int:
    """Check everything; return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="make prove", description=__doc__.partition("\n")[0])
    parser.add_argument("--record", action="store_true", help="write docs/data/proofs.json")
    options = parser.parse_args()
    if wrong := run.readable():
        return _fail(wrong)
    if missing := install.ensure():
        return _fail([f"Nothing was checked: {missing}"])
    try:
        return _checked(options.record)
    except ProofsError as error:
        return _fail([str(error)])


def _checked(recording: bool) -> int:
    """Check the files, what they assume and the changed statements, and print each step."""
    print(f"{checker.version()} checks docs/proofs/", flush=True)
    found = run.check()
    for name, seconds in found.seconds.items():
        print(f"  {name:24}{seconds:6.1f} s")
    print(f"  all files               {found.elapsed:6.1f} s", flush=True)
    wrong = [] if recording else run.compare(found)
    if not recording:
        print(f"What they assume was compared with the record, {found.comparing:.1f} s", flush=True)
    wrong += run.change(found)
    refused = sum(found.refused_counts().values())
    print(f"{refused} of {len(found.tried)} changed statements refused, {found.changing:.1f} s")
    if recording and not wrong:
        new = run.new_record(found)
        wrong = record.unacceptable(new)
        if not wrong:
            record.write(new)
            print("wrote docs/data/proofs.json")
    elif not wrong:
        wrong = record.changed_files()
    return _fail(wrong) if wrong else _pass()


def _pass() -> int:
    print("All proofs hold.")
    return 0


def _fail(messages: list[str]) -> int:
    print("\n".join(messages), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
