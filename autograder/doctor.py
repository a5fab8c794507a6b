"""Whether a machine is fit to grade: versions, threads, alembic, and each layer of the sandbox, tried."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from autograder.errors import SandboxError
from autograder.nbgrader_bridge.settings import alembic_on_path
from autograder.report.table import safe
from autograder.sandbox.proof import prove

PACKAGES = ("deepdrills", "torch", "numpy", "matplotlib", "nbgrader", "ipython", "pytest")


def examine(course: Path, console: Console) -> int:
    """Print the findings; 0 when this machine can grade, 1 when something is missing."""
    table = Table(title="This machine", title_justify="left")
    for heading in ("what", "found", "fit"):
        table.add_column(heading, overflow="fold")
    fit = [
        _row(table, "python", platform.python_version(), sys.version_info >= (3, 11)),
        *(_row(table, name, *_version(name)) for name in PACKAGES),
        _row(table, "alembic", *_alembic()),
        _row(table, "system", f"{platform.system()} {platform.release()}", platform.system() == "Linux"),
    ]
    try:
        with console.status("Trying the sandbox ..."):
            proof = prove(course)
        for layer in proof.layers:
            found = {True: "stopped", False: "NOT STOPPED", None: "missing"}[layer.held]
            words = f"{layer.tried}: {found}" + (f" ({layer.reason})" if layer.reason else "")
            fit.append(_row(table, f"sandbox: {layer.layer}", safe(words), layer.held is True))
        threads = proof.torch_threads
        fit.append(_row(table, "torch threads in the sandbox", str(threads), threads == 1))
    except SandboxError as error:
        fit.append(_row(table, "sandbox", safe(str(error)), False))
    console.print(table)
    if all(fit):
        console.print("This machine can grade, with every layer of the sandbox.")
        return 0
    console.print(
        "Something is missing: see the lines marked 'no'. docs/sandbox.md says what each one is for."
    )
    return 1


def _row(table: Table, what: str, found: str, fit: bool) -> bool:
    table.add_row(what, found, "[green]yes[/]" if fit else "[red]no[/]")
    return fit


def _version(name: str) -> tuple[str, bool]:
    try:
        return version(name), True
    except PackageNotFoundError:
        return "not installed", False


def _alembic() -> tuple[str, bool]:
    alembic_on_path()
    found = shutil.which("alembic")
    return found or "not found: nbgrader can not make a gradebook without it", found is not None
