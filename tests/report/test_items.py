"""Item statistics against a class worked by hand, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.report.items import Item, item, point_biserial, remark, spread

#: Six students, three exercises of 2, 1 and 3 points.
POINTS = {"a": [2, 2, 2, 1, 0, 0], "b": [1, 1, 0, 1, 0, 0], "c": [3, 3, 3, 3, 3, 3]}
TOTALS = [6, 6, 5, 5, 3, 3]


def test_a_class_worked_by_hand() -> None:
    # a: 7 of 12 points. Full marks: students 1 to 3. Their scores on b and c: 4, 4, 3 (mean 11/3); the
    # others': 4, 3, 3 (mean 10/3). All six: mean 7/2, variance 1/4, so s = 1/2; p = q = 1/2.
    # r = (11/3 - 10/3) / (1/2) * 1/2 = 1/3.
    a = item("a", 2, POINTS["a"], TOTALS)
    assert (a.answered, a.full, a.none) == (6, 3, 2)
    assert a.difficulty == pytest.approx(7 / 12)
    assert a.discrimination == pytest.approx(1 / 3)
    # b: full marks of students 1, 2, 4. Their scores on a and c: 5, 5, 4 (mean 14/3); the others':
    # 5, 3, 3 (mean 11/3). All six: mean 25/6, squares sum 109, variance 109/6 - 625/36 = 29/36.
    # r = 1 / (sqrt(29)/6) * 1/2 = 3 / sqrt(29).
    b = item("b", 1, POINTS["b"], TOTALS)
    assert b.difficulty == pytest.approx(1 / 2)
    assert b.discrimination == pytest.approx(3 / math.sqrt(29))
    # c: everybody has it, so it tells nobody apart.
    c = item("c", 3, POINTS["c"], TOTALS)
    assert (c.full, c.none, c.difficulty, c.discrimination) == (6, 0, 1.0, None)


def test_against_scipy_on_random_classes() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed, so there is no second opinion")
    rng = np.random.default_rng(5)
    for size in (5, 8, 30, 200):
        right = rng.integers(0, 2, size).astype(bool)
        right[:2] = [True, False]
        scores = np.round(rng.normal(12, 4, size) + 2 * right, 2)
        expected = stats.pointbiserialr(right, scores).statistic
        assert point_biserial(right.tolist(), scores.tolist()) == pytest.approx(expected, abs=1e-12)


def test_quartiles_against_numpy() -> None:
    totals = [3.0, 18.0, 9.5, 16.0, 10.32, 0.0, 18.0]
    found = spread(totals)
    assert found is not None
    five = (found.lowest, found.lower, found.median, found.upper, found.highest)
    assert five == pytest.approx(np.percentile(totals, [0, 25, 50, 75, 100]).tolist())
    assert found.mean == pytest.approx(np.mean(totals))
    assert spread([]) is None


@pytest.mark.parametrize(
    ("right", "scores"),
    [
        ([True] * 5, [1, 2, 3, 4, 5]),
        ([False] * 5, [1, 2, 3, 4, 5]),
        ([True, False], [0.1 + 0.2, 0.3]),
        ([], []),
    ],
)
def test_no_correlation_where_nothing_varies(right: list[bool], scores: list[float]) -> None:
    assert point_biserial(right, scores) is None


def test_a_small_class_says_nothing_of_an_exercise() -> None:
    few = item("a", 2, [2, 0, 2, 0], [6, 1, 6, 1])
    assert few.discrimination is None
    assert remark(few) == ""


def test_an_exercise_without_points_has_no_difficulty() -> None:
    assert item("a", 0, [0, 0], [1, 2]).difficulty is None


def test_points_and_totals_of_different_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="1 points but 2 totals"):
        item("a", 1, [1], [1, 2])


def test_remarks() -> None:
    assert "no better" in remark(Item("a", 1, 20, 10, 10, 0.5, -0.2))
    assert "Hard" in remark(Item("a", 1, 20, 2, 18, 0.1, 0.4))
    assert "Easy" in remark(Item("a", 1, 20, 20, 0, 1.0, None))
    assert remark(Item("a", 1, 20, 12, 8, 0.6, 0.4)) == ""


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 100)), max_size=30))
def test_it_is_a_correlation_whatever_the_class(answers: list[tuple[bool, float]]) -> None:
    found = point_biserial([right for right, _ in answers], [score for _, score in answers])
    assert found is None or -1 <= found <= 1
