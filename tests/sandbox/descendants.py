"""Which processes of a sandbox are alive, seen from outside."""

from __future__ import annotations

import time
from pathlib import Path

from autograder.sandbox.process import Sandbox
from autograder.sandbox.seed import Seed


def descendants(of: Sandbox | Seed) -> set[int]:
    """Every process below the sandbox's own, however it has moved to another session."""
    process = of.process if isinstance(of, Seed) else of._process
    assert process is not None
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
    found: set[int] = set()
    fresh = {process.pid}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh}
        found |= fresh
    return found


def only_the_zygote(sandbox: Sandbox, seconds: float = 3.0) -> bool:
    """Whether, soon, nothing but the seed and its zygote is left: every submission's processes are gone."""
    deadline = time.monotonic() + seconds
    while len(descendants(sandbox)) > 2:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
