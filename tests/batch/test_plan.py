from __future__ import annotations

from pathlib import Path

from autograder.batch.plan import Job, plan


def test_one_job_a_student_in_their_order() -> None:
    assert plan(Path("/c/submitted"), "ps1", ["bao", "ada"]) == [
        Job("bao", "/c/submitted/bao/ps1"),
        Job("ada", "/c/submitted/ada/ps1"),
    ]
    assert plan(Path("/c/submitted"), "ps1", []) == []
