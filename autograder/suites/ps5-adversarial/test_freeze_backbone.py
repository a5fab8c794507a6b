"""Checks of `freeze_backbone(model, head)`: models do not cross, so lines run beside the student's code.

They report what became of the model; every verdict is drawn here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autograder.exercises.compare import close, entries, exact, same
from autograder.reference import transfer as reference
from autograder.sandbox.student import Student

Shapes = dict[str, tuple[int, ...]]

#: A stack of layers with the head at its end.
STACK = """
import torch

model = torch.nn.Sequential(
    torch.nn.Linear(d, h), torch.nn.BatchNorm1d(h), torch.nn.ReLU(), torch.nn.Linear(h, o)
)
head = model[3]
"""
#: A head of several layers which is declared first, and a body with a nested convolution.
NESTED = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.top = torch.nn.Sequential(torch.nn.Linear(h, d), torch.nn.Tanh(), torch.nn.Linear(d, o))
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, h, 2), torch.nn.Sequential(torch.nn.BatchNorm2d(h), torch.nn.Conv2d(h, h, 1))
        )

    def forward(self, x):
        return self.top(self.body(x).mean(dim=(2, 3)))

model = Net()
head = model.top
"""
#: A head deep inside, beside layers of its very shape and values, one of them with a longer name.
TWINS = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tail = torch.nn.ModuleDict({"out": torch.nn.Linear(d, d), "outer": torch.nn.Linear(d, d)})
        self.first = torch.nn.Linear(d, d)
        self.norm = torch.nn.BatchNorm1d(h)

model = Net()
head = model.tail["out"]
"""
#: The two last entries are free, and only tell apart the ways to freeze nothing.
ASK = """
for one in model.parameters():
    one.data.fill_(0.5)
count = freeze_backbone(model, head)
answer = {
    "count": count,
    "trains": {name: one.requires_grad for name, one in model.named_parameters()},
    "values": {name: one.detach().clone() for name, one in model.named_parameters()},
    "evaluating": sum(not one.training for one in model.modules()),
    "attributes": sum("requires_grad" in vars(one) for one in model.modules()),
}
"""
#: What torch.optim.SGD does in one step, from given values. Its first use imports 800 modules, which
#: takes longer than a call may.
STEP = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(d, h), torch.nn.ReLU(), torch.nn.Linear(h, o)).double()
model.load_state_dict({name: torch.tensor(value) for name, value in values.items()})
freeze_backbone(model, model[2])
loss = ((model(torch.tensor(x)) - torch.tensor(target)) ** 2).sum()
loss.backward()
with torch.no_grad():
    for one in model.parameters():
        if one.grad is not None:
            one -= lr * one.grad
answer = {name: value.detach().clone() for name, value in model.state_dict().items()}
"""
FREEZE_A_PART_BEFORE = """
list(head.parameters())[0].requires_grad_(False)
list(head.parameters())[-1].requires_grad_(False)
"""


def _stack(d: int, h: int, o: int) -> Shapes:
    return {
        "0.weight": (h, d), "0.bias": (h,), "1.weight": (h,), "1.bias": (h,),
        "3.weight": (o, h), "3.bias": (o,),
    }  # fmt: skip


def _nested(d: int, h: int, o: int) -> Shapes:
    return {
        "top.0.weight": (d, h), "top.0.bias": (d,), "top.2.weight": (o, d), "top.2.bias": (o,),
        "body.0.weight": (h, 3, 2, 2), "body.0.bias": (h,), "body.1.0.weight": (h,), "body.1.0.bias": (h,),
        "body.1.1.weight": (h, h, 1, 1), "body.1.1.bias": (h,),
    }  # fmt: skip


def _twins(d: int, h: int, _o: int) -> Shapes:
    linear: Shapes = {"weight": (d, d), "bias": (d,)}
    layers = ("tail.out", "tail.outer", "first")
    return {f"{layer}.{name}": shape for layer in layers for name, shape in linear.items()} | {
        "norm.weight": (h,), "norm.bias": (h,),
    }  # fmt: skip


def _sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    d, h, o = (int(size) for size in rng.permutation(np.arange(2, 10))[:3])
    return d, h, o


def _ask(student: Student, code: str, sizes: tuple[int, int, int]) -> dict[str, Any]:
    d, h, o = sizes
    answer = student.run(code + ASK, needs=("freeze_backbone",), d=d, h=h, o=o)
    return entries(answer, ["count", "trains", "values"])


def _agree_on_flags(answer: dict[str, Any], shapes: Shapes, head: str) -> None:
    right = reference.trainable(shapes, head)
    given = entries(answer["trains"], list(right))
    for name, trains in right.items():
        same(given[name], trains)


def _agree_on_values(answer: dict[str, Any], shapes: Shapes) -> None:
    given = entries(answer["values"], list(shapes))
    for name, shape in shapes.items():
        close(given[name], np.full(shape, 0.5))


def test_what_trains(student: Student, rng: np.random.Generator) -> None:
    """The parameters of the head train and all the others are frozen, wherever the head stands."""
    for sizes in ((5, 4, 3), _sizes(rng)):
        for code, shapes, head in ((STACK, _stack(*sizes), "3"), (NESTED, _nested(*sizes), "top")):
            _agree_on_flags(_ask(student, code, sizes), shapes, head)


def test_beside_twins(student: Student, rng: np.random.Generator) -> None:
    """Neither the shape nor the name nor the place of a layer makes it the head, and no number changes."""
    for sizes in ((5, 4, 3), _sizes(rng)):
        shapes = _twins(*sizes)
        answer = _ask(student, TWINS, sizes)
        _agree_on_flags(answer, shapes, "tail.out")
        exact(answer["count"], reference.trainable_count(shapes, "tail.out"))
        _agree_on_values(answer, shapes)


def test_count(student: Student, rng: np.random.Generator) -> None:
    """The count is of all the numbers in the parameters of the head."""
    for sizes in ((5, 4, 3), _sizes(rng)):
        for code, shapes, head in ((STACK, _stack(*sizes), "3"), (NESTED, _nested(*sizes), "top")):
            exact(_ask(student, code, sizes)["count"], reference.trainable_count(shapes, head))


def test_head_frozen_before(student: Student, rng: np.random.Generator) -> None:
    """A head of which a part had been frozen before trains whole."""
    for sizes in ((6, 2, 4), _sizes(rng)):
        answer = _ask(student, NESTED + FREEZE_A_PART_BEFORE, sizes)
        _agree_on_flags(answer, _nested(*sizes), "top")
        exact(answer["count"], reference.trainable_count(_nested(*sizes), "top"))


@pytest.mark.weight(2)
def test_one_step(student: Student, rng: np.random.Generator) -> None:
    """A step of training moves the head alone, and moves it as it should."""
    for lr in (0.125, 0.25):
        d, h, o = _sizes(rng)
        values = {
            "0.weight": rng.normal(size=(h, d)), "0.bias": rng.normal(size=h) + 1.0,
            "2.weight": rng.normal(size=(o, h)), "2.bias": rng.normal(size=o),
        }  # fmt: skip
        x, target = rng.normal(size=(5, d)), rng.normal(size=(5, o))
        answer = student.run(
            STEP, needs=("freeze_backbone",), d=d, h=h, o=o, values=values, x=x, target=target, lr=lr
        )
        right = reference.head_step(values, x, target, lr)
        given = entries(answer, list(right))
        for name, value in right.items():
            close(given[name], value)
