"""Every named attack, for the table in docs/security.md and for the measurement of a plain nbgrader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sandbox.limits import Limits

from ..arena import ATTACKED, WRONG, Edit
from ..odd.case import as_json, sheet, under
from .test_answers import CHANGING, GUESSES, SPOILED, VALUES
from .test_escapes import BACKGROUND, COURSE, ENDINGS, IMPORTS, TOO_LATE
from .test_forgers import EDITS, FILES, FORGERIES
from .test_leaks import CHANNELS
from .test_replies import ANSWERS, IN_THE_CALL, IN_THE_CELL, OUTPUTS, PATCHES
from .test_surroundings import ALPHABETS, DETECTS, PICKLES, SURROUNDINGS, WATCHED
from .test_surroundings import TOOLS as ATTEMPTS


def _no_edit(notebook: object) -> None: ...


@dataclass(frozen=True)
class Attack:
    """One attack on the exercise `ATTACKED`, and the points that its answer is honestly worth."""

    group: str
    name: str
    code: str = WRONG
    edit: Edit = _no_edit
    files: Mapping[str, bytes] = field(default_factory=dict)
    points: float = 0.0
    #: Whether it can be tried on a plain nbgrader: it is not about our own pipe or process.
    stock: bool = True

    def hand_in(self, folder: Path) -> None:
        """Write it as a submission whose other exercises are answered rightly."""
        data = sheet().notebook({ATTACKED: self.code})
        self.edit(data)
        for name, content in self.files.items():
            under(name)(folder, content)
        under("convolution.ipynb")(folder, as_json(data))


def _said(name: str) -> str:
    return name.replace("_", " ")


def _group(group: str, codes: Mapping[str, str], stock: bool = True) -> list[Attack]:
    return [Attack(group, _said(name), code, stock=stock) for name, code in codes.items()]


def _function(body: str) -> str:
    return f"calls = []\ndef output_size(*a, **k):\n    {body.lstrip()}\n"


def late(line: str) -> str:
    """A right answer that waits by `line` for twice the time that a call has."""
    return (
        f"{IMPORTS}LIMIT = {Limits().call_seconds}\n"
        + _RIGHT.replace("def output_size", "def right")
        + f"\ndef output_size(*a, **k):\n    {line}\n    return right(*a, **k)\n"
    )


_RIGHT = sheet().solutions[ATTACKED]

ATTACKS = [
    *_group("forged comparisons, shells and scores", FORGERIES),
    *(Attack("edited notebooks", _said(name), edit=edit) for name, edit in EDITS.items()),
    Attack("files beside the notebook", "modules and settings beside the notebook", files=FILES),
    *_group("the course's files", COURSE),
    *_group(
        "ends and exhaustion",
        {name: IMPORTS + WRONG + line.replace("{i}", "") for name, line in ENDINGS.items()},
    ),
    *_group("answers that come too late", {name: late(line) for name, line in TOO_LATE.items()}, stock=False),
    *_group(
        "what outlives a submission",
        {name: "import subprocess" + IMPORTS + WRONG + line for name, line in BACKGROUND.items()},
    ),
    *_group("the system around it", {name: ATTEMPTS + line + WRONG for name, line in SURROUNDINGS.items()}),
    *(
        Attack("detection of grading", _said(name), f"{WATCHED}\n{code}\n", points=points)
        for name, (code, points) in DETECTS.items()
    ),
    *(
        Attack("alphabets and locales", _said(name), change(_RIGHT), points=points)
        for name, (change, points) in ALPHABETS.items()
    ),
    *_group("guesses", {name: _function(body) for name, body in GUESSES.items()}),
    *_group("objects that change between two reads", CHANGING),
    *_group(
        "pickles", {name: f"import os\n{code}\n{_function('return value')}" for name, code in PICKLES.items()}
    ),
    *_group(
        "values that are no answer", {name: _function(f"return {value}") for name, value in VALUES.items()}
    ),
    *_group("failures in conversion", SPOILED, stock=False),
    *_group("frames written while a cell runs", IN_THE_CELL, stock=False),
    *_group("frames written while a call runs", IN_THE_CALL, stock=False),
    *_group("a process that was taken over", ANSWERS, stock=False),
    *_group("forged outputs", OUTPUTS, stock=False),
    *_group("the worker's own objects", PATCHES, stock=False),
    *_group("ways out for a hidden input", CHANNELS, stock=False),
]
