"""Checks of `gradient_ratio(net, x, y)`, on stacks whose weights are loaded by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, entries, same
from autograder.sandbox.student import Student
from autograder.suites.given import STACK
from autograder.suites.stacks import LINES, Probe

#: Gradients of another batch and a foreign mode are left behind before the call.
ASK = (
    LINES
    + STACK
    + """
_net = ConvStack(mode=mode, **keywords)
_load(_net, state, normed)
_x, _y = _torch.from_numpy(x), _torch.from_numpy(y)
for _ in range(stale):
    _torch.nn.functional.cross_entropy(_net(_x.flip(0)), _y).backward()
_load(_net, state, normed)
_net.train(bool(training))
_before = [parameter.detach().clone() for parameter in _net.parameters()]
_ratio = gradient_ratio(_net, _x, _y)
answer = {
    "ratio": _ratio,
    "training": _net.training,
    "before": _torch.cat([one.flatten() for one in _before]),
    "after": _torch.cat([one.detach().flatten() for one in _net.parameters()]),
}
"""
)


def _ask(student: Student, probe: Probe, mode: str, training: bool = True, stale: int = 0) -> dict[str, Any]:
    answer = student.run(
        ASK, needs=("gradient_ratio",), **{**probe.inputs(training), "mode": mode, "stale": stale}
    )
    return entries(answer, ["ratio", "training", "before", "after"])


def _right(probe: Probe) -> float:
    norms = probe.expected(True).gradient_norms
    return norms[0] / norms[-1]


@pytest.mark.weight(2)
def test_ratio(student: Student, rng: np.random.Generator) -> None:
    """The norm of the first block's weight gradient over the last block's, whatever the mode of the stack."""
    for mode, depth, channels in (("plain", 4, 6), ("naive", 3, 5), ("prenorm", 5, 4)):
        probe = Probe(rng, [mode] * depth, channels)
        close(_ask(student, probe, mode)["ratio"], _right(probe), atol=0)


def test_stale_gradients(student: Student, rng: np.random.Generator) -> None:
    """Gradients that were there before the call do not add up with the new ones."""
    for depth in (3, 4):
        probe = Probe(rng, ["naive"] * depth, 5)
        close(_ask(student, probe, "naive", stale=2)["ratio"], _right(probe), atol=0)


def test_training_mode(student: Student, rng: np.random.Generator) -> None:
    """The measure is made in training mode, and the mode that was found is put back."""
    for training, depth in ((False, 4), (True, 3)):
        probe = Probe(rng, ["prenorm"] * depth, 5)
        answer = _ask(student, probe, "prenorm", training=training)
        close(answer["ratio"], _right(probe), atol=0)
        same(answer["training"], training)


def test_weights_stay(student: Student, rng: np.random.Generator) -> None:
    """No weight has moved after the call: measuring is not training."""
    for depth in (3, 4):
        probe = Probe(rng, ["prenorm"] * depth, 4)
        answer = _ask(student, probe, "prenorm")
        close(answer["ratio"], _right(probe), atol=0)
        weights = [name for name in probe.state if "running" not in name]
        total = sum(probe.state[name].size for name in weights)
        close(answer["after"], _flat(probe, total), atol=1e-7)


def _flat(probe: Probe, total: int) -> np.ndarray[Any, Any]:
    """The weights in the order of the course's own stack: stem, convolutions, norms, head."""
    owners = ["stem", *(f"convs.{i}" for i in range(len(probe.rules)))]
    owners += [*(f"norms.{i}" for i in range(len(probe.rules))), "head"]
    flat = np.concatenate(
        [probe.state[f"{owner}.{kind}"].ravel() for owner in owners for kind in ("weight", "bias")]
    )
    if flat.size != total:
        raise RuntimeError("the order of the weights does not cover them all")
    return flat
