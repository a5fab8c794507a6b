"""What running code can not see, reach or leave behind."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.process import Sandbox
from autograder.sandbox.session import Session
from autograder.sandbox.student import StudentCrashed, StudentFailure, StudentOutOfMemory

from .conftest import LIMITS, ROOT, SECRET
from .descendants import only_the_zygote

Answer = Callable[[str], Any]


def test_modules_of_the_child(answer: Answer) -> None:
    """A fork can read whatever its parent imported."""
    code = """
import sys
modules = dict(sys.modules)
answer = [sorted(modules), [str(getattr(module, "__file__", "")) for module in modules.values()]]
"""
    names, files = answer(code)
    assert not [
        name for name in names if name.split(".")[0] in ("autograder", "nbgrader", "pytest", "_pytest")
    ]
    assert not [file for file in files if file.startswith(str(ROOT / "autograder"))]


def test_nothing_of_a_verdict_is_in_memory(answer: Answer) -> None:
    code = """
import gc
words = ("autograder.suites", "autograder.exercises", "autograder.reference", "autograder.grading")
answer = sorted({
    str(getattr(one, "__module__", ""))
    for one in gc.get_objects()
    if str(getattr(one, "__module__", "")).startswith(words)
})
answer = [name for name in answer if name]
"""
    assert answer(code) == []


@pytest.mark.parametrize("module", ["autograder", "autograder.sandbox.protocol", "autograder.suites"])
def test_no_import_of_the_grader(module: str, session: Session) -> None:
    reply = session.run_cell(f"import {module}", 10)
    assert reply["failure"]["kinds"][0] == "ModuleNotFoundError"


HIDDEN_FILES = [
    ROOT / "autograder" / "__init__.py",
    ROOT / "autograder" / "exercises" / "compare.py",
    ROOT / "nbgrader_config.py",
    ROOT / "source",
    ROOT / "solutions",
    ROOT / "tests",
    ROOT / "gradebook.db",
    ROOT,
    Path("/etc/passwd"),
    Path("/etc/hostname"),
    Path("/root"),
    Path("/home"),
    Path("/var"),
    Path("/dev/shm"),
    Path("/proc/1/root/etc/passwd"),
    Path("/sys/kernel"),
    # What the whole machine does, told to every namespace:
    *map(Path, ("/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/loadavg", "/proc/uptime")),
    Path("/sys/devices/system/node"),
]


@pytest.mark.parametrize("path", HIDDEN_FILES, ids=str)
def test_hidden_files(path: Path, answer: Answer) -> None:
    code = f"""
import os
answer = 0
for action in (os.listdir, lambda p: open(p, "rb").read(1), lambda p: open(p, "ab"), os.mkdir):
    try:
        action({str(path)!r})
        answer += 1
    except OSError:
        pass
"""
    assert answer(code) == 0


def test_hidden_course(course: Path, answer: Answer) -> None:
    """The gradebook, the secret, sources, solutions and every submission, by name and by search."""
    names = [str(path) for path in course.rglob("*") if path.is_file()]
    assert len(names) == 6
    code = f"""
import os
answer = []
for name in {names!r}:
    for form in (name, "/proc/self/root" + name, "/proc/self/cwd/.." + name, "/old" + name):
        try:
            answer.append(open(form).read())
        except OSError:
            pass
for folder, _, files in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/usr", "/lib")):
        continue
    answer += [os.path.join(folder, n) for n in files if n in ("gradebook.db", "secret", "a.ipynb")]
"""
    assert answer(code) == []


def test_descriptors(answer: Answer) -> None:
    """Nothing but /dev/null and the submission's own socket."""
    code = """
import os
answer = []
for fd in range(1024):
    try:
        answer.append(os.readlink(f"/proc/self/fd/{fd}"))
    except OSError:
        pass
"""
    found = answer(code)
    assert sorted(name.split(":")[0] for name in found) == ["/dev/null"] * 4 + ["socket"]


def test_no_network(answer: Answer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        code = f"""
import ctypes, os, socket, subprocess, urllib.request
def fails(action):
    try:
        action()
    except OSError:
        return True
    return False
libc = ctypes.CDLL(None, use_errno=True)
answer = [
    fails(lambda: socket.create_connection(("127.0.0.1", {port}), 1)),
    fails(lambda: socket.socket(socket.AF_INET6)),
    fails(lambda: socket.socket(socket.AF_UNIX)),
    fails(lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)),
    fails(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
    fails(lambda: socket.socket(socket.AF_VSOCK)),
    fails(lambda: urllib.request.urlopen("http://127.0.0.1:{port}/", timeout=1)),
    libc.socket(2, 1, 0) == -1,
    subprocess.run(["bash", "-c", "echo x > /dev/tcp/127.0.0.1/{port}"], capture_output=True).returncode != 0,
    len(open("/proc/self/net/dev").read().splitlines()) == 3,
]
"""
        assert answer(code) == [True] * 10
        with pytest.raises(TimeoutError):
            server.accept()


def test_no_process_of_the_machine(answer: Answer) -> None:
    code = """
import os
answer = [sorted(int(p) for p in os.listdir("/proc") if p.isdigit()), os.getpid(), os.getppid()]
"""
    assert answer(code) == [[1], 1, 0]


def test_no_signal_reaches_the_machine(answer: Answer, sandbox: Sandbox) -> None:
    assert sandbox._process is not None
    pids = [os.getpid(), os.getppid(), sandbox._process.pid]
    code = f"""
import os
answer = 0
for pid in {pids!r}:
    for action in (lambda: os.kill(pid, 0), lambda: os.pidfd_open(pid), lambda: os.setpriority(0, pid, 5)):
        try:
            action()
            answer += 1
        except OSError:
            pass
"""
    assert answer(code) == 0


def test_no_tracing(answer: Answer) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if not child:
    import time
    time.sleep(30)
    os._exit(0)
buffer = ctypes.create_string_buffer(8)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
part = Part(ctypes.addressof(buffer), 8)
def opened():
    try:
        open(f"/proc/{child}/mem", "rb").close()
        return True
    except OSError:
        return False
answer = [
    libc.ptrace(16, child, None, None),
    libc.process_vm_readv(child, ctypes.byref(part), 1, ctypes.byref(part), 1, 0),
    opened(),
]
os.kill(child, 9)
os.waitpid(child, 0)
"""
    assert answer(code) == [-1, -1, False]


@pytest.mark.parametrize(
    "call",
    [
        "unshare(0x10000000)",
        "unshare(0x20000)",
        "mount(b'x', b'/tmp', b'tmpfs', 0, None)",
        "chroot(b'/tmp')",
        "setuid(0)",
        "sethostname(b'x', 1)",
    ],
)
def test_no_privileged_call(call: str, answer: Answer) -> None:
    assert answer(f"import ctypes\nanswer = ctypes.CDLL(None).{call}") == -1


def test_environment(answer: Answer) -> None:
    code = """
import os
answer = [dict(os.environ)]
for name in ("environ", "cmdline"):
    try:
        answer.append(open(f"/proc/self/{name}").read())
    except OSError:
        pass
"""
    value = answer(code)
    assert SECRET not in str(value)
    assert not [name for name in value[0] if name.startswith(("DEEPDRILLS", "SOME_", "PYTEST", "SSH", "GIT"))]
    assert value[0]["HOME"] == "/notebook"


BACKGROUND = {
    "new_session": "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)",
    "double_fork": """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(600)
    os._exit(0)
""",
    "signals_ignored": """
import os, signal, time
if not os.fork():
    os.setsid()
    for one in set(signal.Signals) - {9, 19}: signal.signal(one, signal.SIG_IGN)
    while True: time.sleep(1)
""",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()",
    "shell": "get_ipython().system('nohup setsid sleep 600 >/dev/null 2>&1 &')",
}


@pytest.mark.parametrize("code", BACKGROUND.values(), ids=BACKGROUND.keys())
@pytest.mark.parametrize("crash", [False, True], ids=["closed", "crashed"])
def test_nothing_outlives_a_submission(code: str, crash: bool, sandbox: Sandbox) -> None:
    session = sandbox.spawn()
    session.run_cell(code, 10)
    if crash:
        with pytest.raises(StudentCrashed):
            session.run_cell("import os\nos._exit(1)", 10)
    session.close()
    assert only_the_zygote(sandbox)


def test_fork_bomb(session: Session, sandbox: Sandbox) -> None:
    code = """
import os, time
answer = 1
try:
    while True:
        if not os.fork():
            time.sleep(600)
        answer += 1
except OSError:
    pass
"""
    try:
        session.run_cell(code, 10, "bomb")
        assert 2 <= session.value("bomb", "answer", 5) <= LIMITS.processes
    except StudentOutOfMemory:
        pass  # what the forks share counts once for each of them
    session.close()
    assert only_the_zygote(sandbox)


def test_exponential_fork_bomb(sandbox: Sandbox) -> None:
    session = sandbox.spawn()
    try:
        session.run_cell(
            "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass", 1
        )
    except StudentFailure:
        pass
    session.close()
    assert only_the_zygote(sandbox)


def test_disk_filling(answer: Answer) -> None:
    code = """
import os
answer = [0, 0, 0]
for folder in ("/notebook", "/tmp"):
    number = 0
    while number < 100:
        number += 1
        try:
            with open(f"{folder}/fill{number}", "wb", buffering=0) as file:
                while True:
                    answer[0] += file.write(b"x" * (1 << 20))
        except OSError as error:
            if error.errno == 28:
                break
            answer[1] += 1
for number in range(100_000):
    try:
        os.mknod(f"/notebook/empty{number}")
    except OSError:
        break
answer[2] = number
"""
    written, too_large, files = answer(code)
    assert written <= LIMITS.folder_size * 1.25
    assert too_large > 0
    assert files < 30_000


def test_no_writing_elsewhere(answer: Answer) -> None:
    code = """
import os, sys, numpy, torch
answer = []
places = ["/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", os.path.dirname(numpy.__file__), sys.base_prefix]
for folder in places:
    try:
        open(os.path.join(folder, "escape"), "w")
        answer.append(folder)
    except OSError:
        pass
for action in (
    lambda: os.chmod(numpy.__file__, 0o777),
    lambda: os.utime(numpy.__file__),
    lambda: os.setxattr(numpy.__file__, "user.x", b"x"),
    lambda: os.link(numpy.__file__, "/notebook/link"),
    lambda: os.mknod("/notebook/device", 0o60666, os.makedev(8, 0)),
):
    try:
        action()
        answer.append("changed")
    except OSError:
        pass
"""
    assert answer(code) == []
