"""What an interpreter spends seconds on without need."""

from __future__ import annotations

import atexit
import gc
import sys


def skip_slow_grammar() -> None:
    """Let jsonschema do without one optional package, which builds a parser for three seconds.

    It serves formats of web addresses that no notebook's schema has. For processes of our own only.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def collect_garbage_rarely() -> None:
    """For a process that imports much, lives for one command and ends: Python takes everything apart
    before it ends, and looks through all that was imported once more for each thousandth new object.
    """
    gc.set_threshold(50_000, 20, 20)
    atexit.register(gc.freeze)
