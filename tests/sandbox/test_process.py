"""Cells, calls and their ends: every way in which a submission can stop, and what is said of it."""

from __future__ import annotations

import base64
import os
import time
from typing import Any

import numpy as np
import pytest

from autograder.errors import SandboxError
from autograder.exercises.compare import Opaque
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import GRACE_SECONDS, Session, failure
from autograder.sandbox.student import (
    NotRejected,
    Student,
    StudentCrashed,
    StudentFailure,
    StudentMissing,
    StudentOutOfMemory,
    StudentRaised,
    StudentTimeout,
)

from .conftest import LIMITS
from .descendants import only_the_zygote


def cell(session: Session, source: str, snapshot: str | None = None, seconds: float = 10) -> dict[str, Any]:
    return session.run_cell(source, seconds, snapshot)


def printed(reply: dict[str, Any], stream: str = "stdout") -> str:
    return "".join(one["text"] for one in reply["outputs"] if one.get("name") == stream)


def test_outputs_of_a_cell(session: Session) -> None:
    reply = cell(session, "import sys\nprint('one')\nprint('two', file=sys.stderr)\n1 + 1")
    assert [one["output_type"] for one in reply["outputs"]] == ["stream", "stream", "execute_result"]
    assert printed(reply) == "one\n"
    assert printed(reply, "stderr") == "two\n"
    assert reply["outputs"][2]["data"]["text/plain"] == "2"
    assert reply["failure"] is None


def test_names_last_from_cell_to_cell(session: Session) -> None:
    cell(session, "a = 2")
    cell(session, "def f(x, times=1):\n    return a * x * times", "f")
    assert session.call("f", "f", (3,), {"times": 5}, 3) == 30
    got = session.call("f", "f", (np.ones((2, 3)),), {}, 3)
    assert got.tolist() == [[2.0] * 3] * 2
    assert session.value("f", "a", 3) == 2


def test_an_overwritten_name_is_called_as_it_stood(session: Session) -> None:
    cell(session, "scale = 1\ndef f(x):\n    return scale * x", "first")
    cell(session, "scale = 10\ndef g(x):\n    return scale * x", "second")
    cell(session, "f = None\nscale = 'spoiled'\ndel g", "third")
    for _ in range(2):
        assert session.call("first", "f", (3,), {}, 3) == 3
        assert session.call("second", "f", (3,), {}, 3) == 30
        assert session.call("second", "g", (3,), {}, 3) == 30
    assert session.value("third", "f", 3) is None
    for exercise, name in (("first", "g"), ("third", "g"), ("never", "f")):
        with pytest.raises(StudentMissing):
            session.call(exercise, name, (3,), {}, 3)


def test_defaults_of_torch_and_numpy_are_as_they_stood(session: Session) -> None:
    cell(session, "def f():\n    return str(torch.zeros(1).dtype)\nimport torch, numpy as np", "first")
    cell(session, "torch.set_default_dtype(torch.float64); np.seterr(all='raise')", "second")
    assert session.call("first", "f", (), {}, 3) == "torch.float32"
    assert session.call("second", "f", (), {}, 3) == "torch.float64"


def test_a_class_is_driven(session: Session) -> None:
    cell(
        session,
        "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return 2 * x",
        "net",
    )
    student = Student(_Channel(session))
    code = "x = torch.tensor(x, requires_grad=True)\ny = Net()(x).sum()\ny.backward()\nanswer = [y, x.grad]"
    value = student.run(code, ("Net",), x=np.ones(3))
    assert value[0] == 6.0
    assert value[1].tolist() == [2.0] * 3
    with pytest.raises(StudentMissing):
        student.run("answer = 1", ("Other",))


class _Channel:
    """The calls of a `Student` in one exercise's snapshot."""

    def __init__(self, session: Session, exercise: str = "net") -> None:
        self._session = session
        self._exercise = exercise

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._session.call(self._exercise, name, args, kwargs, 3)

    def value(self, name: str) -> Any:
        return self._session.value(self._exercise, name, 3)

    def drive(self, needs: tuple[str, ...], code: str, inputs: dict[str, Any]) -> Any:
        return self._session.drive(self._exercise, needs, code, inputs, 3)


def test_a_failed_cell(session: Session) -> None:
    reply = cell(session, "def f():\n    raise KeyError('x')\nf()")
    assert reply["outputs"][-1]["ename"] == "KeyError"
    raised = failure(reply["failure"])
    assert isinstance(raised, StudentRaised)
    assert raised.kinds[:2] == ("KeyError", "LookupError")
    assert raised.line == 2


@pytest.mark.parametrize(
    "source", ["def f(:", "x = 1\0", "é = =", "%%nothing\n1", "?", "'\ud800'", "\t x\n y"]
)
def test_a_cell_that_is_no_python(session: Session, source: str) -> None:
    cell(session, source)
    assert printed(cell(session, "print('on')")) == "on\n"


def test_soft_timeout_of_a_cell(session: Session) -> None:
    reply = cell(session, "while True:\n    pass", seconds=0.4)
    assert isinstance(failure(reply["failure"]), StudentTimeout)
    assert printed(cell(session, "print('on')")) == "on\n"


def test_soft_timeout_of_a_call(session: Session) -> None:
    cell(session, "import time\ndef f():\n    time.sleep(60)\ndef g():\n    return 1", "f")
    with pytest.raises(StudentTimeout):
        session.call("f", "f", (), {}, 0.3)
    assert session.call("f", "g", (), {}, 3) == 1


@pytest.mark.parametrize(
    "body",
    [
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
        "max(range(10**12))",
    ],
    ids=["alarm_ignored", "timer_stopped", "exception_swallowed", "signals_blocked", "inside_c"],
)
def test_hard_timeout(session: Session, body: str) -> None:
    started = time.monotonic()
    try:
        reply = cell(session, body, seconds=0.3)
        assert isinstance(failure(reply["failure"]), StudentTimeout)
    except StudentTimeout:
        assert not session.alive
    assert time.monotonic() - started < 0.3 + GRACE_SECONDS + 3


ENDS = {
    "os_exit": "import os\nos._exit(0)",
    "kills_itself": """
import os, signal
os.kill(os.getpid(), signal.SIGSEGV)
ctypes = __import__('ctypes')
ctypes.string_at(0)
""",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "abort": "import os\nos.abort()",
    "closes_its_descriptors": "import os\nos.closerange(0, 256)",
    "cpu_time": "import resource, os\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True: pass",
}


@pytest.mark.parametrize("source", ENDS.values(), ids=ENDS.keys())
def test_a_process_that_ends(sandbox: Sandbox, source: str) -> None:
    session = sandbox.spawn()
    with pytest.raises((StudentCrashed, StudentOutOfMemory)):
        cell(session, source)
    assert not session.alive
    with pytest.raises(StudentCrashed):
        cell(session, "1")
    session.close()
    other = sandbox.spawn()
    assert printed(cell(other, "print('fresh')")) == "fresh\n"
    other.close()
    assert only_the_zygote(sandbox)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(): return f()", "RecursionError"),
        ("def f(): raise SystemExit", "SystemExit"),
        ("def f(): exit()", None),
    ],
    ids=["recursion", "system_exit", "exit"],
)
def test_calls_that_raise(session: Session, source: str, kind: str | None) -> None:
    cell(session, source, "f")
    if kind is None:
        assert session.call("f", "f", (), {}, 3) is None
        return
    with pytest.raises(StudentRaised) as raised:
        session.call("f", "f", (), {}, 3)
    assert raised.value.kinds[0] == kind
    assert raised.value.line == 1


@pytest.mark.parametrize("source", ["exit()", "quit()", "import sys\nsys.exit(3)", "raise SystemExit"])
def test_a_cell_that_exits_is_over_and_the_notebook_is_not(session: Session, source: str) -> None:
    cell(session, source)
    assert printed(cell(session, "print('on')")) == "on\n"


def test_there_is_no_input(session: Session) -> None:
    for source in ("input('name? ')", "import sys\nassert sys.stdin.read() == ''\nraise EOFError"):
        assert failure(cell(session, source)["failure"]).kinds[0] == "EOFError"  # type: ignore[attr-defined]


MEMORY = {
    "list": "keep = []\nwhile True:\n    keep.append(bytearray(32 << 20))",
    "one_array": "import numpy as np\nx = np.ones(10**11)",
    "tensor": "import torch\nx = torch.ones(10**11)",
    "shared_mapping": """
import mmap
keep = []
while True:
    m = mmap.mmap(-1, 32 << 20)
    m.write(b'x' * len(m))
    keep.append(m)
""",
    "several_processes": """
import os, time
for _ in range(6):
    if not os.fork():
        x = b'x' * (300 << 20)
        time.sleep(30)
time.sleep(8)
""",
}


@pytest.mark.parametrize("source", MEMORY.values(), ids=MEMORY.keys())
def test_out_of_memory(sandbox: Sandbox, source: str) -> None:
    session = sandbox.spawn()
    try:
        failed = failure(cell(session, source)["failure"])
    except StudentFailure as ended:
        failed = ended
    session.close()
    assert isinstance(failed, StudentOutOfMemory)
    assert only_the_zygote(sandbox)


UNCOUNTED = {
    "memfd": "import os\nos.memfd_create('x')",
    "system_v": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(0, 4096, 0o1600) < 0: raise OSError
""",
    "messages": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if libc.msgget(0, 0o1600) < 0: raise OSError
""",
    "shared_then_forgotten": "import mmap\nm = mmap.mmap(-1, 4096)",
    "shared_and_validated": """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_long
if libc.mmap(None, ctypes.c_size_t(4096), 3, 0x23, -1, ctypes.c_long(0)) == -1: raise OSError
""",
}


@pytest.mark.parametrize("source", UNCOUNTED.values(), ids=UNCOUNTED.keys())
def test_memory_that_no_process_holds_is_refused(session: Session, source: str) -> None:
    """It would be held while it is resident in no process, so that no limit sees it."""
    failed = failure(cell(session, source)["failure"])
    assert isinstance(failed, StudentOutOfMemory) or "OSError" in failed.kinds  # type: ignore[attr-defined]


def test_private_memory_within_the_limit(session: Session) -> None:
    reply = cell(session, "import numpy as np\nx = np.ones(10_000_000)\nprint(x.sum())")
    assert printed(reply) == "10000000.0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's kernel does not tell what is shared")
def test_forks_share_the_memory_that_they_inherit(session: Session) -> None:
    """Six workers of a data loader, each a copy of a warm interpreter that fills a third of the limit."""
    source = """
import os, time
children = []
for _ in range(6):
    child = os.fork()
    if not child:
        time.sleep(1.5)
        os._exit(0)
    children.append(child)
print([os.waitpid(child, 0)[1] for child in children])
"""
    assert printed(cell(session, source, seconds=8)) == "[0, 0, 0, 0, 0, 0]\n"


FLOODS = {
    "print": "while True: print('x' * 100)",
    "one_line": "print('x' * 10**7)",
    "both_streams": "import sys\nfor _ in range(10**4):\n    print('a'); print('b', file=sys.stderr)",
    "displays": "from IPython.display import display\nfor _ in range(10**4): display('x' * 1000)",
    "empty_displays": "from IPython.display import display\nfor _ in range(10**4): display({}, raw=True)",
    "value": "'x' * 10**7",
    "command": "!yes | head -c 10000000",
    "tracebacks": """
for _ in range(2000):
    try: 1/0
    except ZeroDivisionError: get_ipython()._showtraceback(ValueError, '', ['x' * 50])
""",
}


@pytest.mark.parametrize("source", FLOODS.values(), ids=FLOODS.keys())
def test_floods_are_capped(session: Session, source: str) -> None:
    reply = cell(session, source, seconds=1.5)
    size = sum(len(str(one)) for one in reply["outputs"])
    assert size < 8 * LIMITS.output_size
    assert len(reply["outputs"]) <= 1001
    assert printed(cell(session, "print('on')")) == "on\n"


def test_a_cut_output_says_so(session: Session) -> None:
    assert "was cut" in printed(cell(session, "print('x' * 10**6)"))


ODD = {
    "subclass_of_text": "class S(str): pass\nimport sys\nsys.stdout.write(S('shown'))",
    "rich_subclass_of_text": """
class S(str): pass
class A:
    def _repr_html_(self): return S('<b>x</b>')
    def __repr__(self): return 'shown'
A()
""",
    "metadata": """
from IPython.display import display
display({'text/plain': 'shown'}, raw=True, metadata={'a': object()})
""",
    "surrogates": "print('shown \\ud800')",
    "numbers_in_a_bundle": """
from IPython.display import display
display({'text/plain': 'shown', 'x/y': 1j}, raw=True)
""",
    "hostile_repr": "class A:\n    def __repr__(self): raise ValueError\nprint('shown')\nA()",
    "hostile_exception": """
class E(Exception):
    def __str__(self): raise ValueError
print('shown')
raise E
""",
}


@pytest.mark.parametrize("source", ODD.values(), ids=ODD.keys())
def test_odd_outputs_end_nothing(session: Session, source: str) -> None:
    assert "shown" in str(cell(session, source)["outputs"])
    assert session.alive


def test_figures(session: Session) -> None:
    for source in (
        "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        "fig, ax = plt.subplots()",
        "from matplotlib.figure import Figure\nf = Figure()\nf.subplots()\nf",
    ):
        reply = cell(session, source)
        pictures = [
            one["data"]["image/png"] for one in reply["outputs"] if "image/png" in one.get("data", {})
        ]
        assert len(pictures) == 1
        assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")


def test_commands_and_top_level_await(session: Session) -> None:
    assert printed(cell(session, "word = 'hello'\n!echo $word; exit 3")) == "hello\n"
    assert printed(cell(session, "print(_exit_code)")) == "3\n"
    assert (
        printed(cell(session, "import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')")) == "awaited\n"
    )
    assert printed(cell(session, "lines = !echo a; echo b\nprint(list(lines))")) == "['a', 'b']\n"


def test_what_is_printed_during_a_call_is_dropped(session: Session) -> None:
    code = """
import os, matplotlib.pyplot as plt
def f(x):
    print(x); display(x); plt.figure(); plt.title(x); os.write(1, x.encode()); os.system("echo " + x)
    return 1
"""
    cell(session, code, "f")
    assert session.call("f", "f", ("hidden input",), {}, 3) == 1
    assert "hidden" not in str(cell(session, "plt.show()")["outputs"])


@pytest.mark.parametrize(
    "value",
    [
        "object()",
        "[[1], [2, 3]] and (x for x in [1])",
        "np.zeros(5 * 10**6)",
        "'x' * 10**8",
        "10**5000",
        "[0j]",
    ],
)
def test_a_value_that_does_not_cross(session: Session, value: str) -> None:
    cell(session, f"import numpy as np\ndef f(): return {value}\ndef g(): return 1", "f")
    assert isinstance(session.call("f", "f", (), {}, 5), Opaque)
    assert session.call("f", "g", (), {}, 3) == 1


def test_long_texts_do_not_cross(session: Session) -> None:
    """As one array of texts, each would take the room of the longest."""
    cell(session, "def f(): return [['x' * 100_000]] + [['a']] * 10_000\ndef g(): return 'x' * 10_000", "f")
    assert isinstance(session.call("f", "f", (), {}, 5), Opaque)
    assert len(session.call("f", "g", (), {}, 5)) == 10_000


def test_rejects(session: Session) -> None:
    source = """
class Spoiled(int):
    def __int__(self): raise ValueError
class Own(ValueError): pass
def right(x): raise ValueError
def own(x): raise Own
def other(x): raise TypeError
def answers(x): return 0
def converts(x): return Spoiled(1)
def late(x):
    while True: pass
"""
    cell(session, source, "net")
    student = Student(_Channel(session))
    for name in ("right", "own"):
        with student.rejects(ValueError):
            getattr(student, name)(1)
    for name in ("other", "answers", "converts"):
        with pytest.raises(NotRejected), student.rejects(ValueError):
            getattr(student, name)(1)
    with pytest.raises(StudentMissing), student.rejects(ValueError):
        student.nowhere(1)


@pytest.mark.parametrize(
    "data",
    [None, 1, [], {}, {"kinds": None}, {"kinds": "ValueError"}, {"kinds": {"a": 1}}, {"kinds": np.zeros(2)}],
    ids=str,
)
def test_failures_that_are_none(data: Any) -> None:
    assert isinstance(failure(data), StudentCrashed)


def test_a_failure_names_only_what_is_known() -> None:
    """The names of a student's exceptions, and any text in their place, could carry a hidden input."""
    odd = ["n=28", np.zeros(3), "ValueError", 10**40, "print", ["KeyError"], "__doc__"]
    failed = failure({"kinds": odd, "line": 10**6})
    assert isinstance(failed, StudentRaised)
    assert failed.kinds == ("ValueError",)
    assert failed.line is None
    assert str(failure({"kinds": ["n=28"], "line": True})) == "Your code raised Exception."


def test_the_line_is_of_the_traceback_alone(session: Session) -> None:
    cell(session, "def f(n):\n    error = SyntaxError()\n    error.lineno = 7000 + n\n    raise error", "f")
    with pytest.raises(StudentRaised) as raised:
        session.call("f", "f", (28,), {}, 3)
    assert raised.value.line == 4


def test_files_and_a_fresh_folder(sandbox: Sandbox) -> None:
    first = sandbox.spawn()
    assert first.write_files({"data/table.csv": b"1,2", "big.bin": b"x" * (9 * MIB)})[0][0] == "big.bin"
    assert printed(cell(first, "print(open('data/table.csv').read())")) == "1,2\n"
    cell(first, "open('left', 'w').write('x')")
    cell(first, "open('/tmp/left', 'w').write('x')")  # refused where the interpreter itself lies in /tmp
    with pytest.raises(StudentCrashed):
        cell(first, "import os\nos._exit(1)")
    first.close()
    second = sandbox.spawn()
    reply = cell(second, "import os\nprint(os.getcwd(), os.listdir(), os.path.exists('/tmp/left'))")
    assert printed(reply) == "/notebook [] False\n"
    second.close()


def test_a_sandbox_that_is_not_started() -> None:
    with pytest.raises(SandboxError, match="not started"):
        Sandbox(Limits()).spawn()


def test_a_zygote_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.sandbox.seed._BOOT", "raise RuntimeError('broken interpreter')\n")
    with pytest.raises(SandboxError, match=r"broken interpreter.*doctor"):
        Sandbox(Limits()).start()


def test_closing_ends_every_submission(course: Any) -> None:
    with Sandbox(LIMITS, hidden=[course]) as own:
        session = own.spawn()
        cell(session, "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)")
        process = own._process
    assert process is not None
    assert process.returncode is not None
    with pytest.raises(StudentCrashed):
        cell(session, "1")
    session.close()
