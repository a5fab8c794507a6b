"""Checks of `ResidualConvBlock(channels)`: weights by value, then its own initialisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, entries
from autograder.reference.depth import residual_block
from autograder.sandbox.student import Student

Array = np.ndarray[Any, Any]

FORWARD = """
import torch as _torch
_block = ResidualConvBlock(channels)
with _torch.no_grad():
    for _layer, _weight, _bias in ((_block.conv1, w1, b1), (_block.conv2, w2, b2)):
        _layer.weight.copy_(_torch.from_numpy(_weight))
        _layer.bias.copy_(_torch.from_numpy(_bias))
_x = _torch.from_numpy(x).to(_block.conv1.weight.dtype)
answer = _block(_x)
"""

INITIAL = """
import torch as _torch
_torch.manual_seed(seed)
_block = ResidualConvBlock(channels)
answer = {
    f"{name}.{what}": value
    for name, layer in (("conv1", _block.conv1), ("conv2", _block.conv2))
    for what, value in (
        ("bias", layer.bias.abs().sum()),
        ("mean", layer.weight.double().mean()),
        ("square", (layer.weight.double() ** 2).mean()),
    )
}
"""


def _weights(rng: np.random.Generator, channels: int) -> dict[str, Array]:
    def draw(*shape: int) -> Array:
        return (rng.standard_normal(shape) * 0.4).astype(np.float32)

    square = (channels, channels, 3, 3)
    return {"w1": draw(*square), "b1": draw(channels), "w2": draw(*square), "b2": draw(channels)}


def _ask(student: Student, x: Array, weights: dict[str, Array]) -> None:
    answer = student.run(FORWARD, needs=("ResidualConvBlock",), x=x, channels=x.shape[1], **weights)
    right = residual_block(x, (weights["w1"], weights["w2"]), (weights["b1"], weights["b2"]))
    close(answer, right, atol=1e-5)


@pytest.mark.weight(2)
def test_formula(student: Student, rng: np.random.Generator) -> None:
    """The input plus what the two convolutions make of it, for entries of both signs."""
    for channels, height, width in ((3, 5, 6), (4, 7, 4)):
        x = rng.standard_normal((2, channels, height, width)).astype(np.float32)
        _ask(student, x, _weights(rng, channels))


def test_identity(student: Student, rng: np.random.Generator) -> None:
    """With a second convolution of zeros the block gives its input back, and otherwise it does not."""
    for channels in (2, 5):
        x = rng.standard_normal((3, channels, 4, 5)).astype(np.float32)
        weights = _weights(rng, channels)
        _ask(student, x, weights)
        _ask(student, x, weights | {"w2": np.zeros_like(weights["w2"]), "b2": np.zeros_like(weights["b2"])})


def test_initialisation(student: Student, rng: np.random.Generator) -> None:
    """He weights from the fan-in, biases at zero, in both convolutions, for any number of channels."""
    for channels in (24, 40):
        answer = student.run(
            INITIAL, needs=("ResidualConvBlock",), channels=channels, seed=int(rng.integers(1 << 30))
        )
        keys = [f"{name}.{what}" for name in ("conv1", "conv2") for what in ("bias", "mean", "square")]
        parts = entries(answer, keys)
        variance = 2 / (9 * channels)
        for name in ("conv1", "conv2"):
            close(parts[f"{name}.bias"], 0.0, atol=1e-12)
            # The mean of 9 channels^2 >= 5184 draws strays by at most 5 deviations, their square by 10 %.
            close(parts[f"{name}.mean"], 0.0, atol=5 * np.sqrt(variance) / (3 * channels))
            close(parts[f"{name}.square"], variance, rtol=0.1)
