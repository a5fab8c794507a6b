from __future__ import annotations

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercises.compare import close
from autograder.sandbox.student import Student

LINES = """
import torch as _torch
answer = activation_stds(_torch.from_numpy(x), [_torch.from_numpy(one) for one in weights])
"""


@cache
def _case(seed: int, batch: int) -> tuple[np.ndarray, list[np.ndarray], list[float]]:
    """Inputs and the right answer: the same for everybody, so they are made once a process."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, 3, 32, 32), dtype=np.float32)
    weights = [
        rng.standard_normal((16, 3 if layer == 0 else 16, 3, 3), dtype=np.float32) / 8 for layer in range(20)
    ]
    hidden, stds = torch.from_numpy(x), []
    for one in weights:
        hidden = F.conv2d(hidden, torch.from_numpy(one), padding=1).clamp(min=0)
        stds.append(float(hidden.std()))
    return x, weights, stds


def test_batch(student: Student, rng: np.random.Generator) -> None:
    """One standard deviation a layer, on a batch of 32 images."""
    x, weights, right = _case(int(rng.integers(2**31)), 32)
    close(student.run(LINES, needs=("activation_stds",), x=x, weights=weights), right)


def test_small(student: Student, rng: np.random.Generator) -> None:
    """One standard deviation a layer, on a batch of four images."""
    x, weights, right = _case(int(rng.integers(2**31)), 4)
    close(student.run(LINES, needs=("activation_stds",), x=x, weights=weights), right)
