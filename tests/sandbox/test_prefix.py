"""The course's first cells, run once in a real zygote: what is shared, what can not be, what still holds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.sandbox.confine import LAYERS
from autograder.sandbox.prefix import Prefix
from autograder.sandbox.process import Sandbox
from autograder.sandbox.seed import Seed
from autograder.sandbox.session import Session

from .conftest import LIMITS, ROOT
from .descendants import descendants

Start = Callable[..., Sandbox]


@pytest.fixture(scope="module")
def seed() -> Iterator[Seed]:
    """One warm interpreter for every sandbox of this file."""
    with Seed() as started:
        yield started


@pytest.fixture
def start(seed: Seed, course: Path) -> Iterator[Start]:
    started: list[Sandbox] = []

    def make(*cells: str, files: dict[str, bytes] | None = None) -> Sandbox:
        started.append(
            Sandbox(LIMITS, [ROOT, course], slot=len(started), prefix=Prefix(cells, files or {}), seed=seed)
        )
        started[-1].start()
        return started[-1]

    yield make
    for one in started:
        one.close()


def answer(session: Session, code: str) -> object:
    reply = session.run_cell(code, 10, "exercise")
    assert reply["failure"] is None, reply
    return session.value("exercise", "answer", 5)


SLOW = "import time\ntime.sleep(1)\nmade = time.monotonic_ns()\nprint('made')\nmade % 7"
DRAW = "import matplotlib.pyplot as plt\nplt.plot([0, 1])\nplt.show()"


def test_a_seed_waits_as_long_as_a_class_takes(seed: Seed, start: Start) -> None:
    """Nothing is asked of it between one zygote and the next, and all die with it."""
    session = start().spawn()
    time.sleep(11)
    assert answer(session, "answer = 1") == 1
    session.close()
    assert seed.process is not None
    assert seed.process.poll() is None


def test_it_runs_once_and_every_fork_has_its_names_and_outputs(start: Start) -> None:
    sandbox = start(SLOW, DRAW, "total = 0", files={"values.csv": b"1,2"})
    shared = sandbox.shared()
    assert shared is not None
    assert sandbox.note == ""
    kinds = [[one["output_type"] for one in outputs] for outputs in shared.outputs]
    assert kinds == [["stream", "execute_result"], ["display_data"], []]
    found = []
    for _ in range(2):
        session = sandbox.spawn(shared=True)
        started = time.monotonic()
        found.append(answer(session, "total += 1\nanswer = [made, total]"))
        assert time.monotonic() - started < 1
        session.close()
    assert found[0] == found[1], "the same moment, and nothing of the fork before"
    session = sandbox.spawn(shared=True)
    drawn = session.run_cell(DRAW.replace("plt.show", "plt.title('$x^2$ and other letters')\nplt.show"), 10)
    assert [one["output_type"] for one in drawn["outputs"]] == ["display_data"], "fonts are opened anew"
    session.close()
    plain = sandbox.spawn()
    assert answer(plain, "answer = 'made' in globals()") is False, "another interpreter has not run it"
    plain.close()


def test_a_fork_of_it_is_confined_as_any_other(start: Start, course: Path) -> None:
    sandbox = start("import os, socket", files={"values.csv": b"1,2"})
    assert sandbox.shared() is not None
    session = sandbox.spawn(shared=True)
    assert session.layers == LAYERS
    # Where the interpreter lies in /tmp, that folder is another one, which may not be listed.
    open_folder = "." if os.path.realpath(sys.prefix).startswith("/tmp/") else "/tmp"
    code = f"""
def fails(action):
    try:
        action()
    except OSError:
        return True
    return False
answer = [
    os.getpid(), os.getuid() == 0, os.listdir("."), os.listdir({open_folder!r}),
    fails(lambda: open({str(course / "gradebook.db")!r})),
    fails(lambda: open({str(Path(__file__).parents[2] / "autograder" / "errors.py")!r})),
    fails(lambda: socket.socket()), fails(lambda: open("/etc/passwd.mine", "w")),
]
import sys
answer.append([name for name in sys.modules if name.startswith("autograder")])
"""
    assert answer(session, code) == [1, False, [], [], True, True, True, True, []]
    session.close()


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()", "thread"),
        ("kept = open('/dev/null')", "file or a connection"),
        ("import os\npipe = os.pipe()", "file or a connection"),
        ("import subprocess\nchild = subprocess.Popen(['sleep', '60'])", "process"),
        ("open('left.txt', 'w').close()", "write files"),
        ("1 / 0", "failed"),
        ("import os\nos._exit(3)", "ended"),
    ],
    ids=["thread", "file", "pipe", "child", "writes", "fails", "exits"],
)  # fmt: skip
def test_what_can_not_be_shared_is_said_and_each_submission_runs_it(
    start: Start, cell: str, why: str
) -> None:
    sandbox = start("first = 1", cell)
    assert sandbox.shared() is None
    assert why in sandbox.note
    assert "run for each submission" in sandbox.note
    session = sandbox.spawn()
    assert session.layers == LAYERS
    assert answer(session, "answer = 'first' in globals()") is False
    session.close()


def test_closing_one_sandbox_leaves_the_others_of_the_seed(start: Start, seed: Seed) -> None:
    one, other = start("a = 1"), start("a = 2")
    assert one.shared() is not None
    assert other.shared() is not None
    before = len(descendants(seed))
    one.close()
    assert len(descendants(seed)) == before - 2
    session = other.spawn(shared=True)
    assert answer(session, "answer = a") == 2
    session.close()
