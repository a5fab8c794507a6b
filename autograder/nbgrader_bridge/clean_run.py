"""Running a notebook's code as a student's machine would: a bare interpreter without our package.

The child runs in an empty folder with `-I -S`, so neither the repository nor an editable
installation is on its path; a package installed in site-packages is refused by name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass

#: Seconds that the whole run may take.
SECONDS = 300

_CHILD = r"""
import json, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "autograder":
            raise ModuleNotFoundError("No module named 'autograder'", name="autograder")
task = json.load(sys.stdin)
sys.path += task["packages"]
sys.meta_path.insert(0, Refuse())
try:
    import autograder
except ImportError:
    pass
else:
    raise SystemExit("autograder can be imported")
from IPython.core.interactiveshell import InteractiveShell
class Shell(InteractiveShell):
    def enable_gui(self, gui=None):
        pass
    def showtraceback(self, *args, **kwargs):
        pass
    def showsyntaxerror(self, *args, **kwargs):
        pass
shell = Shell.instance()
shell.history_manager.enabled = False
ended = {"cell": None, "kind": None, "text": ""}
for place, source in enumerate(task["cells"]):
    result = shell.run_cell(source, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        ended = {"cell": place, "kind": type(error).__name__, "text": str(error)[:500]}
        break
sys.stdout.flush()
with open(task["answer"], "w") as file:
    json.dump(ended, file)
"""


@dataclass(frozen=True)
class Ended:
    """How a run ended: the place of the cell that raised, and the exception; or none raised."""

    cell: int | None
    kind: str | None
    text: str


def run_cells(cells: list[str]) -> Ended:
    """Run code cells until one raises. A child that ends in another way is an `Ended` without a cell."""
    with tempfile.TemporaryDirectory(prefix="deepdrills-") as folder:
        answer = os.path.join(folder, "answer.json")
        work = os.path.join(folder, "work")
        os.mkdir(work)
        task = json.dumps({"cells": cells, "packages": _site_packages(), "answer": answer})
        environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": folder,
            "IPYTHONDIR": folder,
            "MPLCONFIGDIR": folder,
            "MPLBACKEND": "Agg",
            "OMP_NUM_THREADS": "1",
        }
        try:
            child = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _CHILD],
                input=task,
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ended(None, "TimeoutExpired", f"the notebook ran for more than {SECONDS} seconds")
        if not os.path.exists(answer):
            return Ended(None, "SystemExit", (child.stderr or child.stdout).strip()[-500:])
        with open(answer, encoding="utf-8") as file:
            ended = json.load(file)
    return Ended(ended["cell"], ended["kind"], ended["text"])


def _site_packages() -> list[str]:
    """The folders of installed packages; what a .pth file adds to the path is left out."""
    named = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    also = {path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")}
    return sorted(path for path in named | also if path)
