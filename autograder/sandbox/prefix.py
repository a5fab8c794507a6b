"""The cells of the course's own that come before anything of a student's: run once, shared by all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Prefix:
    """The code of the cells in order, and the files that the course puts beside the notebook."""

    cells: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Shared:
    """A prefix that has run: each cell's outputs, as a submission's own run would have given them."""

    prefix: Prefix
    outputs: tuple[list[Any], ...]
