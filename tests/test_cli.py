from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

from autograder import cli, cli_options, cli_teaching, grading_run
from autograder.batch import course as course_module
from autograder.batch import local
from autograder.batch.course import Course, Grader
from autograder.batch.local import Done
from autograder.errors import MissingLayerError
from autograder.grading.graded import Graded
from autograder.grading.suite import Suite
from autograder.nbgrader_bridge import writing
from autograder.nbgrader_bridge.standing import Standing
from autograder.results import ExerciseResult, GradeReport, Outcome

from .batch.small_course import ASSIGNMENT, NOTEBOOK, hand_in, make_course
from .grading.fakes import FakeSandbox

REPOSITORY = Path(__file__).parents[1]
COMMANDS = (
    "release", "collect", "grade", "regrade", "try", "feedback", "report", "export", "audit", "new-exercise",
    "demo", "doctor",
)  # fmt: skip


@dataclass(frozen=True)
class Ran:
    """How the command ended, and what it wrote, with lines unwrapped."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process, on a wide screen."""
    monkeypatch.setenv("COLUMNS", "300")
    for module in (cli, cli_options, cli_teaching):
        monkeypatch.setattr(module, "console", Console(width=300))
        monkeypatch.setattr(module, "errors", Console(width=300, stderr=True))

    def call(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["deepdrills", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        written = capsys.readouterr()
        code = ended.value.code
        return Ran(
            code if isinstance(code, int) else 0, " ".join(written.out.split()), " ".join(written.err.split())
        )

    return call


@pytest.fixture(scope="session")
def _course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("cli") / "course")


@pytest.fixture
def course(_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small course, and a place outside of it that we are in."""
    root = shutil.copytree(_course, tmp_path / "course")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(cli_options, "__file__", str(tmp_path / "elsewhere" / "autograder" / "cli.py"))
    return root


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Every path below a folder with its size and when it was written."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
    }


# ---- help ----


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_the_commands_and_teaches_a_week(run: Run, flag: str) -> None:
    ran = run(flag)
    assert ran.code == 0
    for word in (*COMMANDS, "A usual week", "hand out release/", "submitted/<student>/<assignment>/"):
        assert word in ran.out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("release", ["assignment", "audit what students get", "--course"]),
        (
            "grade",
            [
                "ASSIGNMENT",
                "--student",
                "--jobs",
                "--force",
                "--json",
                "--allow-degraded",
                "gradebook.db",
                "--scheduler",
                "tcp://HOST:PORT",
            ],
        ),
        ("grade", ["--quiet", "--log", "goes on where it was"]),
        ("regrade", ["ASSIGNMENT", "--diff", "--student", "whose suite changed"]),
        ("try", ["NOTEBOOK", "--assignment", "--json", "--allow-degraded", "write nothing else"]),
        ("collect", ["PATH", "ASSIGNMENT", "--roster", "--update", "--dry-run", "--json", "Moodle, Canvas"]),
        ("feedback", ["ASSIGNMENT", "--student", "feedback/<student>/<assignment>/<notebook>.html"]),
        ("demo", ["FOLDER", "--jobs", "demo-course"]),
        ("doctor", ["--course", "fit to grade"]),
    ],
)
def test_every_command_explains_itself(run: Run, command: str, words: list[str]) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    for word in words:
        assert word.casefold() in ran.out.casefold()


@pytest.mark.parametrize(
    "arguments", [("grad",), ("grade",), ("grade", "a", "--no-such"), ("grade", "a", "--jobs", "0"), ("try",)]
)
def test_wrong_use_says_so_and_exits_with_2(run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert "Usage:" in ran.err


# ---- what is not there ----


@pytest.mark.parametrize("command", ["grade", "feedback", "release"])
def test_an_unknown_assignment_is_named_with_the_known_ones(run: Run, course: Path, command: str) -> None:
    ran = run(command, "ps9", "--course", course)
    assert ran.code == 2
    assert f"there is no assignment 'ps9'. There are: {ASSIGNMENT}." in ran.err
    assert "Traceback" not in ran.err


def test_trying_for_an_unknown_assignment_names_the_known_ones(run: Run, course: Path) -> None:
    ran = run("try", course / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", "-a", "ps9", "--course", course)
    assert ran.code == 2
    assert f"There are: {ASSIGNMENT}." in ran.err


@pytest.mark.parametrize(
    "arguments", [("grade", ASSIGNMENT), ("release",), ("feedback", ASSIGNMENT), ("try", "x.ipynb")]
)
def test_outside_a_course_the_way_in_is_said(run: Run, course: Path, arguments: tuple[str, ...]) -> None:
    for named in ((), ("--course", ".")):
        ran = run(*arguments, *named)
        assert ran.code == 2
        assert "is not in a course folder" in ran.err
        assert "pass --course" in ran.err


def test_the_repository_is_the_course_of_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli_options.find_course(None).root == REPOSITORY


def test_a_course_with_wrong_settings_is_wrong_use(run: Run, course: Path) -> None:
    for line, words in (
        ("c.SandboxLimits.cell_second = 3", "no setting c.SandboxLimits.cell_second"),
        ("c.SandboxLimits.cell_seconds = -3", "above zero"),
        ("1 / 0", "ZeroDivisionError"),
    ):
        (course / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
        ran = run("grade", ASSIGNMENT, "--course", course)
        assert ran.code == 2
        assert words in ran.err


def test_grading_nobody_says_where_submissions_go(run: Run, course: Path) -> None:
    ran = run("grade", ASSIGNMENT, "--course", course)
    assert ran.code == 2
    assert f"Put each in submitted/<student>/{ASSIGNMENT}/" in ran.err


def test_a_scheduler_that_is_no_address_is_a_wrong_use(run: Run, course: Path) -> None:
    hand_in(course, "ada", None)
    ran = run("grade", ASSIGNMENT, "--scheduler", "nowhere", "--course", course)
    assert ran.code == 2
    assert "--scheduler nowhere: this is no address of a Dask scheduler" in ran.err


def test_grading_an_unknown_student_names_them(run: Run, course: Path) -> None:
    hand_in(course, "ada", None)
    ran = run("grade", ASSIGNMENT, "-s", "ada", "-s", "zoe", "-s", "bao", "--course", course)
    assert ran.code == 2
    assert "nothing was submitted by bao, zoe" in ran.err


def test_trying_a_file_that_is_not_there(run: Run, course: Path) -> None:
    ran = run("try", "gone.ipynb", "--course", course)
    assert ran.code == 2
    assert "gone.ipynb: there is no such file." in ran.err


def test_a_notebook_of_no_assignment_is_not_guessed(run: Run, course: Path) -> None:
    Path("other.ipynb").write_text('{"cells": []}')
    ran = run("try", "other.ipynb", "--course", course)
    assert ran.code == 2
    assert f"Pass --assignment, one of {ASSIGNMENT}." in ran.err


def test_the_demo_replaces_no_folder_of_anothers(
    run: Run, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course)
    (course / "mine").mkdir()
    (course / "mine" / "work.txt").write_text("a year")
    ran = run("demo", course / "mine")
    assert ran.code == 2
    assert "not an older demo" in ran.err
    assert (course / "mine" / "work.txt").read_text() == "a year"


# ---- whose fault it is ----


def report(student: str, outcome: Outcome = Outcome.PASSED) -> GradeReport:
    exercise = ExerciseResult("output_size_checks", 1.0, 2.0, outcome)
    return GradeReport(student, ASSIGNMENT, NOTEBOOK, 1.0, 2.0, 0.0, (), (), 0.1, (exercise,))


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch, course: Path) -> Callable[[list[Done]], Path]:
    """A course in which grading ends like this, without workers and without a gradebook."""

    def prepare(done: list[Done]) -> Path:
        for one in done:
            hand_in(course, one.student, None)
            if one.ok and one.report is not None:
                Course(course).store.put(one.key, Graded(one.report, {}))
        monkeypatch.setattr(grading_run, "grade_all", lambda *given: iter(done))
        monkeypatch.setattr(local.Crew, "start", lambda self: None)
        late = {"ada": Standing(late_seconds=3600.0)}
        monkeypatch.setattr(grading_run, "standing_of", lambda *given: late)
        monkeypatch.setattr(writing, "ensure", lambda *given: None)
        monkeypatch.setattr(writing, "GradebookWriter", NoGradebook)
        NoGradebook.written = []
        return course

    return prepare


class NoGradebook:
    """Writes nothing, and remembers whose result it was given in the clean tree."""

    written: ClassVar[list[str]] = []

    def __init__(self, root: Path, assignment: str, submitted: Path) -> None:
        self._submitted = submitted

    def __enter__(self) -> NoGradebook:
        return self

    def __exit__(self, *_exc: object) -> None: ...

    def write(self, students: list[str]) -> list[tuple[str, str]]:
        assert all((self._submitted / student / ASSIGNMENT).is_dir() for student in students)
        self.written.extend(students)
        return []


def test_graded_without_a_fault_exits_with_0(
    run: Run, graded: Callable[[list[Done]], Path], tmp_path: Path
) -> None:
    root = graded([Done("bao", report("bao"), "k"), Done("ada", report("ada"), "k")])
    ran = run("grade", ASSIGNMENT, "--course", root, "--json", tmp_path / "out.json")
    assert ran.code == 0
    assert f"{ASSIGNMENT}: 2 submissions" in ran.out
    data = json.loads((tmp_path / "out.json").read_text())
    assert [(one["student"], one["late_seconds"]) for one in data] == [("ada", 3600.0), ("bao", 0.0)]


@pytest.mark.parametrize(
    "bad",
    [
        Done("bao", None, trouble=("a grading process ended with code -9",)),
        Done("bao", report("bao", Outcome.ERROR), "k", ("output_size/stride: KeyError",)),
    ],
    ids=["lost", "error"],
)
def test_an_error_of_ours_exits_with_1_and_says_whose(
    run: Run, graded: Callable[[list[Done]], Path], bad: Done
) -> None:
    root = graded([bad, Done("ada", report("ada"), "k")])
    ran = run("grade", ASSIGNMENT, "--course", root)
    assert ran.code == 1
    assert f"bao: {bad.trouble[0]}" in ran.out
    assert NoGradebook.written == ["ada"], "no score is written for the other"
    assert not (root / ".deepdrills" / "staged" / "submitted" / "ada").exists(), "the clean tree is emptied"


def test_an_error_of_ours_in_looking_leaves_the_submission_to_its_worker(
    run: Run, graded: Callable[[list[Done]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_given: object) -> None:
        raise RuntimeError("one notebook")

    root = graded([Done("ada", report("ada"), "k")])
    monkeypatch.setattr(grading_run, "_look", breaks)
    ran = run("grade", ASSIGNMENT, "--course", root)
    assert ran.code == 0
    assert NoGradebook.written == ["ada"]


def test_an_interrupted_run_says_that_it_can_go_on(
    run: Run, graded: Callable[[list[Done]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_given: object) -> Iterator[Done]:
        yield Done("ada", report("ada"), "k")
        raise KeyboardInterrupt

    root = graded([Done("ada", report("ada"), "k")])
    monkeypatch.setattr(grading_run, "grade_all", interrupted)
    ran = run("grade", ASSIGNMENT, "--course", root)
    assert ran.code == 130
    assert "What is graded is kept; run the same command again" in ran.out


def test_a_missing_layer_exits_with_1_and_names_it(
    run: Run, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(self: Grader, *given: Any, **about: Any) -> Graded:
        raise MissingLayerError(["landlock (too old)"], ["session"])

    monkeypatch.setattr(Grader, "grade", missing)
    ran = run("try", course / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb", "--course", course)
    assert ran.code == 1
    assert "sandbox layer missing: landlock (too old)" in ran.err
    assert "--allow-degraded" in ran.err


def test_a_suite_of_ours_that_breaks_exits_with_1_and_writes_its_report(
    run: Run, course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The student's code has run, and our own check fails before it asks anything."""
    monkeypatch.setattr(course_module, "_sandbox", lambda *given: nullcontext(FakeSandbox()))
    monkeypatch.setattr(Suite, "run", lambda *given: ZeroDivisionError("ours"))
    before = snapshot(course)
    ran = run(
        "try", hand_in(tmp_path / "course", "ada", None), "--course", course, "--json", tmp_path / "out.json"
    )
    assert ran.code == 1
    assert "the fault is the course's, not yours" in ran.out
    assert "ZeroDivisionError: ours" in ran.out
    (data,) = json.loads((tmp_path / "out.json").read_text())
    assert data["exercises"][0]["outcome"] == "error"
    assert {check["outcome"] for check in data["exercises"][0]["checks"]} == {"error"}
    after = snapshot(course)
    assert {path for path in after if path not in before and not path.startswith("submitted")} == set()

    refused = run("try", "gone.ipynb", "--course", course, "--json", tmp_path)
    assert refused.code == 2


def test_reports_that_can_not_be_written_are_wrong_use(
    run: Run, graded: Callable[[list[Done]], Path], tmp_path: Path
) -> None:
    root = graded([Done("ada", report("ada"), "k")])
    ran = run("grade", ASSIGNMENT, "--course", root, "--json", tmp_path)
    assert ran.code == 2
    assert "the JSON could not be written (Is a directory)" in ran.err


# ---- the command itself, on the course itself ----


def test_trying_the_source_earns_every_point_prints_json_and_writes_nothing(tmp_path: Path) -> None:
    course = tmp_path / "course"
    for folder in ("source", "solutions"):
        shutil.copytree(REPOSITORY / folder / ASSIGNMENT, course / folder / ASSIGNMENT)
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    (tmp_path / "elsewhere").mkdir()
    before = snapshot(tmp_path)
    ran = subprocess.run(
        [
            str(Path(sys.executable).parent / "deepdrills"), "try", "--json", "-", "--course", str(course),
            str(course / "source" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"),
        ],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"},
        check=False,
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert snapshot(tmp_path) == before

    (data,) = json.loads(ran.stdout)
    assert GradeReport.from_json(data).to_json() == data
    assert (data["score"], data["max_score"]) == (18.0, 20.0)
    assert (data["student"], data["assignment"], data["notebook"]) == (NOTEBOOK, ASSIGNMENT, NOTEBOOK)
    assert {one["outcome"] for one in data["exercises"]} == {"passed"}
    assert sum(one["max_points"] for one in data["exercises"]) == 18.0
    assert all(one["checks"] for one in data["exercises"])
    assert "seccomp" in data["sandbox"]
    assert "18 / 20" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_is_imported_to_read_a_command_is_light() -> None:
    """Seconds of imports would come before each word of help and before a second run of a class."""
    code = (
        "import sys, autograder.cli; "
        "print({name.partition('.')[0] for name in sys.modules} & "
        "{'nbgrader', 'nbformat', 'torch', 'numpy', 'matplotlib', 'sqlalchemy', 'IPython', 'distributed'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
