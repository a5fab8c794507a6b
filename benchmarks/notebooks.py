"""How long a student waits: every notebook, solved, from top to bottom in a real kernel.

python benchmarks/notebooks.py
python benchmarks/notebooks.py ps3-depth --runs 3
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from rich.console import Console
from rich.table import Table

from autograder.nbgrader_bridge.solutions import solution_cells

ROOT = Path(__file__).resolve().parents[1]


def run(path: Path) -> tuple[float, dict[str, float]]:
    """Seconds of a whole run, the kernel's start included, and of each cell."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}
    client = NotebookClient(
        solution_cells(nbformat.read(path, as_version=4)),
        timeout=600,
        kernel_name="python3",
        on_cell_execute=lambda cell, cell_index: began.setdefault(cell.id, time.perf_counter()),
        on_cell_executed=lambda cell, cell_index, execute_reply: ended.setdefault(
            cell.id, time.perf_counter()
        ),
    )
    started = time.perf_counter()
    client.execute()
    return time.perf_counter() - started, {name: end - began[name] for name, end in ended.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("assignments", nargs="*", help="by default all")
    parser.add_argument("--runs", type=int, default=1, help="times each; the median is shown")
    chosen = parser.parse_args()
    console = Console()
    table = Table("notebook", "seconds", "slowest cell", "its seconds")
    for path in sorted(ROOT.glob("source/*/*.ipynb")):
        if chosen.assignments and path.parent.name not in chosen.assignments:
            continue
        with console.status(f"{path.name}, {chosen.runs} times ..."):
            runs = [run(path) for _ in range(chosen.runs)]
        whole = statistics.median(seconds for seconds, _ in runs)
        cells = {name: statistics.median(each[name] for _, each in runs) for name in runs[0][1]}
        slowest = max(cells, key=lambda name: cells[name])
        table.add_row(path.name, f"{whole:.0f}", slowest, f"{cells[slowest]:.0f}")
    console.print(table)


if __name__ == "__main__":
    main()
