"""Checks of the class `PreNormAttentionBlock(d, heads)`, with parameters given by the course."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, entries, exact
from autograder.reference.prenorm_block import BlockRun, run_block, shapes
from autograder.sandbox.student import Student

Array = np.ndarray[Any, np.dtype[np.float64]]

#: The fixed probes: the same for every course.
FIXED = 60

#: float32: sums of some tens of terms of order one.
ATOL = 1e-4

BLOCK = """
import torch

block = PreNormAttentionBlock(d, heads)
own = dict(block.named_parameters())
given = {name: torch.tensor(value, dtype=torch.float32) for name, value in state.items()}
block.load_state_dict(given, strict=False)
torch.manual_seed(seed)
h = torch.tensor(words, dtype=torch.float32, requires_grad=True)
output = block(h)
if isinstance(output, torch.Tensor) and output.shape == h.shape:
    (output * torch.tensor(cotangent, dtype=torch.float32)).sum().backward()
answer = {
    "output": output,
    "input_gradient": h.grad,
    "words": h.detach().clone(),
    "shapes": {name: list(one.shape) for name, one in own.items()},
    "gradients": {name: one.grad for name, one in own.items()},
}
"""


class _Probe:
    """A block with random parameters on random words; all sizes differ."""

    def __init__(self, rng: np.random.Generator, d: int, heads: int, batch: int, length: int) -> None:
        self.d, self.heads = d, heads
        self.state = {name: rng.normal(scale=0.6, size=shape) for name, shape in shapes(d).items()}
        self.words = rng.normal(loc=0.5, size=(batch, length, d))
        self.cotangent = rng.normal(size=(batch, length, d))

    def ask(self, student: Student) -> dict[str, Any]:
        answer = student.run(
            BLOCK,
            needs=("PreNormAttentionBlock",),
            d=self.d,
            heads=self.heads,
            state=self.state,
            words=self.words,
            cotangent=self.cotangent,
            seed=FIXED,
        )
        return entries(answer, ["output", "input_gradient", "words", "shapes", "gradients"])

    def right(self) -> BlockRun:
        return run_block(self.state, self.heads, self.words, self.cotangent)


def _outputs(student: Student, probes: list[_Probe]) -> None:
    answers = [probe.ask(student) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        close(answer["output"], probe.right().output, atol=ATOL)
        close(answer["words"], probe.words, atol=ATOL)


def test_one_head(student: Student, rng: np.random.Generator) -> None:
    """The output of a block with one head, on a batch of sequences which stays as it was."""
    _outputs(student, [_Probe(np.random.default_rng(FIXED), 4, 1, 2, 3), _Probe(rng, 6, 1, 3, 5)])


@pytest.mark.weight(2)
def test_several_heads(student: Student, rng: np.random.Generator) -> None:
    """The output of a block with several heads, on a batch of sequences."""
    _outputs(student, [_Probe(np.random.default_rng(FIXED + 1), 8, 2, 3, 5), _Probe(rng, 9, 3, 2, 4)])


def test_parameters(student: Student, rng: np.random.Generator) -> None:
    """The parameters are those of the attributes norm and attention, and no others; so is the output."""
    probes = [_Probe(np.random.default_rng(FIXED + 2), 6, 3, 2, 5), _Probe(rng, 10, 2, 3, 4)]
    answers = [probe.ask(student) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        right = shapes(probe.d)
        got = entries(answer["shapes"], list(right))
        for name, shape in right.items():
            close(got[name], shape)
        exact(len(answer["shapes"]), len(right))
        close(answer["output"], probe.right().output, atol=ATOL)


def test_gradients(student: Student, rng: np.random.Generator) -> None:
    """The gradients of every parameter and of the words, through the branch and through the skip."""
    probes = [_Probe(np.random.default_rng(FIXED + 3), 6, 2, 2, 3), _Probe(rng, 8, 4, 3, 5)]
    answers = [probe.ask(student) for probe in probes]
    for answer, probe in zip(answers, probes, strict=True):
        right = probe.right()
        close(answer["input_gradient"], right.input_gradient, atol=ATOL)
        got = entries(answer["gradients"], list(right.gradients))
        for name, gradient in right.gradients.items():
            close(got[name], gradient, atol=ATOL)
