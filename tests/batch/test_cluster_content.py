from __future__ import annotations

import pickle
from pathlib import Path

from autograder.batch.cluster_content import Build, Content
from autograder.batch.course import Course, Grader, Options
from autograder.batch.folder import read_folder
from autograder.sandbox.limits import Limits

from .small_course import ASSIGNMENT, NOTEBOOK, hand_in

OPTIONS = Options(limits=Limits(cell_seconds=7.0), rerun_experiments=True)


def test_unpacked_content_grades_the_same_submission_under_the_same_key(root: Path, tmp_path: Path) -> None:
    (root / "source" / ASSIGNMENT / "points.csv").write_text("1,2")
    (root / "solutions" / ASSIGNMENT).mkdir(parents=True)
    (root / "solutions" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").write_text('{"cells": []}')
    (root / "gradebook.db").write_text("nobody's business")
    content = Content.of(Course(root), ASSIGNMENT, OPTIONS, "secret")
    there = pickle.loads(pickle.dumps(content))  # noqa: S301 (as Dask does it, between our own machines)
    assert there.options == OPTIONS
    away = there.unpack(tmp_path / "away")
    handed = read_folder(hand_in(root, "ada", None).parent, NOTEBOOK)
    keys = [
        grader.key(grader.submission(handed))
        for grader in (Grader(one, ASSIGNMENT, OPTIONS, "secret") for one in (Course(root), away))
    ]
    assert keys[0] == keys[1]
    assert sorted(str(path.relative_to(away.root)) for path in away.root.rglob("*") if path.is_file()) == [
        f"solutions/{ASSIGNMENT}/{NOTEBOOK}.ipynb",
        f"source/{ASSIGNMENT}/{NOTEBOOK}.ipynb",
        f"source/{ASSIGNMENT}/points.csv",
    ]


def test_a_build_is_the_same_after_its_journey() -> None:
    build = Build.here()
    assert Build.from_json(build.to_json()) == build
    assert build.differences(build) == []
    assert set(build.packages) == {"torch", "numpy"}
    assert "none" not in build.packages.values()
