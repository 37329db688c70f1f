"""Describes the machine that a measurement ran on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> str:
    """Return the processor, memory, number of processors and operating system, in words."""
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        names = re.findall(r"^model name\s*: (.+)$", cpuinfo, re.M)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        about = [*names[:1], f"{memory:.0f} GiB of memory"]
    except (OSError, ValueError):
        about = [platform.processor() or platform.machine()]
    return ", ".join([*about, f"{os.cpu_count()} processors", platform.system()])
