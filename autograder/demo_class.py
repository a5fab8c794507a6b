"""The classes of the demo: right in several styles, mistaken, unfinished, broken, hostile. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from autograder.exercises.catalogue import Exercise
from autograder.grading.experiments import Claim

_CRASH = "import os\n\nos._exit(3)\n"
_LOOP = "def {name}(*args, **kwargs):\n    while True:\n        pass\n\n\n{name}()\n"
_HOG = "keep = []\nwhile True:\n    keep.append(bytearray(256_000_000))\n"
_FORGER = """
class Agreeable:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __array__(self, *args, **kwargs): return np.zeros(1)
    def __array_function__(self, *args, **kwargs): return True

def {name}(*args, **kwargs):
    return Agreeable()

np.allclose = np.array_equal = lambda *args, **kwargs: True
get_ipython().ast_transformers.clear()
print("Score: 20 / 20")
"""


@dataclass(frozen=True)
class Member:
    """One of the class: the answers that differ from the course's own, and how late it came."""

    student: str
    answers: dict[str, str | None] = field(default_factory=dict)
    fill: bool = True
    late: timedelta = timedelta(0)
    claims: Mapping[str, Mapping[str, Claim]] | None = None


def arithmetic_class(exercises: dict[str, Exercise]) -> list[Member]:
    """Twelve students of ps1: right in several styles, mistaken, unfinished, broken and hostile."""

    names = list(exercises)
    half: dict[str, str | None] = dict.fromkeys(names[len(names) // 2 :])
    forged: dict[str, str | None] = {name: _FORGER.format(name=exercises[name].asks[0]) for name in names}
    return [
        Member("ada", _right(exercises, 0)),
        Member("bao", _right(exercises, 1)),
        Member("chloe", _right(exercises, 2)),
        Member("daniel", _mistaken(exercises, 0)),
        Member("elif", _mistaken(exercises, 1)),
        Member("farah", half),
        Member("goran", {}, fill=False),
        Member("hana", {"output_size": _CRASH}),
        Member("ivan", {"output_size": _LOOP.format(name="output_size")}),
        Member("jules", {"conv2d": _HOG}),
        Member("karim", forged),
        Member("lena", _right(exercises, 3), late=timedelta(hours=26)),
    ]


def depth_class(exercises: dict[str, Exercise]) -> list[Member]:
    """Four students of ps3: right, mistaken, with accuracies that were never measured, and unfinished."""
    measured = exercises["depth_experiment"].right[0].claims["depth"]
    invented = {**measured, "prenorm": [[0.97] * 8] * 4, "separation_depth": 4}
    claims = {"depth_experiment": {"depth": invented}}
    names = list(exercises)
    return [
        Member("ada", _right(exercises, 0)),
        Member("daniel", _mistaken(exercises, 0)),
        Member("farah", dict.fromkeys(names[len(names) // 2 :])),
        Member("mira", {}, claims=claims),
    ]


def _right(exercises: dict[str, Exercise], style: int) -> dict[str, str | None]:
    return {name: one.right[style % len(one.right)].code for name, one in exercises.items() if one.right}


def _mistaken(exercises: dict[str, Exercise], which: int) -> dict[str, str | None]:
    chosen = [name for number, name in enumerate(exercises) if number % 2 == which % 2]
    return {
        name: exercises[name].misconceptions[which % len(exercises[name].misconceptions)].code
        for name in chosen
        if exercises[name].misconceptions
    }
