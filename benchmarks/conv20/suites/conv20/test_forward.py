from __future__ import annotations

from functools import cache

import numpy as np
import torch
import torch.nn.functional as F

from autograder.exercises.compare import close
from autograder.sandbox.student import Student

LINES = """
import torch as _torch
answer = forward(_torch.from_numpy(x), [_torch.from_numpy(one) for one in weights]).numpy()
"""


@cache
def _case(seed: int, batch: int, side: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Inputs and the right answer: the same for everybody, so they are made once a process."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, 3, side, side), dtype=np.float32)
    weights = [
        rng.standard_normal((16, 3 if layer == 0 else 16, 3, 3), dtype=np.float32) / 8 for layer in range(20)
    ]
    right = torch.from_numpy(x)
    for one in weights:
        right = F.conv2d(right, torch.from_numpy(one), padding=1).clamp(min=0)
    return x, weights, right.numpy()


def test_batch(student: Student, rng: np.random.Generator) -> None:
    """A batch of 32 images goes through twenty convolutions, each followed by a ReLU."""
    x, weights, right = _case(int(rng.integers(2**31)), 32, 32)
    close(student.run(LINES, needs=("forward",), x=x, weights=weights), right, atol=1e-4)


def test_small(student: Student, rng: np.random.Generator) -> None:
    """Other sides and batches do as well."""
    x, weights, right = _case(int(rng.integers(2**31)), 2, 9)
    close(student.run(LINES, needs=("forward",), x=x, weights=weights), right, atol=1e-4)
