"""The solution notebook: the source as a student may read it after the deadline, executed."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import default

from autograder.errors import CourseError
from autograder.grading.release_cells import is_author_cell

#: Seconds that one cell of a source notebook may take.
CELL_SECONDS = 300

_HIDDEN = ("HIDDEN TESTS", "MARK SCHEME")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


def solution_cells(source: NotebookNode) -> NotebookNode:
    """The source without author cells, hidden regions and marks of a solution; no outputs."""
    notebook = copy.deepcopy(source)
    notebook.cells = [cell for cell in notebook.cells if not is_author_cell(cell)]
    for cell in notebook.cells:
        cell.source = _without_marks(without_hidden(cell.source))
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def without_hidden(text: str) -> str:
    """A cell's text without its regions of hidden checks and marking schemes."""
    kept, inside = [], False
    for line in text.split("\n"):
        if any(f"BEGIN {name}" in line for name in _HIDDEN):
            inside = True
        elif any(f"END {name}" in line for name in _HIDDEN):
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept).rstrip("\n")


def execute(notebook: NotebookNode, path: Path) -> NotebookNode:
    """Run a notebook in a fresh kernel of this interpreter, in the folder of `path`.

    What differs from run to run (times, addresses, versions) is left out of the result. Raises
    `CourseError` naming the file when a cell fails.
    """
    result = copy.deepcopy(notebook)
    client = NotebookClient(
        result,
        kernel_manager_class=_OneKernel,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    environment.pop("MPLBACKEND", None)
    try:
        # A kernel that listens on this machine alone warns of that on stderr.
        client.execute(env=environment, stderr=subprocess.DEVNULL)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
        raise CourseError(path, f"the solution does not run:\n{text}", "Mend the source notebook.") from error
    result.metadata = copy.deepcopy(notebook.metadata)
    for cell in result.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            _settle(output)
        _merge_streams(cell)
    nbformat.validate(result)
    return result


class _ThisInterpreter(KernelSpecManager):
    """Knows one kernel, whatever is installed on the machine: the interpreter that runs us."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="Python 3",
            language="python",
        )


class _OneKernel(AsyncKernelManager):
    """nbclient ends only the kernels of managers that it makes itself, so it gets a class."""

    @default("kernel_spec_manager")
    def _this_interpreter(self) -> KernelSpecManager:
        return _ThisInterpreter()


def _without_marks(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(line for line in lines if "BEGIN SOLUTION" not in line and "END SOLUTION" not in line)


def _settle(output: Any) -> None:
    if "text" in output:
        output.text = _ADDRESS.sub("0x...", output.text)
    for kind, value in output.get("data", {}).items():
        if kind.startswith("text/") and isinstance(value, str):
            output.data[kind] = _ADDRESS.sub("0x...", value)


def _merge_streams(cell: Any) -> None:
    """How a kernel cuts what a cell prints into messages is a matter of timing."""
    merged: list[Any] = []
    for output in cell.get("outputs", []):
        last = merged[-1] if merged else None
        if (
            last is not None
            and output.output_type == "stream" == last.output_type
            and output.name == last.name
        ):
            last.text += output.text
        else:
            merged.append(output)
    if "outputs" in cell:
        cell.outputs = merged
