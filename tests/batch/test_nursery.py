"""The process that torch is imported in once, for the seed and for the workers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from autograder.batch import nursery
from autograder.batch.course import Course, Options
from autograder.batch.local import grade_all
from autograder.batch.plan import plan
from autograder.errors import DeepdrillsError
from autograder.sandbox.limits import Limits
from autograder.sandbox.seed import PACKAGES, Seed, packages_of

from .small_course import ASSIGNMENT, hand_in

OPTIONS = Options(limits=Limits(cell_seconds=60, call_seconds=20))

LOOK = """
import os, sys, json
found = {
    "modules": [name for name in sys.modules if name.startswith(("autograder", "nbgrader", "_pytest"))],
    "variables": sorted(os.environ),
    "command": open("/proc/self/cmdline").read(),
    "start": open("/proc/self/environ").read() if os.access("/proc/self/environ", os.R_OK) else "",
    "descriptors": len(os.listdir("/proc/self/fd")),
}
print(json.dumps(found))
"""


def nurseries() -> list[int]:
    """Children of this process that are nurseries, or were."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and b"warm.plant" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_submission_has_nothing_of_the_nursery(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed is forked before the nursery is given the environment or imports anything of ours."""
    monkeypatch.setenv("DEEPDRILLS_SECRET", "the nursery's own secret")
    monkeypatch.setenv("DATABASE_PASSWORD", "the nursery's own secret too")
    course = Course(root)
    hand_in(root, "spy", None, before=LOOK)
    (done,) = grade_all(course, ASSIGNMENT, plan(root / "submitted", ASSIGNMENT, ["spy"]), OPTIONS, workers=1)
    assert done.ok, done.trouble
    kept = course.store.get(done.key)
    assert kept is not None
    (said,) = (
        output["text"]
        for cell in kept.notebook["cells"]
        for output in cell.get("outputs", [])
        if '"descriptors"' in output.get("text", "")
    )
    found = json.loads(said)
    assert found["modules"] == []
    assert not {"DEEPDRILLS_SECRET", "DATABASE_PASSWORD", "PWD"} & set(found["variables"])
    assert "secret" not in found["start"]
    assert str(root) not in found["command"]
    assert found["descriptors"] <= 6
    assert nurseries() == []


def test_a_submission_imports_and_draws_what_the_seed_has_not(root: Path) -> None:
    """The nursery began without its site-packages; what is readable is that of the interpreter in use."""
    draw = (
        "import matplotlib.pyplot as plt\nplt.plot([0, 1])\nplt.title('$x^2$')\nplt.show()\n"
        "import torch\ntorch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)\nprint('all drawn')"
    )
    course = Course(root)
    hand_in(root, "ana", None, before=draw)
    (done,) = grade_all(course, ASSIGNMENT, plan(root / "submitted", ASSIGNMENT, ["ana"]), OPTIONS, workers=1)
    kept = course.store.get(done.key)
    assert kept is not None
    (outputs,) = (
        cell["outputs"] for cell in kept.notebook["cells"] if "all drawn" in str(cell.get("outputs"))
    )
    assert not [one for one in outputs if one["output_type"] == "error"]
    assert any("image/png" in one.get("data", {}) for one in outputs)


def test_a_seed_that_does_not_start_says_why(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "def fail(*_):\n    raise RuntimeError('no seed grows here')\nwarm._run = fail\n"
    monkeypatch.setattr(nursery, "_GROW", broken + nursery._GROW)
    hand_in(root, "ana", None)
    jobs = plan(root / "submitted", ASSIGNMENT, ["ana"])
    with pytest.raises(DeepdrillsError, match=r"no seed grows here.*doctor"):
        list(grade_all(Course(root), ASSIGNMENT, jobs, OPTIONS, workers=1))
    assert nurseries() == []


def test_a_nursery_that_dies_before_its_first_word_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nursery, "_GROW", "raise SystemExit(7)\n")
    hand_in(root, "ana", None)
    jobs = plan(root / "submitted", ASSIGNMENT, ["ana"])
    (done,) = grade_all(Course(root), ASSIGNMENT, jobs, OPTIONS, workers=1)
    assert done.trouble == ("a grading process ended with code 7",)


def test_what_a_source_names_is_used_before_the_first_fork(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('"import matplotlib.pyplot as plt"')
    (tmp_path / "b.ipynb").write_text('"from torch import optim"')
    assert packages_of(tmp_path) == ["matplotlib", "optim"]
    assert packages_of(tmp_path / "nothing") == []
    assert set(packages_of(tmp_path)) < set(PACKAGES)


@pytest.mark.parametrize(
    "cell",
    [
        "import matplotlib.pyplot as plt\nplt.plot([0, 1])\nplt.show()",
        "import matplotlib\nfrom matplotlib import pyplot\npyplot.plot([0, 1])",
        "%matplotlib inline\nimport pylab\npylab.plot([0, 1])",
    ],
)
def test_what_no_source_names_works_all_the_same(cell: str, tmp_path: Path) -> None:
    from autograder.sandbox.process import Sandbox

    with Seed([]) as seed, Sandbox(Limits(), [tmp_path], slot=1, seed=seed) as sandbox:
        session = sandbox.spawn()
        kinds = [one["output_type"] for one in session.run_cell(cell, 60)["outputs"]]
        assert kinds[-1] == "display_data"
        code = "import torch\ntorch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)\nprint('made')"
        assert session.run_cell(code, 60)["failure"] is None
        session.close()


def test_each_package_has_a_first_use() -> None:
    source = Path(sys.modules["autograder.sandbox"].__path__[0], "warm.py").read_text(encoding="utf-8")
    assert all(f'    "{name}": "' in source for name in PACKAGES)
