"""The oracle of the pre-norm attention block against torch's own layers, gradients included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference import prenorm_block as reference

Array = np.ndarray[Any, np.dtype[np.float64]]


class Block(torch.nn.Module):
    """torch's own layers, in float64."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(d, dtype=torch.float64)
        self.attention = torch.nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        z = self.norm(h)
        out: torch.Tensor = self.attention(z, z, z, need_weights=False)[0]
        return h + out


def drawn(seed: int, d: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(scale=0.7, size=shape) for name, shape in reference.shapes(d).items()}


@pytest.mark.parametrize(("d", "heads"), [(6, 1), (6, 3), (8, 2)])
def test_names_and_shapes_are_torchs(d: int, heads: int) -> None:
    own = {name: tuple(one.shape) for name, one in Block(d, heads).named_parameters()}
    assert reference.shapes(d) == own


@settings(max_examples=15, deadline=None)
@given(
    st.integers(min_value=1, max_value=3),
    st.integers(min_value=1, max_value=4),
    st.integers(min_value=2, max_value=3),
    st.integers(min_value=1, max_value=3),
    st.integers(min_value=0, max_value=2**32 - 1),
)
def test_output_and_gradients_as_torch(batch: int, length: int, width: int, heads: int, seed: int) -> None:
    d = width * heads
    state = drawn(seed, d)
    rng = np.random.default_rng(seed + 1)
    h, cotangent = rng.normal(size=(2, batch, length, d))
    block = Block(d, heads)
    block.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    x = torch.tensor(h, requires_grad=True)
    out = block(x)
    names, leaves = zip(*block.named_parameters(), strict=True)
    gradients = torch.autograd.grad((out * torch.tensor(cotangent)).sum(), [x, *leaves])
    run = reference.run_block(state, heads, h, cotangent)
    assert np.allclose(run.output, out.detach().numpy(), rtol=1e-8, atol=1e-9)
    assert np.allclose(run.input_gradient, gradients[0].numpy(), rtol=1e-7, atol=1e-8)
    for name, gradient in zip(names, gradients[1:], strict=True):
        assert np.allclose(run.gradients[name], gradient.numpy(), rtol=1e-7, atol=1e-8)


def test_without_an_output_map_the_block_is_the_identity() -> None:
    state = drawn(3, 4)
    state["attention.out_proj.weight"][:] = 0
    state["attention.out_proj.bias"][:] = 0
    h = np.random.default_rng(4).normal(size=(2, 3, 4))
    run = reference.run_block(state, 2, h, np.ones_like(h))
    assert np.array_equal(run.output, h)
    assert np.array_equal(run.input_gradient, np.ones_like(h))
