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

#: Characters of a cell, and of a student's cells together, whose names are looked for. Python's compiler
#: takes time in the square of a cell's functions and names: 0.05 s for 20 000 characters at worst, 46 s for
#: 500 000. The longest cell of our solutions has 5 000, all code of a notebook 34 000.
CELL_LIMIT, NOTEBOOK_LIMIT = 20_000, 200_000
#: With these a cell reads names that do not stand in it.
_ANY_NAME = frozenset(["globals", "locals", "vars", "dir", "eval", "exec", "get_ipython", "__import__"])


@dataclass(frozen=True)
class Names:
    """The global names that a cell reads, and those that it binds."""

    reads: frozenset[str]
    binds: frozenset[str]


def names_of(source: str) -> Names | None:
    """The cell's names as Python's own compiler sees them; None where they cannot all be known."""
    if len(source) > CELL_LIMIT:
        return None
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
    """Whether one of the other cells may read a name that the figure's cell binds.

    True where it is not known: the figure is then run in its place, which costs a drawing and nothing else.
    """
    cells = tuple(others)
    if sum(map(len, cells)) > NOTEBOOK_LIMIT:
        return True
    bound, read = names_of(figure), _read_by(cells)
    return bound is None or read is None or not read.isdisjoint(bound.binds)


@lru_cache(maxsize=1)
def _read_by(cells: tuple[str, ...]) -> frozenset[str] | None:
    """The names that some of these cells read; None where they cannot all be known.

    The cells of one submission are asked about for each of its figures.
    """
    read: set[str] = set()
    for source in cells:
        found = names_of(source)
        if found is None:
            return None
        read |= found.reads
    return frozenset(read)
