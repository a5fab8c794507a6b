"""What the student's process shows of its networks, and what follows from it on this side.

The lines only note weights: at the first call of a network, and at each evaluation. Whoever alters what
they note alters nothing but the weights that are then judged here, with the course's own stack.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercises.compare import Stage, WrongAnswer, entries
from autograder.reference.default_init import default_law
from autograder.reference.depth import Array, State
from autograder.reference.depth_training import course, same_way, shapes, share_right
from autograder.suites.stacks import LINES

#: Hooks of torch see a network however it is made: by any name, as a subclass, as a copy.
NOTES = (
    LINES
    + """

def _is_stem(part):
    return isinstance(part, _torch.nn.Conv2d) and part.in_channels == 3


class _Notes:
    def __init__(self, most=40):
        self.most, self.owners, self.seen = most, {}, {}
        self.stride, self.first, self.shown = None, None, []

    def registered(self, owner, name, part):
        if part is not None and _is_stem(part):
            self.owners.setdefault(id(part), owner)
            self.seen[id(part)] = part  # kept, or its id would be given again

    def called(self, module, arguments):
        if _is_stem(module):
            self.note(module, self.owners.get(id(module)))
        elif module._modules and id(module) not in self.seen:
            self.seen[id(module)] = module
            for part in module.modules():
                if _is_stem(part):
                    self.owners[id(part)] = module
                    self.seen[id(part)] = part

    def note(self, stem, owner):
        if owner is None:
            return
        found = _layers(owner)
        norms = found["norms"]
        learning = any(norm.training for norm in norms) if norms else owner.training
        if self.first is not None and (learning or len(self.shown) >= self.most):
            return
        state = {}
        for name, layer in _owners(found, range(len(norms))):
            for kind, tensor in [*layer.named_parameters(), *layer.named_buffers()]:
                if kind != "num_batches_tracked":
                    state[f"{name}.{kind}"] = tensor.detach().cpu().numpy().copy()
        if self.first is None:
            self.first, self.stride = state, stem.stride[0]
        before = self.shown[-1] if self.shown else {}
        same = state.keys() == before.keys() and all(
            _np.array_equal(state[name], before[name]) for name in state
        )
        if not learning and not same:
            self.shown.append(state)


def _noted(call):
    notes, torch_hooks = _Notes(), _torch.nn.modules.module
    hooks = [
        torch_hooks.register_module_module_registration_hook(notes.registered),
        torch_hooks.register_module_forward_pre_hook(notes.called),
    ]
    try:
        value = call()
    finally:
        for hook in hooks:
            hook.remove()
    return {"value": value, "stride": notes.stride, "first": notes.first, "_shown": notes.shown}
"""
)

#: How far a training from the same weights may lead away from ours, see `same_way`.
COSINE, LENGTHS = 0.6, (0.4, 2.5)
#: The notebook's: what is recomputed here is never dearer than what is asked.
STRIDE = 4
#: Evaluations of one training. Each costs up to a second here (20 blocks, 1 000 images).
MOST_SHOWN = 40
#: No weight of a training comes near; beyond, sums of squares overflow here.
HUGE = 1e9


@dataclass(frozen=True)
class Evidence:
    """The weights of a training at its first step and at each evaluation; checked for form only."""

    mode: str
    stride: int
    first: State
    shown: list[State]

    def bears_out(self, values: list[float], x: Array, y: Array) -> None:
        """The accuracies are those of the shown weights, in their order. Raises `WrongAnswer`."""
        shares = (share_right(state, self.mode, self.stride, x, y) for state in self.shown)
        for value in values:
            # One image in the balance may fall to either side in float32.
            if not any(abs(value - share) * len(y) <= 1.5 for share in shares):
                raise WrongAnswer(
                    Stage.VALUE,
                    "The accuracies are not those of your networks after each epoch, in evaluation mode and "
                    "in the asked mode.",
                )

    def begins_fresh(self) -> None:
        """The first weights may be torch's defaults. Raises `WrongAnswer`."""
        if not default_law(self.first):
            raise WrongAnswer(Stage.VALUE, "A training should begin with the weights that torch draws.")

    def learns_from(self, x: Array, y: Array, epochs: int, least: float = COSINE) -> None:
        """The weights move as x, y move ours, from the same first ones: some in the first epoch, and the
        last ones in all epochs. Raises `WrongAnswer`.
        """
        ours = _course(self.first, self.mode, self.stride, x, y, epochs)
        # Whoever evaluates more than once an epoch shows other states too.
        begins = any(self._follows(state, ours[0], least) for state in self.shown)
        if not begins or not self._follows(self.shown[-1], ours[-1], least):
            raise WrongAnswer(
                Stage.VALUE,
                "The weights did not move as the training images move them: step down their gradient.",
            )

    def _follows(self, state: State, ours: State, least: float) -> bool:
        cosine, lengths = same_way(self.first, state, ours)
        return cosine >= least and LENGTHS[0] <= lengths <= LENGTHS[1]

    def share(self, x: Array, y: Array) -> float:
        """The accuracy of the last evaluated weights."""
        return share_right(self.shown[-1], self.mode, self.stride, x, y)


#: Of the last trainings of our own: a course sends everybody the same images, and most draw the same weights.
_KEPT: dict[bytes, tuple[State, State]] = {}
_MOST = 60


def _course(first: State, mode: str, stride: int, x: Array, y: Array, epochs: int) -> tuple[State, State]:
    """Our weights after the first and the last epoch, remembered by all that they depend on."""
    digest = hashlib.sha256(f"{mode} {stride} {epochs}".encode())
    for name, value in (*first.items(), ("x", x), ("y", y)):
        digest.update(f"{name} {value.dtype} {value.shape}".encode())
        digest.update(np.ascontiguousarray(value).data)
    key = digest.digest()
    if key not in _KEPT:
        states = course(first, mode, stride, x, y, epochs)
        while len(_KEPT) >= _MOST:
            del _KEPT[next(iter(_KEPT))]
        _KEPT[key] = states[0], states[-1]
    return _KEPT[key]


def read(answer: object, mode: str, depth: int) -> tuple[Any, Evidence]:
    """What `_noted` left: the value of the call, and the evidence. Raises `WrongAnswer`."""
    parts = entries(answer, ["value", "stride", "first", "_shown"])
    if parts["first"] is None:
        raise WrongAnswer(
            Stage.VALUE, "No network was trained: build a ConvStack in train, and call it on the images."
        )
    if not isinstance(parts["_shown"], list) or not parts["_shown"]:
        raise WrongAnswer(Stage.VALUE, "No network was called in evaluation mode: call net.eval() first.")
    stride = parts["stride"]
    if stride != STRIDE:
        raise WrongAnswer(Stage.SHAPE, "The stem's stride should be 4.")
    if len(parts["_shown"]) > MOST_SHOWN:
        raise WrongAnswer(
            Stage.SHAPE, "The network was evaluated too often: once an epoch, on the test images, is asked."
        )
    first = _state(parts["first"], mode, depth)
    return parts["value"], Evidence(
        mode, STRIDE, first, [_state(one, mode, depth) for one in parts["_shown"]]
    )


def _state(answer: object, mode: str, depth: int) -> State:
    """One stack's weights by the names of `ConvStack`: all there, finite and of the right shapes."""
    wrong = WrongAnswer(
        Stage.SHAPE, "A network in train is not a ConvStack of the asked depth, with its defaults otherwise."
    )
    if not isinstance(answer, dict):
        raise wrong
    state: State = {}
    for name, shape in shapes(depth).items():
        value = answer.get(name)
        if value is None and name.startswith("norms.") and mode != "prenorm":
            continue  # not used, so it may be left out
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.shape != shape:
            raise wrong
        if not (np.abs(value) < HUGE).all():
            raise WrongAnswer(Stage.FINITE, "The weights of the network are NaN, infinite or huge.")
        state[name] = value.astype(np.float32) if value.dtype.itemsize < 8 else value
    if f"convs.{depth}.weight" in answer:
        raise wrong
    return state
