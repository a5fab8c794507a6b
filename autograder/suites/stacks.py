"""What the suites on stacks share: lines that run beside student code, and how their answers are judged.

The lines find a module's layers by their kind and order, not by their names, so that a class written
anew is asked as one derived from the course's. They hold no expected value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.exercises.compare import Stage, WrongAnswer, close, entries, items
from autograder.reference.default_init import drawn_under
from autograder.reference.depth import (
    Array,
    Measured,
    State,
    measure_gradient,
    measure_state,
    random_batch,
    random_state,
    seeded,
)

LINES = """
import numpy as _np
import torch as _torch


def _layers(net):
    found = {"stem": [], "convs": [], "norms": [], "head": []}
    for module in net.modules():
        if isinstance(module, _torch.nn.Conv2d):
            found["stem" if module.in_channels == 3 else "convs"].append(module)
        elif isinstance(module, _torch.nn.BatchNorm2d):
            found["norms"].append(module)
        elif isinstance(module, _torch.nn.Linear):
            found["head"].append(module)
    return found


def _owners(found, normed):
    # A norm that no block uses may be left out.
    blocks = range(len(found["convs"]))
    used = blocks if len(found["norms"]) == len(blocks) else normed
    pairs = [("stem", layer) for layer in found["stem"]] + [("head", layer) for layer in found["head"]]
    pairs += [(f"convs.{i}", layer) for i, layer in zip(blocks, found["convs"])]
    return pairs + [(f"norms.{i}", layer) for i, layer in zip(used, found["norms"])]


def _load(net, state, normed):
    found = _layers(net)
    with _torch.no_grad():
        for owner, layer in _owners(found, normed):
            for name, tensor in [*layer.named_parameters(), *layer.named_buffers()]:
                if f"{owner}.{name}" in state:
                    tensor.copy_(_torch.from_numpy(state[f"{owner}.{name}"]))
    return found


def _measure(net, state, normed, x, y, training):
    found = _load(net, state, normed)
    kind = next(net.parameters()).dtype
    net.train(bool(training))
    net.zero_grad()
    trace = []
    logits = net(_torch.from_numpy(x).to(kind), trace)
    _torch.nn.functional.cross_entropy(logits, _torch.from_numpy(y)).backward()
    gradients = {}
    for owner, layer in _owners(found, normed):
        for name, tensor in layer.named_parameters():
            gradient = _torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
            gradients[f"{owner}.{name}"] = gradient
    return {
        "layers": [len(found[kind]) for kind in ("stem", "convs", "norms", "head")],
        "logits": logits,
        "trace": trace or list(getattr(net, "trace", [])),
        "gradients": gradients,
    }
"""


def measuring(make: str) -> str:
    """Lines that build a stack by the expression `make`, load a `Probe`'s weights and measure it."""
    return f"{LINES}\nanswer = _measure({make}, state, normed, x, y, training)\n"


def drawing(make: str) -> str:
    """Lines that build a stack by the expression `make` under seed 0 and show its weights."""
    return f"""{LINES}
_torch.manual_seed(0)
_found = _layers({make})
answer = {{
    f"{{owner}}.{{name}}": tensor
    for owner, layer in _owners(_found, ())
    if not owner.startswith("norms")
    for name, tensor in layer.named_parameters()
}}
"""


@cache
def default_ratio(make: Callable[..., Any], *arguments: object) -> float:
    """The gradient ratio of `make(*arguments)` under seed 0: always the same, so measured once."""
    norms, _, _ = measure_gradient(seeded(lambda: make(*arguments)))
    return norms[0] / norms[-1]


def drawn_ratio(weights: object, make: Callable[..., nn.Module], *arguments: object) -> float:
    """The gradient ratio of `make(*arguments)` with weights that a student's class drew under seed 0.

    The weights are all that counts of the class, and they have to be torch's own draws, in any order of
    the layers. What they give is measured here, on the course's own stack. Raises `WrongAnswer`.
    """
    net = make(*arguments)
    owners = ("stem", "head", "convs")
    names = {name: value.shape for name, value in net.state_dict().items() if name.startswith(owners)}
    state = entries(weights, list(names))
    for name, shape in names.items():
        value = state[name]
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.shape != shape:
            raise WrongAnswer(Stage.SHAPE, "The layers of the stack do not have the sizes of ConvStack's.")
        if not np.isfinite(value).all():
            raise WrongAnswer(Stage.FINITE, "The weights of the stack are NaN or infinite.")
    if not drawn_under(state, 0):
        raise WrongAnswer(
            Stage.VALUE,
            "Neither are the ratios those of ConvStack under torch.manual_seed(0), nor does your stack keep "
            "the weights that torch draws by default under that seed.",
        )
    net.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)
    norms, _, _ = measure_gradient(net)
    if norms[-1] == 0:
        raise WrongAnswer(Stage.FINITE, "No gradient reaches the last block of the stack.")
    return norms[0] / norms[-1]


@cache
def table_line(mode: str) -> tuple[float, float, float, float]:
    """Loss, gradient ratio, first and last activation of a mode at the defaults, measured once."""
    norms, trace, loss = measure_gradient(mode)
    return loss, norms[0] / norms[-1], trace[0], trace[-1]


class Probe:
    """One stack of random weights and sizes, a batch, and what the blocks' rules make of them."""

    def __init__(
        self,
        rng: np.random.Generator,
        rules: Sequence[str],
        channels: int,
        stride: int = 1,
        n_classes: int = 5,
    ) -> None:
        self.rules = list(rules)
        self.keywords = {
            "depth": len(rules), "channels": channels, "n_classes": n_classes, "stem_stride": stride
        }  # fmt: skip
        while True:
            self.state: State = random_state(rng, len(rules), channels, n_classes, gain=1.7)
            self.x, self.y = random_batch(rng, 6, 8, 9, n_classes)
            if min(self.expected(True).gradient_norms) > 1e-4:  # a small plain stack may be born dead
                break

    def expected(self, training: bool) -> Measured:
        return measure_state(self.state, self.rules, self.x, self.y, self.keywords["stem_stride"], training)

    def inputs(self, training: bool = True) -> dict[str, Any]:
        """What the lines of `measuring` use; `keywords` is for `make`."""
        normed = [i for i, rule in enumerate(self.rules) if rule not in ("plain", "skip without norm")]
        return {
            "state": self.state, "normed": normed, "x": self.x, "y": self.y,
            "training": training, "keywords": self.keywords,
        }  # fmt: skip


def same_logits(answer: object, probe: Probe, training: bool = True) -> None:
    """The layers that the statement names, and the right logits. Raises `WrongAnswer`."""
    parts = _parts(answer, probe)
    close(parts["logits"], probe.expected(training).logits, atol=1e-5)


def same_trace(answer: object, probe: Probe) -> None:
    """One right mean absolute activation a block. Raises `WrongAnswer`."""
    trace = probe.expected(True).trace
    for got, right in zip(items(_parts(answer, probe)["trace"], len(trace)), trace, strict=True):
        close(got, right)


def same_gradients(answer: object, probe: Probe) -> None:
    """The right gradient of every parameter that a block uses. Raises `WrongAnswer`."""
    gradients: dict[str, Array] = probe.expected(True).gradients
    got = entries(_parts(answer, probe)["gradients"], _used(gradients, probe.rules))
    for name, value in got.items():
        close(value, gradients[name], atol=1e-3 * float(np.abs(gradients[name]).max()) + 1e-7)


def _used(gradients: State, rules: Sequence[str]) -> list[str]:
    unused = {f"norms.{i}." for i, rule in enumerate(rules) if rule in ("plain", "skip without norm")}
    return [name for name in gradients if not name.startswith(tuple(unused))]


def _parts(answer: object, probe: Probe) -> dict[str, Any]:
    parts = entries(answer, ["layers", "logits", "trace", "gradients"])
    counts = items(parts["layers"], 4)
    depth = len(probe.rules)
    normed = sum(rule not in ("plain", "skip without norm") for rule in probe.rules)
    if counts not in ([1, depth, depth, 1], [1, depth, normed, 1]):
        raise WrongAnswer(
            Stage.SHAPE,
            "The stack should hold one stem, one convolution a block, one BatchNorm2d of its own for each "
            "block that uses one, and one head, all made when it is built.",
        )
    return parts
