"""Figures as data: lines that read a matplotlib figure beside student code, and how they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.exercises.compare import Stage, WrongAnswer, close, entries, items

#: `{call}` draws; the figure is what it returns, else the current one.
READ = """
import matplotlib.pyplot as _plt
import numpy as _np
_plt.close("all")
_figure = {call}
if hasattr(_figure, "get_figure") and not hasattr(_figure, "axes"):
    _figure = _figure.get_figure()
if not hasattr(_figure, "axes") or not isinstance(_figure.axes, list):
    _figure = getattr(_figure, "figure", None) or _plt.gcf()


def _texts(legend):
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


answer = [
    {{
        "curves": [
            [_np.asarray(line.get_xdata(), dtype=float), _np.asarray(line.get_ydata(), dtype=float)]
            for line in _axes.get_lines()
        ]
        + [
            list(_np.asarray(dots.get_offsets(), dtype=float).T)
            for dots in _axes.collections
            if hasattr(dots, "get_offsets") and len(dots.get_offsets())
        ],
        "xlabel": _axes.get_xlabel(),
        "ylabel": _axes.get_ylabel(),
        "xscale": _axes.get_xscale(),
        "yscale": _axes.get_yscale(),
        "words": _texts(_axes.get_legend())
        + [word for legend in _figure.legends for word in _texts(legend)]
        + [text.get_text() for text in _axes.texts],
    }}
    for _axes in _figure.axes
]
_plt.close("all")
"""

Curve = tuple[Sequence[float], Sequence[float]]


def axes_with(answer: object, curves: Sequence[Curve]) -> dict[str, Any]:
    """The axes that hold all these curves, whatever else they hold. Raises `WrongAnswer`."""
    if not isinstance(answer, list) or not answer:
        raise WrongAnswer(Stage.TYPE, "No figure with axes was drawn.")
    keys = ["curves", "xlabel", "ylabel", "xscale", "yscale", "words"]
    for axes in answer[:20]:
        parts = entries(axes, keys)
        if all(any(_same(drawn, curve) for drawn in _drawn(parts)) for curve in curves):
            return parts
    raise WrongAnswer(Stage.VALUE, "The figure does not hold every asked curve with all its points.")


def labelled(axes: dict[str, Any]) -> None:
    """Both axes carry a text. Raises `WrongAnswer`."""
    for name in ("xlabel", "ylabel"):
        if not isinstance(axes[name], str) or len(axes[name].strip()) < 2:
            raise WrongAnswer(Stage.VALUE, f"The figure's {name[0]} axis has no label.")


def told_apart(axes: dict[str, Any], words: Sequence[str]) -> None:
    """A legend or texts in the axes name each of `words`, without case. Raises `WrongAnswer`."""
    texts = axes["words"] if isinstance(axes["words"], list) else []
    said = " ".join(text for text in texts if isinstance(text, str)).casefold().replace("-", "")
    if not all(word.replace("-", "").casefold() in said for word in words):
        raise WrongAnswer(Stage.VALUE, f"No legend says which curve is which ({', '.join(words)}).")


def scaled(axes: dict[str, Any], name: str, kind: str) -> None:
    """An axis ('xscale' or 'yscale') has this kind of scale. Raises `WrongAnswer`."""
    if axes[name] != kind:
        raise WrongAnswer(Stage.VALUE, f"The {name[0]} axis should have a {kind} scale.")


def _drawn(axes: dict[str, Any]) -> list[Any]:
    return axes["curves"][:200] if isinstance(axes["curves"], list) else []


def _same(drawn: object, curve: Curve) -> bool:
    try:
        for got, right in zip(items(drawn, 2), curve, strict=True):
            close(got, list(right), atol=1e-15)
    except WrongAnswer:
        return False
    return True
