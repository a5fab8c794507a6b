from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.grading.execution import Execution
from autograder.grading.prefix import locked_prefix
from autograder.grading.submission import Submission, rebuild
from autograder.sandbox.limits import Limits
from autograder.sandbox.prefix import Prefix, Shared
from autograder.sandbox.student import StudentCrashed, StudentFailure

from .fakes import FakeSandbox
from .toy import ANSWERS, TEMPLATE, extra, notebook, place, raw

SHARED = Shared(
    Prefix(("import math",)), ([{"output_type": "stream", "name": "stdout", "text": "made once"}],)
)


def submission(**spoil: int) -> Submission:
    data = notebook(ANSWERS)
    for source, where in spoil.items():
        data["cells"].insert(where, extra(f"{source} = 1"))
    return rebuild(raw(data), TEMPLATE)


def run(of: Submission, sandbox: FakeSandbox) -> Execution:
    execution = Execution(of, sandbox.as_sandbox(), Limits(), shared=SHARED)
    execution.run()
    return execution


def test_the_prefix_is_the_code_before_the_first_answer() -> None:
    assert locked_prefix(TEMPLATE, {"a.csv": b"1"}) == Prefix(("import math",), {"a.csv": b"1"})


def test_illustrations_that_are_drawn_are_no_part_of_it() -> None:
    assert locked_prefix(replace(TEMPLATE, drawn={"environment": []}), {}) is None


def test_shared_cells_are_not_run_and_their_outputs_are_shown() -> None:
    sandbox = FakeSandbox(prefix=SHARED)
    execution = run(submission(), sandbox)
    assert sandbox.shared_forks == [True]
    assert "import math" not in sandbox.ran[0]
    (index,) = (n for n, cell in enumerate(execution.submission.cells) if cell.source == "import math")
    assert execution.runs[index].outputs == SHARED.outputs[0]
    assert execution.runs[index].outputs is not SHARED.outputs[0], "nobody's outputs are another's"


def test_after_a_crash_the_fork_is_a_shared_one_too() -> None:
    def deadly(source: str) -> StudentFailure | None:
        return StudentCrashed("It ended.") if source == ANSWERS["add"] else None

    sandbox = FakeSandbox(prefix=SHARED, cells=deadly)
    run(submission(), sandbox)
    assert sandbox.shared_forks == [True, True]
    assert all("import math" not in ran for ran in sandbox.ran)


@pytest.mark.parametrize("where", ["environment", "title"])
def test_a_students_own_cell_before_or_among_them_is_run_in_its_place(where: str) -> None:
    sandbox = FakeSandbox(prefix=SHARED)
    run(submission(mine=place(notebook(ANSWERS), where)), sandbox)
    assert sandbox.shared_forks == [False]
    assert sandbox.ran[0][:2] == ["mine = 1", "import math"]


def test_a_students_own_cell_after_them_changes_nothing() -> None:
    sandbox = FakeSandbox(prefix=SHARED)
    run(submission(mine=place(notebook(ANSWERS), "environment") + 1), sandbox)
    assert sandbox.shared_forks == [True]
    assert sandbox.ran[0][0] == "mine = 1"


def test_files_of_a_students_own_might_be_read_by_them() -> None:
    sandbox = FakeSandbox(prefix=SHARED)
    run(replace(submission(), files={"data.csv": b"1"}), sandbox)
    assert sandbox.shared_forks == [False]
    assert sandbox.ran[0][0] == "import math"
