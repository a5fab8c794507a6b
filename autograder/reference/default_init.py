"""Torch's default weights of a stack, as a law and as a stream: did nobody choose these numbers?

By default a convolution or a linear layer of n inputs an output draws its weights and its biases
uniformly between -1/sqrt(n) and 1/sqrt(n): `kaiming_uniform_(a=sqrt(5))` is that, see torch.nn.init.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]

#: A Kolmogorov distance of 2.5 / sqrt(n) comes about by chance once in 130 000 layers.
REACH = 2.5
#: float32 keeps a weight to 6e-8 of its bound; two numbers of the stream agree so once in 500 000.
ROUNDING = 1e-6


def default_law(state: dict[str, Array]) -> bool:
    """Whether the layers `stem`, `convs.<i>` and `head` may be fresh draws. Norms: scale 1, shift 0."""
    for _, unit in _units(state):
        if unit.min() < -ROUNDING or unit.max() > 1 + ROUNDING:
            return False
        steps = np.arange(unit.size + 1) / unit.size
        ordered = np.sort(unit.ravel())
        distance = max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1]))
        if distance > REACH / np.sqrt(unit.size):
            return False
    norms = {name: value for name, value in state.items() if name.startswith("norms.")}
    return all(
        np.array_equal(value, np.full_like(value, name.endswith(".weight")))
        for name, value in norms.items()
        if name.endswith((".weight", ".bias"))
    )


def drawn_under(state: dict[str, Array], seed: int, most: int = 100_000) -> bool:
    """Whether every layer is a piece of its own of what torch draws after `torch.manual_seed(seed)`.

    In any order of layers, among the first `most` numbers: nobody can choose a ratio by choosing weights.
    """
    return any(_pieces(state, seed, most, dtype) for dtype in (torch.float32, torch.float64))


def _pieces(state: dict[str, Array], seed: int, most: int, dtype: torch.dtype) -> bool:
    stream = torch.rand(most, generator=torch.Generator().manual_seed(seed), dtype=dtype).double().numpy()
    taken = np.zeros(most, dtype=bool)
    for _, unit in _units(state):
        flat = unit.ravel()
        starts = np.flatnonzero(np.abs(stream[: most - flat.size] - flat[0]) <= ROUNDING)
        places = [
            slice(start, start + flat.size)
            for start in starts
            if np.all(np.abs(stream[start : start + flat.size] - flat) <= ROUNDING)
        ]
        if not places or taken[places[0]].any():
            return False
        taken[places[0]] = True
    return True


def _units(state: dict[str, Array]) -> Iterator[tuple[str, Array]]:
    """Weights and biases of the layers that are drawn, brought from their bounds to [0, 1]."""
    for name, value in state.items():
        owner, _, kind = name.rpartition(".")
        if owner.startswith("norms") or kind not in ("weight", "bias"):
            continue
        weight = state[f"{owner}.weight"]
        bound = 1 / np.sqrt(weight[0].size)
        yield name, (value.astype(np.float64) / bound + 1) / 2
