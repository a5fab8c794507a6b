from __future__ import annotations

from pathlib import Path

import pytest

from autograder.batch import digests as module
from autograder.batch.digests import exercise_digests


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of ours with two suites: one uses a reference that uses another, one uses nothing."""
    package = tmp_path / "autograder"
    for name, text in {
        "suites/ps/test_one.py": "from autograder.reference import first\n",
        "suites/ps/test_two.py": "import numpy\n",
        "reference/__init__.py": "",
        "reference/first.py": "def f():\n    from autograder.reference.second import g\n",
        "reference/second.py": "g = 1\n",
        "reference/third.py": "",
    }.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(module, "PACKAGE", package)
    return package


def digests(package: Path) -> dict[str, str]:
    return exercise_digests(package / "suites", "ps", ["one", "two"])


@pytest.mark.parametrize(
    ("changed", "whose"),
    [
        ("suites/ps/test_one.py", {"one"}),
        ("suites/ps/test_two.py", {"two"}),
        ("reference/first.py", {"one"}),
        ("reference/second.py", {"one"}),
        ("reference/third.py", set()),
        ("exercises/ps/two.toml", {"two"}),
        ("suites/ps/conftest.py", {"one", "two"}),
    ],
)
def test_a_change_is_that_of_the_exercises_that_use_the_file(
    package: Path, changed: str, whose: set[str]
) -> None:
    before = digests(package)
    path = package / changed
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("# changed\n")
    after = digests(package)
    assert {name for name in before if before[name] != after[name]} == whose


def test_a_suite_that_is_no_python_has_a_digest_too(package: Path) -> None:
    (package / "suites/ps/test_two.py").write_text("def (")
    assert set(digests(package)) == {"one", "two"}
