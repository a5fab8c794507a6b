"""Templates that are kept between runs: to make one takes nbgrader's preprocessors and a second."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import autograder
from autograder.batch.atomic import write_text
from autograder.batch.digests import PACKAGE, files_digest
from autograder.grading.secret import FOLDER
from autograder.grading.template import Role, Template, TemplateCell, load_template, source_of


def kept_template(root: Path, assignment: str, write: bool = False) -> Template:
    """The template of an assignment, from `.deepdrills/templates/` where nothing has changed since.

    `write`: keep it there when it had to be made. Raises `CourseError`.
    """
    source = source_of(root, assignment)
    makers = [find_spec("nbgrader"), find_spec("nbformat")]
    digest = files_digest(
        [
            source,
            root / "solutions" / assignment / source.name,
            *(PACKAGE / "exercises" / assignment).glob("*.toml"),
            *(PACKAGE / "exercises").glob("*.py"),
            *(Path(spec.origin or "").with_name("_version.py") for spec in makers if spec),
            *(PACKAGE / "grading" / name for name in ("template.py", "release_cells.py", "experiments.py")),
        ]
    )
    wanted = [digest, autograder.__version__]
    path = root / FOLDER / "templates" / f"{assignment}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["made from"] == wanted:
            return _from_json(data["template"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    template = load_template(root, assignment)
    if write:
        write_text(path, json.dumps({"made from": wanted, "template": asdict(template)}))
    return template


def _from_json(data: dict[str, Any]) -> Template:
    cells = tuple(TemplateCell(**{**cell, "role": Role(cell["role"])}) for cell in data["cells"])
    asks, builds_on = (
        {name: tuple(names) for name, names in data[key].items()} for key in ("asks", "builds_on")
    )
    return Template(**{**data, "cells": cells, "asks": asks, "builds_on": builds_on})
