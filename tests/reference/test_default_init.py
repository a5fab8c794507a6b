"""Torch's default weights: its own draws are known as such, chosen ones are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from autograder.reference.default_init import Array, default_law, drawn_under
from autograder.reference.depth import ConvStack
from autograder.reference.depth_training import state_of

State = dict[str, Array]


def drawn(seed: int, depth: int = 20) -> State:
    torch.manual_seed(seed)
    return state_of(ConvStack(depth=depth))


def _scaled(state: State) -> None:
    state["convs.3.weight"] *= np.float32(6**0.5)


def _sorted(state: State) -> None:
    state["convs.3.weight"] = np.sort(state["convs.3.weight"].ravel()).reshape(16, 16, 3, 3)


def _copied(state: State) -> None:
    state["convs.3.weight"] = state["convs.2.weight"].copy()


def _shrunk(state: State) -> None:
    state["convs.3.weight"] *= np.float32(0.5)


def _zero_biases(state: State) -> None:
    state["convs.3.bias"][:] = 0


def _scale_of_a_norm(state: State) -> None:
    state["norms.3.weight"] *= np.float32(3)


def test_torchs_draws_follow_their_law() -> None:
    assert all(default_law(drawn(seed, depth)) for seed in range(20) for depth in (1, 20))


@pytest.mark.parametrize("change", [_scaled, _shrunk, _scale_of_a_norm])
def test_other_weights_do_not(change: Callable[[State], None]) -> None:
    state = drawn(0)
    change(state)
    assert not default_law(state)


def test_the_stream_of_a_seed_is_known_and_no_other() -> None:
    assert drawn_under(drawn(0), 0)
    assert drawn_under(drawn(5), 5)
    assert not drawn_under(drawn(5), 0)


def test_layers_may_be_drawn_in_any_order_and_precision() -> None:
    torch.manual_seed(0)
    head, conv, stem = torch.nn.Linear(16, 5), torch.nn.Conv2d(16, 16, 3), torch.nn.Conv2d(3, 16, 3)
    layers = {"head": head, "convs.0": conv.double(), "stem": stem}
    state = {
        f"{owner}.{name}": value.detach().numpy()
        for owner, layer in layers.items()
        for name, value in layer.named_parameters()
    }
    assert drawn_under(state, 0)


@pytest.mark.parametrize("change", [_scaled, _sorted, _copied, _shrunk, _zero_biases])
def test_chosen_weights_are_no_draws(change: Callable[[State], None]) -> None:
    state = drawn(0)
    change(state)
    assert not drawn_under(state, 0)
