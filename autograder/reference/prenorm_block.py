"""Oracle for the pre-norm attention block: h + attention(norm(h)), word by word and head by head.

Uses torch for its gradients only: no layer of torch's, in float64.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, np.dtype[np.float64]]

#: As in torch's LayerNorm.
EPS = 1e-5


@dataclass(frozen=True)
class BlockRun:
    """What a block gives: `output` and `input_gradient` (B, T, d), `gradients` by parameter name."""

    output: Array
    input_gradient: Array
    gradients: dict[str, Array]


def shapes(d: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters by their names in torch's LayerNorm and MultiheadAttention."""
    return {
        "norm.weight": (d,),
        "norm.bias": (d,),
        "attention.in_proj_weight": (3 * d, d),
        "attention.in_proj_bias": (3 * d,),
        "attention.out_proj.weight": (d, d),
        "attention.out_proj.bias": (d,),
    }


def run_block(state: Mapping[str, Array], heads: int, h: Array, cotangent: Array) -> BlockRun:
    """Output of the block on h (B, T, d), and the gradients of sum(output * cotangent).

    `state` has the names and shapes of `shapes(d)`. Each head attends with its d / heads columns of
    queries, keys and values; the heads' outputs stand side by side before the output map
    (Xiong et al. 2020, section 3, the attention half of a pre-LN layer).
    """
    weights = {name: torch.tensor(value, dtype=torch.float64) for name, value in state.items()}
    words = torch.tensor(h, dtype=torch.float64)
    leaves = [words, *weights.values()]
    for one in leaves:
        one.requires_grad_()
    output = torch.stack([_sequence(weights, heads, sequence) for sequence in words])
    total = (output * torch.tensor(cotangent, dtype=torch.float64)).sum()
    gradients = [one.numpy() for one in torch.autograd.grad(total, leaves)]
    return BlockRun(
        output=output.detach().numpy(),
        input_gradient=gradients[0],
        gradients=dict(zip(weights, gradients[1:], strict=True)),
    )


def _sequence(weights: Mapping[str, torch.Tensor], heads: int, h: torch.Tensor) -> torch.Tensor:
    """One sequence, h: (T, d)."""
    d = h.shape[1]
    width = d // heads
    normed = torch.stack([_norm(row, weights["norm.weight"], weights["norm.bias"]) for row in h])
    projected = normed @ weights["attention.in_proj_weight"].T + weights["attention.in_proj_bias"]
    rows = []
    for t in range(len(h)):
        parts = []
        for head in range(heads):
            first = head * width
            query = projected[t, first : first + width]
            keys = projected[:, d + first : d + first + width]
            values = projected[:, 2 * d + first : 2 * d + first + width]
            scores = torch.stack([(query * key).sum() / math.sqrt(width) for key in keys])
            exponentials = torch.exp(scores - scores.max())
            attended = exponentials / exponentials.sum()
            parts.append(torch.stack([attended[s] * values[s] for s in range(len(h))]).sum(0))
        branch = weights["attention.out_proj.weight"] @ torch.cat(parts) + weights["attention.out_proj.bias"]
        rows.append(h[t] + branch)
    return torch.stack(rows)


def _norm(row: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """LayerNorm of one word (d,), with the biased variance."""
    centred = row - row.sum() / len(row)
    variance = (centred * centred).sum() / len(row)
    return centred / torch.sqrt(variance + EPS) * gamma + beta
