"""Which pairs are shown as alike, and which are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autograder.exercises.catalogue import load_exercises
from autograder.report import similarity
from autograder.report.similarity import fingerprints, normalised, similar_pairs

STUB = "def window_sum(image, size):\n    raise NotImplementedError()\n"
LOOP = '''
def window_sum(image, size):
    """Sum each window."""
    rows = len(image) - size + 1
    columns = len(image[0]) - size + 1
    result = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            total = 0
            for a in range(size):
                for b in range(size):
                    if image[i + a][j + b] > 0:
                        total += image[i + a][j + b]
            result[i][j] = total
    return result
'''
RENAMED = (
    LOOP.replace("rows", "n_r").replace("columns", "n_c").replace("total", "acc").replace("Sum", "My sum")
)
RENAMED = RENAMED.replace("    ", "  ").replace("acc = 0", "acc = 0  # start\n")
OTHER = """
def window_sum(image, size):
    image = np.where(np.asarray(image) > 0, image, 0)
    windows = np.lib.stride_tricks.sliding_window_view(image, (size, size))
    return windows.sum(axis=(-1, -2)).tolist()
"""


def pairs(**answers: str) -> list[tuple[str, str]]:
    code = {student: {"window_sum": text} for student, text in answers.items()}
    return [(one.first, one.second) for one in similar_pairs(code, {"window_sum": STUB})]


def test_new_names_and_layout_hide_nothing() -> None:
    assert normalised(LOOP) == normalised(RENAMED)
    assert pairs(ann=LOOP, bob=RENAMED, eve=OTHER) == [("ann", "bob")]


def test_different_ways_are_no_pair() -> None:
    assert pairs(ann=LOOP, eve=OTHER) == []


def test_what_was_handed_out_is_no_sign() -> None:
    code = {"ann": {"window_sum": LOOP}, "bob": {"window_sum": LOOP}}
    assert similar_pairs(code, {"given": LOOP}) == []


def test_untouched_cells_are_no_pair() -> None:
    assert pairs(ann=STUB, bob=STUB) == []


def test_what_much_of_the_class_writes_is_no_sign() -> None:
    assert pairs(**{f"s{number}": LOOP for number in range(8)}) == []


def test_a_short_formula_is_no_sign() -> None:
    formula = "def output_size(n, k, p, s):\n    return (n + 2 * p - k) // s + 1\n"
    assert pairs(ann=formula, bob=formula) == []


def test_the_place_and_the_likeness_are_said() -> None:
    edited = LOOP.replace("total = 0", "total = 0.0")
    code = {"ann": {"a": OTHER, "window_sum": LOOP}, "bob": {"a": STUB, "window_sum": edited}}
    (pair,) = similar_pairs(code, {})
    assert [place for place, _ in pair.places] == ["window_sum"]
    assert 0.9 < pair.places[0][1] < 1


def test_right_answers_in_different_styles_are_hardly_pairs() -> None:
    exercises = load_exercises("ps1-convolution")
    code = {
        f"style {style}": {name: one.right[style].code for name, one in exercises.items()}
        for style in range(5)
    }
    assert [len(pair.places) for pair in similar_pairs(code, {})] in ([], [1])


ODD = ["", "def f(:", "'''", "\x00", "\ud800 = 1", "  x\n y", "(" * 5000, "é" * 60_000]


@pytest.mark.parametrize(
    "text", ["", "def f(:", "'''", "\x00", "\ud800 = 1", "  x\n y", "(" * 5000, "é" * 60_000]
)
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(fingerprints(normalised(text)), set)
    assert pairs(ann=text, bob=text) in ([], [("ann", "bob")])


def test_a_long_line_is_cut_up_roughly() -> None:
    """Python's tokeniser takes minutes for one of quotes and backslashes."""
    assert normalised('"\\' * 9_000) == ('"', "\\") * 9_000
    assert len(normalised("x = 1\n" * 2_000)) == 6_000


def test_a_students_cells_together_are_bounded_and_answers_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    monkeypatch.setattr(similarity, "normalised", _noting(read))
    cells = {f"extra-{number}": "x = 1\n" * 10_000 for number in range(50)}
    similar_pairs({"ann": {**cells, "window_sum": STUB}}, {})
    assert read[0] == STUB
    assert sum(map(len, read)) == similarity._STUDENT_LIMIT
    assert max(map(len, read)) == similarity._CODE_LIMIT


def test_a_class_that_shares_everything_takes_no_longer_than_strangers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rarest come first, so that a pair is found among many who share with each other."""
    monkeypatch.setattr(similarity, "_MOST_COUNTED", 500)
    counted = similarity._shared(
        {
            **{f"many-{number}": {"a": set(range(1_000))} for number in range(12)},
            **{f"two-{number}": {"a": set(range(2_000, 2_100))} for number in range(2)},
            **{f"other-{number}": {"a": {5_000 + number}} for number in range(60)},
        }
    )
    assert counted["two-0", "two-1"] == 100
    assert sum(counted.values()) <= 500


def _noting(read: list[str]) -> Callable[[str], tuple[str, ...]]:
    def note(text: str) -> tuple[str, ...]:
        read.append(text)
        return ()

    return note
