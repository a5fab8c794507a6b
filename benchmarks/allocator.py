"""What the sandbox's allocator settings save: the convolutions of conv20 in a fork, without and with them.

python -m benchmarks.allocator
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from statistics import median

from autograder.sandbox.seed import environment
from benchmarks.measure import machine, say

_CHILD = """
import gc, json, os, torch
import torch.nn.functional as F
torch.set_num_threads(1)
images = torch.randn(32, 3, 32, 32)
weights = [torch.randn(16, 3 if layer == 0 else 16, 3, 3) / 8 for layer in range(20)]
gc.freeze()
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        for _ in range(4):
            x = images
            for weight in weights:
                x = F.relu(F.conv2d(x, weight, padding=1))
                x.std()
        os._exit(0)
    used = os.wait4(pid, 0)[2]
    print(used.ru_utime + used.ru_stime, used.ru_minflt)
"""


def measure(settings: str) -> tuple[float, float]:
    """CPU seconds and page faults of one fork, the median of ten."""
    names = {**os.environ, "OMP_NUM_THREADS": "1", "GLIBC_TUNABLES": settings}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], env=names, capture_output=True, text=True, check=True
    )
    rows = [[float(one) for one in line.split()] for line in done.stdout.splitlines()]
    return median(row[0] for row in rows), median(row[1] for row in rows)


def main() -> None:
    say(f"{machine()}, pages of {resource.getpagesize()} bytes")
    for number in range(3):
        plain, ours = measure(""), measure(environment()["GLIBC_TUNABLES"])
        say(
            f"round {number + 1}: {plain[0]:.2f} s, {plain[1]:.0f} page faults as it comes; "
            f"{ours[0]:.2f} s, {ours[1]:.0f} with the sandbox's settings: {ours[0] / plain[0]:.2f}"
        )


if __name__ == "__main__":
    main()
