"""The sandbox of an ordinary user has every layer too, by a user namespace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ..ordinary_user import UNAVAILABLE, run_as_ordinary_user
from .conftest import ROOT

_SCRIPT = """
import os, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from autograder.sandbox.confine import LAYERS
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.process import Sandbox
from autograder.sandbox.proof import prove
from autograder.sandbox.student import StudentCrashed, StudentOutOfMemory, StudentTimeout

assert os.getuid() != 0
course = Path.home() / "course"
(course / "submitted").mkdir(parents=True)
(course / "gradebook.db").write_text("grades")
limits = Limits(memory=3400 * MIB, processes=10, folder_size=16 * MIB)

proof = prove(course, limits)
assert tuple(one.layer for one in proof.layers) == LAYERS
assert proof.holds, proof


def ends(kind, action):
    try:
        instead = action()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}, but {instead!r}")


with Sandbox(limits, hidden=[course]) as sandbox:
    session = sandbox.spawn()
    assert set(LAYERS) <= set(session.layers)
    code = f'''
import numpy as np, os, subprocess
def f(x):
    return np.sum(x)
def sees():
    return [os.path.exists({str(course)!r}), os.path.exists({sys.argv[1]!r} + "/autograder/__init__.py")]
def bomb():
    import time
    for number in range(100):
        try:
            if not os.fork():
                time.sleep(600)
        except OSError:
            return number
def exits():
    os._exit(1)
def loops():
    while True:
        pass
subprocess.Popen(["sleep", "600"], start_new_session=True)
'''
    assert session.run_cell(code, 20, "f")["failure"] is None
    assert session.call("f", "f", (np_like := [1, 2, 3],), {}, 5) == sum(np_like)
    assert session.call("f", "sees", (), {}, 5) == [False, False]
    assert session.call("f", "bomb", (), {}, 5) < 10
    ends(StudentTimeout, lambda: session.call("f", "loops", (), {}, 0.3))
    ends(StudentCrashed, lambda: session.call("f", "exits", (), {}, 5))
    session.close()
    session = sandbox.spawn()
    hog = '''
import os, time
for _ in range(6):
    if not os.fork():
        x = b"x" * (500 << 20)
        time.sleep(30)
time.sleep(15)
'''
    ends(StudentOutOfMemory, lambda: session.run_cell(hog, 20))
    session.close()
    left = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
            left += [entry.name] * (b"sleep" in (entry / "cmdline").read_bytes()[:6])
    assert left == [], left
print("all layers held")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="run as an ordinary user, where every other test covers it")
def test_every_layer_as_an_ordinary_user(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    done = run_as_ordinary_user(["-c", _SCRIPT, str(ROOT)], home, [ROOT], timeout=180)
    if done.returncode == UNAVAILABLE:
        pytest.skip(f"no mount can be made here to become an ordinary user: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "all layers held" in done.stdout
