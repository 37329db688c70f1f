"""The machine that a number was measured on, in words."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> str:
    """Return in words what this runs on."""
    try:
        said = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        names = re.findall(r"^model name\s*: (.+)$", said, re.M)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        about = [*names[:1], f"{memory:.0f} GiB of memory"]
    except (OSError, ValueError):
        about = [platform.processor() or platform.machine()]
    return ", ".join([*about, f"{os.cpu_count()} processors", platform.system()])
