"""Checks of `train(mode, seed, depth=20, epochs=8, data=None)`, on sets that are learnt in seconds.

What is asked is how it behaves, not which batches it draws: a right answer may shuffle as it likes.
"""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import Stage, WrongAnswer, close
from autograder.sandbox.student import Student
from autograder.suites.trainings import accuracies, easy_sets, learnt, stuck, train

#: Test images of each class: all different, so that a constant prediction shows.
SHARES = np.array([7, 11, 13, 17, 23])


def _labels(rng: np.random.Generator) -> np.ndarray:  # type: ignore[type-arg]
    labels = np.repeat(np.arange(5), SHARES)
    rng.shuffle(labels)
    return labels


@pytest.mark.weight(2)
def test_depth_and_mode(student: Student, rng: np.random.Generator) -> None:
    """Depth and mode are those asked for: a shallow stack learns an easy set, a deep plain one does not."""
    sets = easy_sets(rng, _labels(rng))
    learnt(train(student, sets, "prenorm", 2, epochs=3))
    learnt(train(student, sets, "prenorm", 20, epochs=2))
    stuck(train(student, sets, "plain", 20, epochs=1), SHARES / SHARES.sum())
    values = train(student, sets, "plain", 1, epochs=8)
    if all(value < 0.45 for value in values):
        raise WrongAnswer(Stage.VALUE, "A shallow plain stack that should have begun to learn did not.")


def test_one_an_epoch(student: Student, rng: np.random.Generator) -> None:
    """The list holds one accuracy on the test images an epoch, as a share, in the order of the epochs."""
    sets = easy_sets(rng, _labels(rng))
    for epochs in (5, 3):
        values = train(student, sets, "prenorm", 1, seed=2, epochs=epochs)
        learnt(values)
        if values[0] > max(values[1:]):
            raise WrongAnswer(Stage.VALUE, "The accuracies are not in the order of the epochs.")


def test_test_set(student: Student, rng: np.random.Generator) -> None:
    """The accuracy is measured on the test set, not on what was learnt."""
    sets = easy_sets(rng, _labels(rng))
    learnt(train(student, sets, "prenorm", 2, seed=1, epochs=3))
    wrong = {**sets, "y_test": (sets["y_test"] + 1) % 5}
    if train(student, wrong, "prenorm", 2, seed=1, epochs=3)[-1] > 0.3:
        raise WrongAnswer(Stage.VALUE, "The accuracy is not that of the test set.")


def test_evaluation_mode(student: Student, rng: np.random.Generator) -> None:
    """The test images are judged in evaluation mode: a test set of one class is no harder than another."""
    for label in (3, 1):
        learnt(train(student, easy_sets(rng, np.full(30, label)), "prenorm", 2, seed=label, epochs=4))
    wrong = easy_sets(rng, np.full(30, 2))
    wrong["y_test"] = np.full(30, 4)
    if train(student, wrong, "prenorm", 2, epochs=3)[-1] > 0.3:
        raise WrongAnswer(Stage.VALUE, "The accuracy is not that of the test set.")


def test_seed(student: Student, rng: np.random.Generator) -> None:
    """The same seed gives the same accuracies again, whatever was drawn before; another seed gives others."""
    # Many test images that are hard to tell apart: their accuracy shows the least change of the weights.
    sets = easy_sets(rng, np.repeat(np.arange(5), 100))
    sets["x_test"] += rng.normal(0.0, 4.0, sets["x_test"].shape).astype(np.float32)
    first = [train(student, sets, "naive", 2, seed=seed, epochs=3, draws=2) for seed in (3, 4, 5)]
    again = train(student, sets, "naive", 2, seed=4, epochs=3, draws=7)
    close(again, accuracies(first[1], 3))
    if first[0] == first[1] == first[2]:
        raise WrongAnswer(Stage.VALUE, "The seed changes nothing.")
