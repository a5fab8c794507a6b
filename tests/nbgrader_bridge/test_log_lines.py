from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.apps import AutogradeApp, GenerateFeedbackApp, NbGrader

from .commands import command
from .toy_course import ASSIGNMENT, NOTEBOOK, ToyGrader, submit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.mark.parametrize("app", [AutogradeApp, GenerateFeedbackApp])
@pytest.mark.parametrize("name", ["ann\x1bc", "ann\u202egnp", "ann\x9b31m", "ann\rx"])
def test_nothing_of_a_name_reaches_the_terminal_or_the_log(
    released: Path, grader: ToyGrader, capfd: pytest.CaptureFixture[str], app: type[NbGrader], name: str
) -> None:
    submit(released, name, {f"{NOTEBOOK}.ipynb": "", f"{name}.txt": "mine"})
    (released / "submitted" / name / ASSIGNMENT / f"link{name}").symlink_to("/etc/passwd")
    log = released / "nbgrader.log"
    options = ["--debug", f"--NbGrader.logfile={log}"]
    if app is GenerateFeedbackApp:
        assert command(AutogradeApp, released) == 0
        capfd.readouterr()
    assert command(app, released, *options) == 0
    for text in (capfd.readouterr().err, log.read_bytes().decode()):
        shown = (
            text.replace("\x1b[32m", "")
            .replace("\x1b[34m", "")
            .replace("\x1b[33m", "")
            .replace("\x1b[0m", "")
        )
        assert "ann" in shown
        assert not [line for line in shown.split("\n") if not line.replace("\t", "").isprintable()]
