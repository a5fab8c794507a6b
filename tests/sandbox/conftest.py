"""One warm sandbox for the tests of a process, with limits small enough to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import Session

ROOT = Path(__file__).parents[2]
SECRET = "a secret that no submission may read"
LIMITS = Limits(
    cell_seconds=10,
    call_seconds=3,
    cpu_seconds=60,
    memory=700 * MIB,
    processes=32,
    file_size=8 * MIB,
    folder_size=24 * MIB,
    output_size=100_000,
    reply_size=16 * MIB,
)


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with everything that running code must not see."""
    root = tmp_path_factory.mktemp("course")
    for name in (
        "gradebook.db",
        ".deepdrills/secret",
        "source/ps/a.ipynb",
        "solutions/ps/a.ipynb",
        "submitted/ada/ps/a.ipynb",
        "autograded/ada/ps/a.ipynb",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET)
        path.chmod(0o644)
    for folder in (root, *root.rglob("*/")):
        folder.chmod(0o755)
    return root


@pytest.fixture(scope="session")
def sandbox(course: Path) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DEEPDRILLS_SECRET", SECRET)
        environment.setenv("SOME_TOKEN", SECRET)
        with Sandbox(LIMITS, hidden=[ROOT, course]) as started:
            yield started


@pytest.fixture
def session(sandbox: Sandbox) -> Iterator[Session]:
    spawned = sandbox.spawn()
    yield spawned
    spawned.close()


@pytest.fixture
def answer(session: Session) -> Callable[[str], Any]:
    """Run lines in a fresh submission and return what they leave in `answer`."""

    def run(code: str) -> Any:
        reply = session.run_cell(code, LIMITS.cell_seconds, "exercise")
        assert reply["failure"] is None, reply
        return session.value("exercise", "answer", 5)

    return run
