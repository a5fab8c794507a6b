"""What weights prove: accuracies computed from them alone, and the way that a training takes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.reference.depth import Array, ConvStack, State, measure_state
from autograder.reference.depth_training import course, same_way, shapes, share_right, state_of


def images(rng: np.random.Generator, labels: Array) -> Array:
    colours = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]) * 2 - 1
    noise = rng.normal(0, 0.6, (len(labels), 3, 8, 8))
    found: Array = (colours[labels][:, :, None, None] + noise).astype(np.float32)
    return found


def start(depth: int = 2) -> State:
    torch.manual_seed(0)
    return state_of(ConvStack(depth=depth))


@pytest.mark.parametrize("mode", ConvStack.MODES)
def test_the_accuracy_is_that_of_the_functional_oracle(mode: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 60)
    x = images(rng, y)
    (state,) = course(start(), mode, 4, x, y)
    scores = measure_state(state, [mode] * 2, x, y, stride=4, training=False).logits
    assert share_right(state, mode, 4, x, y) == pytest.approx(np.mean(scores.argmax(axis=1) == y))


def test_two_epochs_learn() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 120)
    x = images(rng, y)
    before = start()
    after = course(before, "prenorm", 4, x, y, epochs=2)[-1]
    assert share_right(before, "prenorm", 4, x, y) < 0.5
    assert share_right(after, "prenorm", 4, x, y) > 0.7


def test_another_order_leads_the_same_way_and_other_labels_do_not() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 120)
    x = images(rng, y)
    before = start()
    ours = course(before, "prenorm", 4, x, y, epochs=3)[-1]
    cosine, lengths = same_way(before, course(before, "prenorm", 4, x, y, epochs=3, seed=7)[-1], ours)
    assert cosine > 0.8
    assert 0.8 < lengths < 1.25
    cosine, _ = same_way(before, course(before, "prenorm", 4, x, rng.permutation(y), epochs=3)[-1], ours)
    assert cosine < 0.5
    assert same_way(before, before, ours) == (0.0, 0.0)


def test_the_shapes_are_those_of_the_stack() -> None:
    assert shapes(3) == {name: value.shape for name, value in start(3).items()}
