"""How much memory submissions hold: shared pages once each time they are mapped, or divided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MIB = 1 << 20
#: 100 MiB, shared with a child by a fork; the child has 50 more of its own.
FORKED = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from autograder.sandbox import memory
from autograder.sandbox.memory import held_memory, resident_memory
shared = b"x" * (100 << 20)
ready, go = os.pipe()
child = os.fork()
if child == 0:
    own = b"y" * (50 << 20)
    os.write(go, b"1")
    time.sleep(60)
    os._exit(0)
os.read(ready, 1)
print(resident_memory(child), held_memory(child))
ended = os.fork()
if ended == 0:
    os._exit(0)
os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)  # it stays to be reaped
memory._submissions = lambda only: [str(child), str(ended)]
print(held_memory(None))
os.kill(child, 9)
os.waitpid(child, 0)
print(held_memory(None))
"""


def test_pages_that_a_fork_shares_are_divided() -> None:
    command = [sys.executable, "-c", FORKED, str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    resident, held, beside_a_zombie, none = (int(word) for word in done.stdout.split())
    assert resident > 150 * MIB, "every page that is mapped"
    assert 95 * MIB < held < resident - 40 * MIB, "its own ones, and half of the shared ones"
    assert abs(beside_a_zombie - held) < MIB, "one that waits to be reaped does not void the measure"
    assert none == 0
