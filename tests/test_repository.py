"""What is committed is in step: release/ and solutions/ with source/, the documents with the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from autograder.nbgrader_bridge.release import in_step
from autograder.nbgrader_bridge.release_audit import audit_release
from autograder.sandbox.confine import LAYERS
from autograder.sandbox.limits import MIB, Limits

ROOT = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("source/*/*.ipynb"))


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_release_and_solutions_are_in_step_with_the_source(assignment: str) -> None:
    assert in_step(ROOT, assignment) == []


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_release_holds_nothing_that_students_should_not_see(assignment: str) -> None:
    assert audit_release(ROOT, assignment) == []


def test_the_settings_page_has_every_limit_with_its_default() -> None:
    rows = [line for line in (ROOT / "docs/settings.md").read_text().splitlines() if line.startswith("| `c.")]
    said: dict[str, float] = {}
    for row in rows:
        names, values, _ = (cell.strip() for cell in row.strip("|").split("|"))
        units = {"GiB": 1024 * MIB, "MiB": MIB}
        numbers = [
            float(number) * units.get(unit, 1)
            for number, unit in re.findall(r"(\d+(?:\.\d+)?) ?(GiB|MiB)?", values)
        ]
        found = [name.removeprefix("c.SandboxLimits.") for name in re.findall(r"`([\w.]+)`", names)]
        said.update(zip(found, numbers, strict=False))
    defaults = Limits()
    assert {one.name: float(getattr(defaults, one.name)) for one in fields(Limits)} == {
        name: value for name, value in said.items() if not name.startswith("c.")
    }


def test_the_sandbox_page_has_every_layer() -> None:
    text = (ROOT / "docs/sandbox.md").read_text()
    assert [layer for layer in LAYERS if f"| {layer} |" not in text] == []


def test_every_link_of_the_documents_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
