"""Which of the course's pictures need not be drawn again for a submission.

A locked cell with the tag `illustration` draws a picture. Where it reads no answer, the picture is that of
the executed solutions; where it reads answers that passed every check, it would be the same one. Only a
picture of an answer that did not pass is drawn: drawing is most of what many a submission takes.
"""

from __future__ import annotations

import symtable
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from autograder.grading.template import Role, Template

#: With these a cell reads names that do not stand in it.
_ANY_NAME = frozenset(["globals", "locals", "vars", "dir", "eval", "exec", "get_ipython", "__import__"])


@dataclass(frozen=True)
class Names:
    """The global names that a cell reads, and those that it binds."""

    reads: frozenset[str]
    binds: frozenset[str]


@lru_cache(maxsize=2048)
def names_of(source: str) -> Names | None:
    """The cell's names as Python's own compiler sees them; None where they can not all be known."""
    try:
        top = symtable.symtable(source, "<cell>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reads: set[str] = set()
    binds: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            if table is not top and not symbol.is_global():
                continue
            if symbol.is_referenced():
                reads.add(symbol.get_name())
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                binds.add(symbol.get_name())
    return None if reads & _ANY_NAME else Names(frozenset(reads), frozenset(binds))


def used_exercises(template: Template) -> dict[str, frozenset[str]]:
    """For each illustration that the solutions have drawn: the exercises whose answers it reads.

    A function of the course's that reads an answer hands that on to who calls it.
    """
    everything = frozenset(template.asks)
    locked = [cell for cell in template.cells if cell.role is Role.LOCKED and cell.cell_type == "code"]
    names = {cell.grade_id: names_of(cell.source) for cell in locked}
    # A name may stand for several cells, and any of them may be the one that is read.
    depends: dict[str, frozenset[str]] = {}
    for exercise, asked in template.asks.items():
        for name in {exercise, *asked}:
            depends[name] = depends.get(name, frozenset()) | {exercise}

    def used(grade_id: str) -> frozenset[str]:
        found = names[grade_id]
        if found is None:
            return everything
        # What a cell binds itself it does not read from another one.
        return frozenset[str]().union(*(depends.get(name, frozenset()) for name in found.reads - found.binds))

    changed = True
    while changed:
        changed = False
        for cell in locked:
            found = names[cell.grade_id]
            for name in () if found is None else found.binds:
                known = depends.get(name, frozenset())
                if not used(cell.grade_id) <= known:
                    depends[name] = known | used(cell.grade_id)
                    changed = True
    return {name: used(name) for name in template.drawn if name in names}


def is_read_elsewhere(figure: str, others: Iterable[str]) -> bool:
    """Whether one of the other cells may read a name that the figure's cell binds."""
    bound = names_of(figure)
    if bound is None:
        return True
    for source in others:
        found = names_of(source)
        if found is None or found.reads & bound.binds:
            return True
    return False
