"""The oracles of the initialisation exercises against printed values, torch's draws and its autograd."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import initialisation as reference

SIZES = st.integers(min_value=1, max_value=9)


@pytest.mark.parametrize(
    ("scheme", "k", "c_in", "c_out", "variance"),
    [
        ("xavier", 3, 16, 32, 0.0046296),
        ("he", 3, 16, 32, 0.0138889),
        ("torch", 3, 16, 32, 0.0023148),
        ("xavier", 1, 64, 64, 1 / 64),
        ("he", 5, 3, 6, 2 / 75),
        ("torch", 1, 784, 100, 0.0004252),
    ],
)
def test_init_variance_known(scheme: str, k: int, c_in: int, c_out: int, variance: float) -> None:
    assert reference.init_variance(scheme, k, c_in, c_out) == pytest.approx(variance, rel=1e-4)


@settings(deadline=None)
@given(SIZES, SIZES, SIZES)
def test_init_variance_as_the_fans_of_torch(k: int, c_in: int, c_out: int) -> None:
    weight = torch.empty(c_out, c_in, k, k)
    fan_in, fan_out = torch.nn.init._calculate_fan_in_and_fan_out(weight)
    bound = math.sqrt(6 / (fan_in + fan_out))
    assert reference.init_variance("xavier", k, c_in, c_out) == pytest.approx(bound**2 / 3)
    deviation = torch.nn.init.calculate_gain("relu") / math.sqrt(fan_in)
    assert reference.init_variance("he", k, c_in, c_out) == pytest.approx(deviation**2)
    gain = torch.nn.init.calculate_gain("leaky_relu", math.sqrt(5))
    assert reference.init_variance("torch", k, c_in, c_out) == pytest.approx(gain**2 / fan_in)


@pytest.mark.parametrize("scheme", ["xavier", "he", "torch"])
def test_init_variance_of_what_torch_draws(scheme: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(32, 64, 3)
    if scheme == "xavier":
        torch.nn.init.xavier_normal_(layer.weight)
    elif scheme == "he":
        torch.nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    variance = layer.weight.double().var().item()
    assert variance == pytest.approx(reference.init_variance(scheme, 3, 32, 64), rel=0.05)


@pytest.mark.parametrize("scheme", ["", "lecun", "kaiming", "He"])
def test_unknown_scheme(scheme: str) -> None:
    with pytest.raises(ValueError, match="no scheme"):
        reference.init_variance(scheme, 3, 16, 32)


@pytest.mark.parametrize(
    ("z", "product"),
    [
        ((0.0,) * 20, 0.25**20),
        ((0.0, 2.0, -1.0), 0.0051606),
        ((5.0,), 0.0066481),
        ((-3.0, -3.0), 0.0020410),
        ((), 1.0),
    ],
)
def test_sigmoid_path_gradient_known(z: tuple[float, ...], product: float) -> None:
    assert reference.sigmoid_path_gradient(z) == pytest.approx(product, rel=1e-4)


@settings(deadline=None)
@given(st.lists(st.floats(min_value=-8, max_value=8), min_size=1, max_size=20))
def test_sigmoid_path_gradient_as_autograd(z: list[float]) -> None:
    """A chain of units of weight 1, whose biases bring each pre-activation to its value."""
    first = torch.tensor(z[0], dtype=torch.float64, requires_grad=True)
    h = torch.sigmoid(first)
    for value in z[1:]:
        h = torch.sigmoid(h + (value - h.item()))
    (gradient,) = torch.autograd.grad(h, first)
    assert reference.sigmoid_path_gradient(z) == pytest.approx(gradient.item(), rel=1e-9)


@given(st.lists(st.floats(min_value=-8, max_value=8), max_size=30))
def test_a_path_never_beats_a_quarter_a_layer(z: list[float]) -> None:
    assert reference.sigmoid_path_gradient(z) <= 0.25 ** len(z) * (1 + 1e-12)
