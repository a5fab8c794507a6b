"""The oracle of the frozen backbone against torch's own modules and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import transfer as reference

Array = np.ndarray[Any, np.dtype[np.float64]]

SIZES = st.integers(min_value=1, max_value=6)
SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def shapes(model: torch.nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(one.shape) for name, one in model.named_parameters()}


@given(SIZES, SIZES, SIZES, st.sampled_from(["0", "1", "3", "3.0", "3.1"]))
def test_trainable_as_torch(d: int, h: int, o: int, head: str) -> None:
    top = torch.nn.Sequential(torch.nn.Linear(h, d), torch.nn.Linear(d, o, bias=False))
    model = torch.nn.Sequential(torch.nn.Linear(d, h), torch.nn.BatchNorm1d(h), torch.nn.ReLU(), top)
    model.requires_grad_(False)
    model.get_submodule(head).requires_grad_(True)
    flags = {name: one.requires_grad for name, one in model.named_parameters()}
    assert reference.trainable(shapes(model), head) == flags
    trains = torch.nn.utils.parameters_to_vector(model.get_submodule(head).parameters())
    assert reference.trainable_count(shapes(model), head) == trains.numel()


def test_a_name_that_begins_alike_is_no_head() -> None:
    known = {"head.weight": (2, 3), "head.bias": (2,), "header.weight": (5,)}
    assert reference.trainable(known, "head") == {
        "head.weight": True,
        "head.bias": True,
        "header.weight": False,
    }
    assert reference.trainable_count(known, "head") == 8


@settings(deadline=None)
@given(SIZES, SIZES, SIZES, st.integers(1, 5), st.floats(0.0, 1.0), SEEDS)
def test_head_step_as_torch(d: int, h: int, o: int, n: int, lr: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = torch.nn.Sequential(torch.nn.Linear(d, h), torch.nn.ReLU(), torch.nn.Linear(h, o)).double()
    values: dict[str, Array] = {name: rng.normal(size=shape) for name, shape in shapes(model).items()}
    x, target = rng.normal(size=(n, d)), rng.normal(size=(n, o))
    model.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
    model[0].requires_grad_(False)
    ((model(torch.tensor(x)) - torch.tensor(target)) ** 2).sum().backward()
    torch.optim.SGD(model.parameters(), lr=lr).step()
    got = reference.head_step(values, x, target, lr)
    for name, value in model.state_dict().items():
        assert np.allclose(got[name], value.numpy(), atol=1e-10), name
    assert np.array_equal(got["0.weight"], values["0.weight"])
