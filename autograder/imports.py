"""Imports that cost seconds and that grading does not need."""

from __future__ import annotations

import sys


def skip_slow_grammar() -> None:
    """Let jsonschema do without one optional package, which builds a parser for three seconds.

    It serves formats of web addresses that no notebook's schema has. For processes of our own only.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
