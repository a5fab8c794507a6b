"""The notebook that students get, as a pure function of the source: no gradebook, no disk.

`release_cells` runs the preprocessors that `nbgrader generate_assignment` runs with our
configuration, save the one that writes the gradebook, so it gives what release/ holds.
"""

from __future__ import annotations

import copy
from typing import Any

from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
    NbGraderPreprocessor,
)
from traitlets.config import Config

AUTHOR_TAG = "author-only"


def is_author_cell(cell: NotebookNode) -> bool:
    """Whether a cell is for the author of the notebook alone."""
    tags = cell.metadata.get("tags", [])
    return isinstance(tags, list) and AUTHOR_TAG in tags


class DropAuthorCells(NbGraderPreprocessor):  # type: ignore[misc]
    """Drops the cells tagged `author-only`."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        nb.cells = [cell for cell in nb.cells if not is_author_cell(cell)]
        return nb, resources


#: What the gradebook is told about (nbgrader saves the cells at this point) ...
BEFORE_SAVING = (DropAuthorCells, LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums)
#: ... and what is done to them afterwards, before students get them.
AFTER_SAVING = (ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata)


def release_cells(source: NotebookNode, config: Config | None = None) -> NotebookNode:
    """The released notebook: same sources, same metadata, same checksums as the file in release/.

    The source is left as it is. Raises what nbgrader raises on a source that it refuses.
    """
    return _run((*BEFORE_SAVING, *AFTER_SAVING), source, config)


def gradebook_cells(source: NotebookNode, config: Config | None = None) -> NotebookNode:
    """The notebook as the gradebook is told about it: hidden regions still inside."""
    return _run(BEFORE_SAVING, source, config)


def _run(
    preprocessors: tuple[type[NbGraderPreprocessor], ...], source: NotebookNode, config: Config | None
) -> NotebookNode:
    notebook = copy.deepcopy(source)
    resources = ResourcesDict()
    for kind in preprocessors:
        notebook, resources = kind(config=config or Config()).preprocess(notebook, resources)
    return notebook
