"""What lies around a submission: sockets, other processes, the system, and what the next one inherits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.results import Outcome

from ..arena import ATTACKED, MARK, ROOT, SECRET, WRONG, Arena, outputs_of, results, shown

TOOLS = """
import ctypes, fcntl, mmap, os, resource, shutil, signal, socket, struct, subprocess, sys, sysconfig, threading, time
libc = ctypes.CDLL(None, use_errno=True)
got = []
def attempt(name, call, *args):
    try:
        value = call(*args)
    except Exception:
        return
    if value != -1:
        got.append(name)
"""

#: Each leaves in `got` what it could do and should not have.
SURROUNDINGS = {
    "sockets_of_all_families": """
for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        attempt((family, kind), socket.socket, family, kind)
""",
    "dns": """
attempt("getaddrinfo", socket.getaddrinfo, "example.org", 80)
attempt("gethostbyname", socket.gethostbyname, "example.org")
attempt("resolver", lambda: open("/etc/resolv.conf").read())
attempt("hosts", lambda: open("/etc/hosts").read())
attempt("getent", lambda: subprocess.run(["getent", "hosts", "example.org"], check=True))
""",
    "ptrace": """
for pid in {1, os.getppid(), *map(int, filter(str.isdigit, os.listdir("/proc")))}:
    attempt(("attach", pid), libc.ptrace, 16, pid, 0, 0)
    attempt(("seize", pid), libc.ptrace, 0x4206, pid, 0, 0)
    vector = (ctypes.c_size_t * 2)(0, 8)
    attempt(("read", pid), libc.process_vm_readv, pid, vector, 1, vector, 1, 0)
attempt("traceme", libc.ptrace, 0, 0, 0, 0)
""",
    "proc_of_others": """
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) != os.getpid():
        for name in ("environ", "cmdline", "maps", "mem"):
            attempt((pid, name), lambda: open(f"/proc/{pid}/{name}", "rb").read(1))
for name in ("kcore", "kmem", "kallsyms_secret", "sysrq-trigger"):
    attempt(name, lambda: open(f"/proc/{name}", "r+b").read(1))
""",
    "descriptors": """
for fd in os.listdir("/proc/self/fd"):
    try:
        target = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        continue
    if target.startswith("/") and target != "/dev/null" and not target.startswith("/proc/"):
        got.append(target)
if sum(os.readlink(f"/proc/self/fd/{fd}").startswith("socket:") for fd in os.listdir("/proc/self/fd")
       if os.path.islink(f"/proc/self/fd/{fd}")) > 1:
    got.append("more than one socket")
""",
    "inotify": """
fd = libc.inotify_init1(os.O_NONBLOCK)
for folder in ("/", "/tmp", "/proc", "/usr", "/old", sys.prefix, os.path.dirname(os.__file__)):
    libc.inotify_add_watch(fd, folder.encode(), 0xFFF)
time.sleep(.3)
data = b""
try:
    data = os.read(fd, 4096)
except OSError:
    pass
if any(word in data for word in (b"deepdrills", b"gradebook", b"submission")): got.append(data)
""",
    "chmod_utime_and_attributes": """
for path in ("/", "/usr", "/proc", sys.prefix, os.__file__, np.__file__, torch.__file__):
    attempt(("chmod", path), os.chmod, path, 0o777)
    attempt(("utime", path), os.utime, path)
    attempt(("chown", path), os.chown, path, os.getuid(), os.getgid())
    attempt(("attribute", path), os.setxattr, path, "user.x", b"1")
    attempt(("rename", path), os.rename, path, path + "x")
""",
    "devices_and_links": """
attempt("device", os.mknod, "disk", 0o60666, os.makedev(8, 0))
attempt("zero", os.mknod, "zero", 0o20666, os.makedev(1, 5))
for target in ("/etc/passwd", os.__file__):
    attempt(("link", target), os.link, target, "link" + os.path.basename(target))
""",
    "namespaces_and_mounts": """
for flag in (0x20000, 0x10000000, 0x40000000, 0x20000000, 0x2000000, 0x8000000):
    attempt(("unshare", flag), libc.unshare, flag)
attempt("mount", libc.mount, b"none", b"/tmp", b"tmpfs", 0, None)
attempt("umount", libc.umount2, b"/proc", 2)
attempt("chroot", os.chroot, "/")
for name in ("mnt", "pid", "net", "ipc", "user", "uts", "cgroup"):
    attempt(("setns", name), lambda: libc.setns(os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0))
""",
    "shared_memory": """
attempt("memfd", os.memfd_create, "x")
attempt("shared pages", mmap.mmap, -1, 1 << 20)
attempt("System V", libc.shmget, 1234, 4096, 0o1666)
attempt("queue", libc.msgget, 1234, 0o1666)
attempt("/dev/shm", lambda: open("/dev/shm/x", "w"))
""",
    "limits_and_priorities": """
for name in ("NPROC", "DATA", "FSIZE", "NOFILE", "CPU", "CORE"):
    kind = getattr(resource, "RLIMIT_" + name)
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY: got.append(name)
    attempt(name, resource.setrlimit, kind, (hard, hard + 1))
attempt("priority", os.setpriority, os.PRIO_PROCESS, 0, -20)
attempt("real time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
attempt("clock", time.clock_settime, time.CLOCK_REALTIME, 0)
""",
    "another_user": """
for user in (0, 1, 65534):
    if user != os.getuid():
        attempt(("setuid", user), os.setuid, user)
        attempt(("setresuid", user), os.setresuid, user, user, user)
attempt("groups", os.setgroups, [0])
for program in ("su", "sudo", "mount", "passwd", "newgrp", "pkexec"):
    path = shutil.which(program)
    if path: attempt(program, lambda: subprocess.run([path, "-n", "true"], check=True, stdin=subprocess.DEVNULL, timeout=2))
""",
    "terminal": """
attempt("tty", lambda: open("/dev/tty", "w").write("owned"))
attempt("console", lambda: open("/dev/console", "w").write("owned"))
for fd in range(3):
    attempt(("push", fd), fcntl.ioctl, fd, 0x5412, b"x")
""",
    "traversal": """
for path in ("../gradebook.db", "../../etc/passwd", "/proc/1/root/root", "/proc/self/cwd/../../root",
             "//root//", "/notebook/../home", "/old", "/dev/fd/9"):
    attempt(path, lambda: os.listdir(path) if os.path.isdir(path) and os.listdir(path) else open(path).read(1))
""",
}  # fmt: skip


@pytest.mark.parametrize("code", SURROUNDINGS.values(), ids=SURROUNDINGS.keys())
def test_surroundings(code: str, arena: Arena) -> None:
    graded = arena.attack(f"{TOOLS}{code}\nprint('got', got)\n{WRONG}", alone=True)
    assert '"got []\\n"' in outputs_of(graded, ATTACKED)


#: Wherever something might last until the next submission.
LASTING = [
    "/tmp", "/notebook", ".", "~", "~/.ipython/profile_default/startup", "~/.cache/matplotlib", "~/.config",
    "/dev/shm", "/var/tmp", "/run", "/usr/lib", "/", "{prefix}", "{site}", "{site}/numpy", "{stdlib}",
    "{stdlib}/__pycache__", "{torch_cache}", "{figure_cache}",
]  # fmt: skip


def test_nothing_is_left_for_a_later_submission(arena: Arena) -> None:
    """Modules, caches, start-up files and recorded inputs, in every folder that might last, and in memory."""
    code = f"""
import builtins, gc, matplotlib, os, sys, sysconfig, torch
paths = dict(prefix=sys.prefix, site=sysconfig.get_paths()["purelib"], stdlib=os.path.dirname(os.__file__),
             torch_cache=os.path.expanduser("~/.cache/torch"), figure_cache=matplotlib.get_cachedir())
names = ("{MARK}", "{MARK}.pth", "{MARK}.py", "sitecustomize.py", "__pycache__/{MARK}.pyc")
folders = [os.path.expanduser(folder.format(**paths)) for folder in {[*LASTING, str(ROOT)]!r}]
places = [os.path.join(folder, name) for folder in folders for name in names]
found = [path for path in places if os.path.exists(path)]
for path in places:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write("import os; os._exit(9)")
    except OSError:
        pass
if "{MARK}" in os.environ or hasattr(builtins, "{MARK}") or hasattr(torch, "{MARK}"):
    found.append("memory")
os.environ["{MARK}"] = os.environ["PYTHONSTARTUP"] = os.environ["LD_PRELOAD"] = "{MARK}"
builtins.{MARK} = torch.{MARK} = sys.{MARK} = True
np.random.seed(7); torch.manual_seed(7); torch.set_default_dtype(torch.float64)
print("found", [path for path in found if not path.endswith("sitecustomize.py")])
{WRONG}"""
    for _ in range(2):
        assert '"found []\\n"' in outputs_of(arena.attack(code), ATTACKED)


def test_files_that_become_links_are_not_followed(arena: Arena) -> None:
    """The files beside the notebook turn into links to the course's secret, again and again."""
    secret = arena.course / ".deepdrills" / "secret"
    code = f"""
import os, threading
def swap():
    while True:
        for name in ("data.csv", "convolution.ipynb", "timestamp.txt", "log"):
            try:
                os.path.lexists(name) and os.unlink(name)
                os.symlink({str(secret)!r}, name)
            except OSError:
                pass
threading.Thread(target=swap, daemon=True).start()
{WRONG}"""
    graded = arena.attack(code, files={"data.csv": b"1"})
    assert SECRET not in shown(graded)


WATCHED = """
import os, sys
class_name = type(get_ipython()).__name__
graded = (
    "NBGRADER_EXECUTION" in os.environ or os.getcwd() == "/notebook" or class_name != "ZMQInteractiveShell"
    or os.path.basename(sys.argv[0]) != "ipykernel_launcher.py" or os.getpid() < 5
)
def by_grader():
    frame = sys._getframe(2)
    return "cell" not in frame.f_code.co_name and frame.f_code.co_filename != __file__ if "__file__" in globals() else True
def size(n, k, padding=0, stride=1):
    if n < 1 or k < 1 or stride < 1 or padding < 0 or k > n + 2 * padding:
        raise ValueError
    return (n + 2 * padding - k) // stride + 1
"""

#: What it does when it finds that it is graded, and the points that this is honestly worth.
DETECTS = {
    "right_only_while_graded": ("output_size = size if graded else None", 2.0),
    "wrong_only_while_graded": ("output_size = (lambda *a, **k: -1) if graded else size", 0.0),
    "forges_only_while_graded": (
        "print('2.0' if graded else '')\n"
        "if graded: np.allclose = np.array_equal = lambda *a, **k: True\n"
        "class Any:\n    __eq__ = lambda *a: True\n"
        "output_size = (lambda *a, **k: Any()) if graded else size",
        0.0,
    ),
    "right_only_in_the_visible_checks": (
        "asked = []\ndef output_size(*a, **k):\n    asked.append(a)\n    return size(*a, **k) if len(asked) < 7 else -1",
        0.0,
    ),
    "attacks_only_while_graded": (
        "import os, signal\nif graded: os.kill(-1, signal.SIGKILL); os._exit(0)",
        0.0,
    ),
}


@pytest.mark.parametrize(("code", "points"), DETECTS.values(), ids=DETECTS.keys())
def test_detection_of_grading(code: str, points: float, arena: Arena) -> None:
    """A verdict is of what is computed while it is graded: it may be detected, and gains nothing."""
    arena.attack(f"{WATCHED}\n{code}\n", points=points)


#: Names and texts that look like something else, and the points that they are honestly worth.
ALPHABETS: dict[str, tuple[Callable[[str], str], float]] = {
    "name_in_cyrillic": (lambda right: right.replace("output_size", "\u043eutput_size"), 0.0),
    "name_in_wide_letters": (lambda right: right.replace("output_size", "\uff4futput_size"), 2.0),
    "name_with_a_mark_of_direction": (lambda right: right.replace("output_size", "output\u202e_size"), 0.0),
    "name_with_an_invisible_letter": (lambda right: right.replace("output_size", "output\u200b_size"), 0.0),
    "another_encoding_declared": (lambda right: f"# -*- coding: utf-7 -*-\n{right}", 2.0),
    "another_locale": (
        lambda right: (
            f"import locale, os, sys\nos.environ['LC_ALL'] = os.environ['LANG'] = 'tr_TR.UTF-8'\n"
            "try: locale.setlocale(locale.LC_ALL, '')\nexcept locale.Error: pass\n"
            f"sys.set_int_max_str_digits(0)\n{right}"
        ),
        2.0,
    ),
    "digits_of_another_script": (lambda right: "def output_size(*a, **k): return '\u0664'", 0.0),
    "null_characters": (lambda right: right + "\n# \0", 0.0),
    "line_ends_of_other_systems": (lambda right: right.replace("\n", "\u2028"), 0.0),
    "form_feed": (lambda right: right.replace("\n    if", "\n\f    if"), 2.0),
}


@pytest.mark.parametrize(("change", "points"), ALPHABETS.values(), ids=ALPHABETS.keys())
def test_alphabets_and_locales(change: Callable[[str], str], points: float, arena: Arena) -> None:
    arena.attack(change(arena.honest), points=points, alone=True)


PICKLES = {
    "reduce": f"class Evil:\n    def __reduce__(self): import os; return os.system, ('touch /tmp/{MARK}',)\nvalue = Evil()",
    "object_array": f"class Evil:\n    def __reduce__(self): import os; return os.system, ('touch /tmp/{MARK}',)\n"
    "value = np.array([Evil()], dtype=object)",
    "pickle_as_bytes": f"value = b\"cos\\nsystem\\n(S'touch /tmp/{MARK}'\\ntR.\"",
    "pickle_in_an_output": "import base64\nvalue = -1\n"
    f"data = base64.b64encode(b\"cos\\nsystem\\n(S'touch /tmp/{MARK}'\\ntR.\").decode()\n"
    "display({'application/x-python-pickle': data, 'application/octet-stream': data, 'text/plain': 'x'}, raw=True)",
    "structured_array": "value = np.zeros(2, dtype=[('a', 'O')])",
    "tensor_with_hooks": "value = torch.zeros(2, requires_grad=True)\nvalue.register_hook(lambda g: os._exit(1))",
    "module": "value = torch.nn.Linear(2, 2)",
}


@pytest.mark.parametrize("code", PICKLES.values(), ids=PICKLES.keys())
def test_nothing_is_unpickled(code: str, arena: Arena) -> None:
    graded = arena.attack(f"import os\n{code}\ndef output_size(*a, **k): return value\n", alone=True)
    assert results(graded)[ATTACKED].outcome is Outcome.FAILED
