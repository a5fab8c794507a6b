"""Item analysis: how difficult each exercise was, and whether it told strong from weak. Pure numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Fewer students than this say nothing of an exercise.
FEWEST = 5


@dataclass(frozen=True)
class Item:
    """One exercise over a class.

    `difficulty`: the mean share of its points that was earned, from 0 (nobody anything) to 1 (all
    full marks). `discrimination`: the point-biserial correlation of full marks on it with the score on
    all the *other* exercises; None where it is not defined.
    """

    name: str
    max_points: float
    answered: int
    full: int
    none: int
    difficulty: float | None
    discrimination: float | None


def item(name: str, max_points: float, points: Sequence[float], totals: Sequence[float]) -> Item:
    """The statistics of one exercise: `points` (n,) on it, `totals` (n,) on the whole assignment.

    Raises ValueError when the two do not belong to the same students.
    """
    if len(points) != len(totals):
        raise ValueError(f"{len(points)} points but {len(totals)} totals")
    full = [max_points > 0 and one >= max_points - 1e-9 for one in points]
    rest = [total - one for total, one in zip(totals, points, strict=True)]
    shares = [one / max_points for one in points] if max_points > 0 else []
    return Item(
        name=name,
        max_points=max_points,
        answered=len(points),
        full=sum(full),
        none=sum(one <= 1e-9 for one in points),
        difficulty=sum(shares) / len(shares) if shares else None,
        discrimination=point_biserial(full, rest) if len(points) >= FEWEST else None,
    )


def point_biserial(right: Sequence[bool], scores: Sequence[float]) -> float | None:
    """(M1 - M0) / s * sqrt(p q), with the standard deviation s of all scores.

    `right`, `scores`: (n,). None when all or none are right, or when all scores are equal. The formula
    is Pearson's correlation for a variable of two values (Lord and Novick, 1968, section 15.5).
    """
    if len(right) != len(scores):
        raise ValueError(f"{len(right)} answers but {len(scores)} scores")
    ones = [score for score, good in zip(scores, right, strict=True) if good]
    zeros = [score for score, good in zip(scores, right, strict=True) if not good]
    if not ones or not zeros:
        return None
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if deviation <= 1e-12 * max(1.0, abs(mean)):
        return None
    p = len(ones) / len(scores)
    difference = sum(ones) / len(ones) - sum(zeros) / len(zeros)
    return max(-1.0, min(1.0, difference / deviation * math.sqrt(p * (1 - p))))


@dataclass(frozen=True)
class Spread:
    """A class's totals: how many, their mean, and the quartiles."""

    count: int
    mean: float
    lowest: float
    lower: float
    median: float
    upper: float
    highest: float


def spread(totals: Sequence[float]) -> Spread | None:
    """Five numbers and the mean of the totals (n,), quartiles interpolated linearly; None for no total."""
    if not totals:
        return None
    ordered = sorted(totals)

    def quantile(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = math.floor(place)
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    return Spread(
        count=len(ordered),
        mean=sum(ordered) / len(ordered),
        lowest=ordered[0],
        lower=quantile(0.25),
        median=quantile(0.5),
        upper=quantile(0.75),
        highest=ordered[-1],
    )


def remark(one: Item) -> str:
    """A word on an exercise that may need one; empty for an ordinary one."""
    if one.difficulty is None or one.answered < FEWEST:
        return ""
    if one.discrimination is not None and one.discrimination < 0.1:
        return "Look at it: strong students did no better on it than weak ones."
    if one.difficulty < 0.3:
        return "Hard: fewer than 30 % of its points were earned."
    if one.difficulty > 0.95:
        return "Easy: nearly all its points were earned."
    return ""
