from __future__ import annotations

from typing import Any

import pytest

from autograder.grading.outputs import SYMBOLS, WORDS, grade_cell_outputs, points_text, score_text
from autograder.results import CheckResult, ExerciseResult, Outcome


def exercise(
    points: float = 1.5, message: str = "Fine.", outcome: Outcome = Outcome.FAILED
) -> ExerciseResult:
    check = CheckResult("stride", outcome, 0.0, 0.5, message)
    return ExerciseResult("output_size_checks", points, 2.0, outcome, (check,))


def texts(one: ExerciseResult) -> dict[str, Any]:
    found: dict[str, Any] = grade_cell_outputs(one)[0]["data"]
    return found


def test_the_score_is_the_one_result_and_comes_last() -> None:
    outputs = grade_cell_outputs(exercise())
    assert [one["output_type"] for one in outputs] == ["display_data", "execute_result"]
    assert outputs[1]["data"] == {"text/plain": "1.5"}


@pytest.mark.parametrize(
    ("points", "text"),
    [(0, "0.0"), (-0.0, "0.0"), (-1, "0.0"), (2.0000001, "2.0"), (2, "2.0"), (1 / 3, repr(1 / 3))],
)
def test_a_score_is_never_above_its_maximum_nor_below_zero(points: float, text: str) -> None:
    assert abs(float(score_text(exercise(points)))) == float(text)


@pytest.mark.parametrize(("points", "text"), [(2.0, "2"), (0.3333, "0.33"), (0.5, "0.5"), (-0.0, "0")])
def test_points_are_written_for_people(points: float, text: str) -> None:
    assert points_text(points) == text


def test_a_message_is_text_and_not_markup() -> None:
    data = texts(exercise(message="<script>alert(1)</script> & more"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in data["text/html"]
    assert "<script" not in data["text/html"]
    assert "<script>alert(1)</script> & more" in data["text/plain"]


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_is_said_by_a_word_and_a_symbol_of_its_own(outcome: Outcome) -> None:
    data = texts(exercise(outcome=outcome))
    for text in data.values():
        assert WORDS[outcome] in text
        assert SYMBOLS[outcome] in text
    assert len(set(SYMBOLS.values())) == len(Outcome)
