"""The names that a cell defines, by parsing it: a student's text, so with limits. Nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable

#: Characters of a cell, and of a notebook's cells together. The longest cell of our solutions has 5 000, all
#: code of a notebook 34 000; Python's parser takes 0.3 s and 120 MB for 200 000, more for some.
CELL_LIMIT, NOTEBOOK_LIMIT = 50_000, 200_000
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)


class Definitions:
    """Answers for one notebook; each text is parsed once, and a notebook's only up to a limit."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = {}
        self._parsed = 0

    def any_of(self, names: Iterable[str], source: str) -> bool:
        """Whether a cell defines one of these names; false for a text too long to parse."""
        if len(source) > CELL_LIMIT:
            return False
        asked = [name for name in names if name in source]
        if not asked:
            return False
        if source not in self._known:
            fits = self._parsed + len(source) <= NOTEBOOK_LIMIT
            self._parsed += len(source) if fits else 0
            self._known[source] = defined_names(source) if fits else frozenset()
        return not self._known[source].isdisjoint(asked)


def defined_names(source: str) -> frozenset[str]:
    """The names that a cell defines at its top level; none if it is not Python, with magics or without."""
    tree = _tree(source) or _tree(_MAGIC.sub(r"\1pass", source))
    if tree is None:
        return frozenset()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in targets:
            names.update(
                part.id
                for part in ast.walk(target)
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
    return frozenset(names)


def _tree(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a student's text
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
