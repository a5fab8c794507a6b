"""Checks of `train(mode, seed, depth=20, epochs=8, data=None)`, on sets that are learnt in seconds.

What is asked is how it behaves, not which batches it draws: a right answer may shuffle as it likes. Every
accuracy is computed again here, from the weights that the networks had when they were evaluated.
"""

from __future__ import annotations

import numpy as np
import pytest

from autograder.exercises.compare import Stage, WrongAnswer, close
from autograder.sandbox.student import Student
from autograder.suites.trainings import easy_sets, learnt, stuck, train

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
    learnt(train(student, sets, "plain", 1, epochs=8))


def test_one_an_epoch(student: Student, rng: np.random.Generator) -> None:
    """The list holds one accuracy on the test images an epoch, as a share, in the order of the epochs."""
    sets = easy_sets(rng, _labels(rng))
    for epochs in (5, 3):
        training = train(student, sets, "prenorm", 2, seed=2, epochs=epochs)
        learnt(training)
        if training.values[0] > max(training.values[1:]):
            raise WrongAnswer(Stage.VALUE, "The accuracies are not in the order of the epochs.")


def test_test_set(student: Student, rng: np.random.Generator) -> None:
    """The accuracy is measured on the test set, and nothing is learnt from it."""
    sets = easy_sets(rng, _labels(rng))
    learnt(train(student, sets, "prenorm", 2, seed=1, epochs=3))
    # More images than there are to learn from, all with wrong labels: who learns from them agrees.
    wrong = easy_sets(rng, np.repeat(np.arange(5), 150))
    wrong.given["y_test"] = (wrong.given["y_test"] + 1) % 5
    training = train(student, wrong, "prenorm", 2, seed=1, epochs=3)
    learnt(training)
    if training.values[-1] > 0.3:
        raise WrongAnswer(Stage.VALUE, "The network has learnt from the test images.")


def test_evaluation_mode(student: Student, rng: np.random.Generator) -> None:
    """The test images are judged in evaluation mode: those beside an image do not count."""
    for label in (3, 1):
        learnt(train(student, easy_sets(rng, np.full(30, label)), "prenorm", 2, seed=label, epochs=4))


def test_seed(student: Student, rng: np.random.Generator) -> None:
    """The same seed gives the same accuracies again, whatever was drawn before; another seed gives others."""
    # Many test images that are hard to tell apart: their accuracy shows the least change of the weights.
    sets = easy_sets(rng, np.repeat(np.arange(5), 100))
    images = sets.given["x_test"]
    images += rng.normal(0.0, 4.0, images.shape).astype(np.float32)
    first = [train(student, sets, "naive", 2, seed=seed, epochs=3, draws=2) for seed in (3, 4, 5)]
    for training in first:
        learnt(training, least=0.4)  # two naive blocks reach 0.66 to 1.00
    again = train(student, sets, "naive", 2, seed=4, epochs=3, draws=7)
    close(again.values, first[1].values)
    if first[0].values == first[1].values == first[2].values:
        raise WrongAnswer(Stage.VALUE, "The seed changes nothing.")
