from __future__ import annotations

import os
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.errors import CourseError, UsageError
from autograder.nbgrader_bridge.settings import alembic_on_path, limits_from, load_settings, options_from
from autograder.sandbox.limits import Limits


def test_defaults_are_those_of_the_sandbox() -> None:
    assert limits_from(Config()) == Limits()


def test_every_limit_is_a_setting() -> None:
    for one in fields(Limits):
        config = Config({"SandboxLimits": {one.name: 7}})
        assert getattr(limits_from(config), one.name) == 7


def test_whole_seconds_do_for_a_time() -> None:
    assert limits_from(Config({"SandboxLimits": {"call_seconds": 10}})).call_seconds == 10.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("call_second", 10),
        ("call_seconds", "long"),
        ("call_seconds", 0),
        ("call_seconds", float("nan")),
        ("memory", -1),
        ("memory", True),
        ("memory", 1.5),
    ],
)
def test_a_wrong_limit_is_named(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        limits_from(Config({"SandboxLimits": {name: value}}))


def test_no_restart_at_all_is_allowed() -> None:
    assert limits_from(Config({"SandboxLimits": {"restarts": 0}})).restarts == 0


def test_degraded_grading_is_asked_for_by_name() -> None:
    assert not options_from(Config()).allow_degraded
    assert options_from(Config({"GradingOptions": {"allow_degraded": True}})).allow_degraded
    with pytest.raises(UsageError, match="degraded"):
        options_from(Config({"GradingOptions": {"degraded": True}}))


def test_settings_of_a_course(course: Path) -> None:
    path = course / "nbgrader_config.py"
    path.write_text(path.read_text() + "\nc.SandboxLimits.call_seconds = 11\n")
    config = load_settings(course)
    assert limits_from(config).call_seconds == 11
    assert config.Validator.validate_all is True
    assert config.Autograde.sanitize_preprocessors == ["autograder.nbgrader_bridge.grade.GradeSubmission"]


def test_a_folder_without_settings_is_no_course(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"nbgrader_config\.py"):
        load_settings(tmp_path)


@pytest.mark.parametrize("text", ["c = get_config(\n", "import nothing_of_this_name\n", "1 / 0\n"])
def test_settings_that_do_not_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "nbgrader_config.py").write_text(text)
    with pytest.raises(CourseError, match=r"nbgrader_config\.py"):
        load_settings(tmp_path)


def test_alembic_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    alembic_on_path()
    alembic_on_path()
    assert os.environ["PATH"] == f"{Path(sys.executable).parent}{os.pathsep}/usr/bin"
