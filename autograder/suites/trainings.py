"""Small budgets for `train`: coloured noise that a shallow stack learns in a few steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.exercises.compare import Stage, WrongAnswer, close, items
from autograder.reference.depth import Array
from autograder.sandbox.student import Student

#: Two calls with random numbers drawn in between: a seed that is set inside is not disturbed.
TRAIN = """
import numpy as _np
import torch as _torch
_sets = [_torch.from_numpy(one) for one in (x, y, x_test, y_test)]
_torch.rand(draws), _np.random.rand(draws)
answer = train(mode, seed, depth=depth, epochs=epochs, data=tuple(_sets))
"""
COLOURS = 2.0 * np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]) - 1.0


def coloured(rng: np.random.Generator, labels: Array) -> Array:
    """Images (n, 3, 8, 8) whose mean colour tells the class."""
    noise = 0.6 * rng.standard_normal((len(labels), 3, 8, 8))
    return (COLOURS[labels][:, :, None, None] + noise).astype(np.float32)


def easy_sets(rng: np.random.Generator, test_labels: Array) -> dict[str, Array]:
    """A training set of 120 images a class, and a test set with these labels."""
    y = np.repeat(np.arange(5), 120)
    rng.shuffle(y)
    return {"x": coloured(rng, y), "y": y, "x_test": coloured(rng, test_labels), "y_test": test_labels}


def train(
    student: Student,
    sets: dict[str, Array],
    mode: str,
    depth: int,
    seed: int = 0,
    epochs: int = 4,
    draws: int = 1,
) -> list[float]:
    """The accuracies of the student's `train`: `epochs` numbers in [0, 1]. Raises `WrongAnswer`."""
    inputs: dict[str, Any] = {
        **sets,
        "mode": mode,
        "depth": depth,
        "seed": seed,
        "epochs": epochs,
        "draws": draws,
    }
    answer = student.rerun(TRAIN, needs=("train",), **inputs)
    return accuracies(answer, epochs, len(sets["y_test"]))


def accuracies(answer: object, epochs: int, images: int | None = None) -> list[float]:
    """Plain numbers in [0, 1], one an epoch; shares of `images` where given. Raises `WrongAnswer`."""
    values = items(answer, epochs)
    for value in values:
        close(value, 0.5, rtol=0, atol=0.5 + 1e-9)
    numbers = [float(np.asarray(value).reshape(())) for value in values]
    if images is not None:
        for number in numbers:
            close(number, round(number * images) / images, rtol=0, atol=1e-5)
    return numbers


def learnt(values: list[float]) -> None:
    """The last accuracy is high: the easy set was learnt. Raises `WrongAnswer`."""
    if values[-1] < 0.7:
        raise WrongAnswer(Stage.VALUE, "A stack that should have learnt an easy set did not.")


def stuck(values: list[float], shares: Array) -> None:
    """Every accuracy is one class's share of the test set: a constant prediction. Raises `WrongAnswer`."""
    for value in values:
        if min(abs(value - share) for share in shares) > 1e-5:
            raise WrongAnswer(Stage.VALUE, "A plain stack of this depth learnt, which it can not do.")
