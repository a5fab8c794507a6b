from __future__ import annotations

import pytest

from autograder.nbgrader_bridge.mathml import mathml


@pytest.mark.parametrize(
    ("tex", "found"),
    [
        (r"\frac{a}{b}", "<mfrac>"),
        (r"\mathbb{R}^{n_\text{in}}", "<msup>"),
        (r"\sum_{c=1}^{C} K_{o,c} \star x_c", "<munderover>"),
        (r"\begin{cases} 0 & x<0 \\ x & \text{else} \end{cases}", "<mtable"),
        (r"\left\lfloor \frac{n+2p-k}{s} \right\rfloor + 1", "⌊"),
        (r"\unknowncommand{x}", '<code class="tex">'),
        ("x" * 3000, '<code class="tex">'),
        (r"\href{https://example.org}{x}", "x"),
    ],
)
def test_formulas(tex: str, found: str) -> None:
    made = mathml(tex, display=True)
    assert found in made
    assert "example.org" not in made or made.startswith("<code")
