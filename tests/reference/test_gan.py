"""The oracles of the game on a finite space against search, divergences and printed values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import gan as reference

Array = np.ndarray[Any, np.dtype[np.float64]]


@st.composite
def laws(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Two laws on the same points, none of which has the probability zero under both."""
    weights = st.integers(min_value=0, max_value=9)
    pairs = draw(st.lists(st.tuples(weights, weights).filter(any), min_size=1, max_size=6))
    sums = [sum(pair[side] for pair in pairs) for side in (0, 1)]
    if not all(sums):
        pairs.append((1, 1))
        sums = [one + 1 for one in sums]
    return [pair[0] / sums[0] for pair in pairs], [pair[1] / sums[1] for pair in pairs]


def value_of(d: Array, p_data: list[float], p_g: list[float]) -> float:
    """The value of the game for any discriminator d (N,)."""
    with np.errstate(divide="ignore"):
        real = sum(p * math.log(v) if p else 0.0 for p, v in zip(p_data, d, strict=True))
        made = sum(p * math.log(1 - v) if p else 0.0 for p, v in zip(p_g, d, strict=True))
    return real + made


@pytest.mark.parametrize(
    ("p_data", "p_g", "best", "value"),
    [
        ([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], -1.386294),
        ([0.9, 0.1], [0.5, 0.5], [0.6429, 0.1667], -1.1828),
        ([0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.2857, 0.5, 0.7143], -1.2535),
        ([1.0, 0.0], [0.5, 0.5], [0.6667, 0.0], -0.954771),
        ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0], 0.0),
    ],
)
def test_known(p_data: list[float], p_g: list[float], best: list[float], value: float) -> None:
    assert reference.optimal_discriminator(p_data, p_g) == pytest.approx(best, abs=5e-5)
    assert reference.gan_value(p_data, p_g) == pytest.approx(value, abs=5e-5)


@given(laws())
def test_no_discriminator_on_a_grid_does_better(pair: tuple[list[float], list[float]]) -> None:
    p_data, p_g = pair
    grid = np.linspace(0.0005, 0.9995, 1000)
    best = reference.optimal_discriminator(p_data, p_g)
    for data, generated, answer in zip(p_data, p_g, best, strict=True):
        game = data * np.log(grid) + generated * np.log(1 - grid)
        assert answer == pytest.approx(grid[np.argmax(game)], abs=1.5e-3)


@given(laws(), st.integers(0, 2**32 - 1))
def test_value_is_that_of_the_best_discriminator(pair: tuple[list[float], list[float]], seed: int) -> None:
    p_data, p_g = pair
    value = reference.gan_value(p_data, p_g)
    assert value == pytest.approx(value_of(np.array(reference.optimal_discriminator(*pair)), *pair), abs=1e-9)
    for _ in range(10):
        other = np.random.default_rng(seed).uniform(0.01, 0.99, size=len(p_data))
        assert value_of(other, p_data, p_g) <= value + 1e-9


@given(laws())
def test_value_is_twice_the_divergence_less_log_4(pair: tuple[list[float], list[float]]) -> None:
    real, made = (torch.tensor(law, dtype=torch.float64) for law in pair)
    mean = (real + made) / 2
    divergence = sum(
        torch.nn.functional.kl_div(mean.log(), law, reduction="sum").item() for law in (real, made)
    )
    assert reference.gan_value(*pair) == pytest.approx(divergence - math.log(4), abs=1e-9)
    assert -math.log(4) - 1e-9 <= reference.gan_value(*pair) <= 1e-9


@given(laws())
def test_equal_laws(pair: tuple[list[float], list[float]]) -> None:
    law = [p for p in pair[0] if p > 0]
    assert reference.optimal_discriminator(law, law) == pytest.approx([0.5] * len(law))
    assert reference.gan_value(law, law) == pytest.approx(-math.log(4))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_trained_discriminator_comes_to_the_same(seed: int) -> None:
    """Gradient ascent on the logits of a discriminator, with torch's own log-sigmoid."""
    rng = np.random.default_rng(seed)
    p_data, p_g = (law / law.sum() for law in rng.uniform(0.2, 1.0, size=(2, 4)))
    logits = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=100, tolerance_grad=1e-10, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        log_sigmoid = torch.nn.functional.logsigmoid
        game = torch.tensor(p_data) @ log_sigmoid(logits) + torch.tensor(p_g) @ log_sigmoid(-logits)
        (logits.grad,) = torch.autograd.grad(-game, logits)
        return -game

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    assert torch.sigmoid(logits).tolist() == pytest.approx(
        reference.optimal_discriminator(list(p_data), list(p_g)), abs=1e-4
    )
    assert -loss().item() == pytest.approx(reference.gan_value(list(p_data), list(p_g)), abs=1e-6)
