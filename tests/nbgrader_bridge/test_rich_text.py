from __future__ import annotations

import time

import pytest

from autograder.nbgrader_bridge.code_html import code_html, printed_text
from autograder.nbgrader_bridge.rich_text import MOST_PARSED, PageFlow, clean_html, markdown_html


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "[" * 19_000,
        "![[" * 6_000,
        "> " * 9_000,
        "<b>" * 6_000,
        "*a**b" * 4_000,
        "$" + "{" * 1_900 + "$",
        "$" + "\\frac" * 390 + "$",
        "$x$ " * 4_900,
        "`" * 19_000,
        "|" * 9_000 + "\n" + "|-" * 5_000,
        "a\n=" * 6_000,
        "&" * 19_000,
        "<" * 19_000,
    ],
    ids=lambda text: f"{text[:6]}x{len(text)}".replace("\n", " "),
)
def test_no_text_hangs_the_page(text: str) -> None:
    start = time.perf_counter()
    markdown_html(text)
    clean_html(text)
    code_html(text)
    printed_text(text)
    assert time.perf_counter() - start < 20  # generous: a busy machine; a quadratic parser takes minutes


def test_many_long_texts_cost_no_more_than_a_few() -> None:
    flow = PageFlow()
    made = [markdown_html("*a* " * 2_000, flow) for _ in range(20)]
    assert sum("<em>" in one for one in made) == MOST_PARSED // 8_000
    assert made[-1].startswith("<pre")
    assert clean_html("<b>a</b>" * 2_000, flow) is None
