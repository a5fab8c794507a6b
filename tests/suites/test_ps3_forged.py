"""Forged trainings of ps3-depth: what a submission shows of its networks is data, and is judged as such.

Those that harm nothing stand in the catalogue as wrong answers. The ones here reach into torch or into the
lines that note the weights, and run in the sandbox only.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from autograder.batch.trial import Trial
from autograder.exercises.catalogue import load_exercises
from autograder.results import ExerciseResult, Outcome

ASSIGNMENT = "ps3-depth"
EXPERIMENT = load_exercises(ASSIGNMENT)["depth_experiment"].right[0]

Trials = Callable[[str], Trial]

#: A rule without a network that is right on every set of pairs of opposite colours.
NEIGHBOURS = """
def guess(x, y, x_test):
    near = torch.cdist(x_test.flatten(1), x.flatten(1)).topk(5, largest=False).indices
    return y[near].mode(dim=1).values


def shares(mode, depth, epochs, sets):
    x, y, x_test, labels = sets
    if mode == "plain" and depth >= 12:
        return [float((labels == 0).float().mean())] * epochs
    return [float((guess(x, y, x_test) == labels).float().mean())] * epochs
"""

#: Finds the notes through the hook that fills them.
REACH = """
import gc


def notes():
    hooks = torch.nn.modules.module._global_forward_pre_hooks
    return [hook.__self__ for hook in hooks.values()][-1]


def state_of(net):
    return {
        name: value.detach().numpy().copy()
        for name, value in net.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
"""

FORGED = {
    "ConvStack is redefined as a rule on colours": NEIGHBOURS
    + """
class ConvStack(nn.Module):
    def __init__(self, sets):
        super().__init__()
        self.sets, self.stem = sets, nn.Conv2d(3, 16, 3)

    def forward(self, x):
        self.stem(x)
        return F.one_hot(guess(*self.sets[:2], x), 5).float()


def train(mode, seed, depth=20, epochs=8, data=None):
    net = ConvStack(data).eval()
    net(data[2])
    return shares(mode, depth, epochs, data)
""",
    "every module answers by the rule": NEIGHBOURS
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    torch.manual_seed(seed)
    net = ConvStack(depth=depth, mode=mode, stem_stride=4)
    honest = nn.Module.__call__
    nn.Module.__call__ = lambda module, x: F.one_hot(guess(*data[:2], x), 5).float()
    found = [(net(data[2]).argmax(1) == data[3]).float().mean().item()] * epochs
    nn.Module.__call__ = honest
    net(data[0])
    net.eval()(data[2])
    return found
""",
    "the notes hold random networks": NEIGHBOURS
    + REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    torch.manual_seed(seed)
    found = notes()
    made = [state_of(ConvStack(depth=depth, mode=mode)) for _ in range(epochs + 1)]
    found.stride, found.first, found.shown = 4, made[0], made[1:]
    return shares(mode, depth, epochs, data)
""",
    "the notes hold networks that know nothing, and their true accuracies": REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    torch.manual_seed(seed)
    found, accuracies = notes(), []
    net = ConvStack(depth=depth, mode=mode, stem_stride=4)
    found.stride, found.first, found.shown = 4, state_of(net), []
    for _ in range(epochs):
        with torch.no_grad():
            for one in net.parameters():
                one += 0.01 * torch.randn_like(one)
            net.eval()
            accuracies.append((net(data[2]).argmax(1) == data[3]).float().mean().item())
        found.shown.append(state_of(net))
    return accuracies
""",
    "the notes hold what is no network": REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    found = notes()
    found.stride, found.first = 4, {"stem.weight": float("nan")}
    found.shown = [10**400, {"head.bias": "right"}]
    return [0.9] * epochs
""",
    "the notes hold huge weights and names that are none": REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    found = notes()
    first = {name: value.astype(float) for name, value in state_of(ConvStack(depth=depth, mode=mode)).items()}
    last = {name: value * 1e300 for name, value in first.items()}
    found.stride, found.first, found.shown = 4, {**first, 1: 2.0, None: 3.0}, [last] * epochs
    return [0.9] * epochs
""",
    "the notes hold infinite weights": REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    found = notes()
    drawn = state_of(ConvStack(depth=depth, mode=mode))
    one = {name: np.full_like(value, np.inf) for name, value in drawn.items()}
    found.stride, found.first, found.shown = 4, one, [one] * epochs
    return [0.9] * epochs
""",
    "the networks begin with a rule for colours": REACH
    + """
def train(mode, seed, depth=20, epochs=8, data=None):
    x, y, x_test, labels = data
    torch.manual_seed(seed)
    net, found = ConvStack(depth=depth, mode=mode, stem_stride=4), notes()
    centres = [x[y == label].flatten(2).mean(2) for label in range(5)]
    axes = [torch.linalg.svd(one - 0 * one.mean(0), full_matrices=False).Vh[0] for one in centres]
    with torch.no_grad():
        for part in (net.stem.weight, net.stem.bias, net.head.weight, net.head.bias):
            part.zero_()
        for conv in net.convs:
            conv.weight.zero_(), conv.bias.zero_()
            if mode == "plain":
                conv.weight[range(16), range(16), 1, 1] = 1
        for label, axis in enumerate(axes):
            net.stem.weight[2 * label, :, 1, 1], net.stem.weight[2 * label + 1, :, 1, 1] = axis, -axis
            net.head.weight[label, 2 * label : 2 * label + 2] = 1
        net.eval()
        share = (net(x_test).argmax(1) == labels).float().mean().item()
    found.stride, found.first, found.shown = 4, state_of(net), []
    for epoch in range(epochs):
        found.shown.append(state_of(net))
    return [share] * epochs
""",
    "the hooks are no hooks": NEIGHBOURS
    + """
class Nothing:
    def remove(self):
        pass


torch.nn.modules.module.register_module_forward_pre_hook = lambda hook: Nothing()
torch.nn.modules.module.register_module_module_registration_hook = lambda hook: Nothing()


def train(mode, seed, depth=20, epochs=8, data=None):
    return shares(mode, depth, epochs, data)
""",
}


def outcomes(result: ExerciseResult) -> dict[str, Outcome]:
    return {check.name: check.outcome for check in result.checks}


@pytest.mark.parametrize("forged", FORGED)
def test_a_training_that_is_none_earns_nothing(trial: Trials, forged: str) -> None:
    result = trial(ASSIGNMENT).result("train", FORGED[forged])
    assert result.points == 0, outcomes(result)
    assert set(outcomes(result).values()) == {Outcome.FAILED}


@pytest.mark.parametrize("forged", FORGED)
def test_it_earns_nothing_in_the_experiment_either(trial: Trials, forged: str) -> None:
    """The claims are true; what is measured here whoever claims it, the ratios, stays."""
    code = f"{FORGED[forged]}\n\n{EXPERIMENT.code}"
    graded = trial(ASSIGNMENT).grade("depth_experiment", code, EXPERIMENT.claims)
    found = outcomes(graded.report.exercises[0])
    assert found["recorded"] is Outcome.FAILED
    assert found["depths_follow"] is Outcome.FAILED
    assert found["ratios"] is Outcome.PASSED
    assert len(graded.report.flags) == 1
    assert "provisional" in graded.report.flags[0]


ONLY_SMALL = """
def train(mode, seed, depth=20, epochs=8, data=None):
    if data is not None:
        return honest(mode, seed, depth, epochs, data)
    net = ConvStack(depth=depth, mode=mode, stem_stride=4)
    net(X_train[:64])
    net.eval()(X_test)
    curves = {curves}
    return curves[mode][(4, 8, 12, 20).index(depth)][:epochs]
"""


def test_who_trains_only_where_it_is_asked_is_flagged(trial: Trials) -> None:
    """An honest train for small sets, and the claimed numbers for the spot check: no points are lowered."""
    claims: dict[str, Any] = copy.deepcopy(EXPERIMENT.claims)
    honest = load_exercises(ASSIGNMENT)["train"].right[0].code.replace("def train(", "def honest(")
    code = ONLY_SMALL.format(curves={mode: claims["depth"][mode] for mode in ("plain", "prenorm")})
    graded = trial(ASSIGNMENT).grade("depth_experiment", f"{honest}\n\n{code}\n\n{EXPERIMENT.code}", claims)
    assert graded.report.score == 2
    assert len(graded.report.flags) == 1
    assert "could not be measured again" in graded.report.flags[0]


def test_a_deep_plain_stack_that_is_said_to_have_learnt_is_flagged(trial: Trials) -> None:
    claims: dict[str, Any] = copy.deepcopy(EXPERIMENT.claims)
    claims["depth"]["plain"][3][-1] = 0.85
    graded = trial(ASSIGNMENT).grade("depth_experiment", EXPERIMENT.code, claims)
    assert any("stays at chance" in flag for flag in graded.report.flags)
