"""Markup of any kind comes out balanced, and its tree is no larger than the markup."""

from __future__ import annotations

import random
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.nbgrader_bridge.balanced import DEEPEST, TAGS, balanced
from autograder.nbgrader_bridge.rich_text import MOST_PARSED, PageFlow, clean_html, markdown_html


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b>a", "<b>a</b>"),
        ("<p><b>a<p>b", "<p><b>a</b></p><p>b</p>"),
        ("<ul><li><b>a<li>b</ul>", "<ul><li><b>a</b></li><li>b</li></ul>"),
        ("<ul><li>a<ul><li>b", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("<dl><dt>a<dd>b", "<dl><dt>a</dt><dd>b</dd></dl>"),
        ('<a href="x">a<a href=y>b', '<a href="x">a</a><a href="y">b</a>'),
        (
            "<table><tr><td><i>a<td>b<tr><td>c",
            "<table><tr><td><i>a</i></td><td>b</td></tr><tr><td>c</td></tr></table>",
        ),
        ("<table><b><table>a", "<table><b></b></table><table>a</table>"),
        ("<table><tr><td><table>a", "<table><tr><td><table>a</table></td></tr></table>"),
        ("<tr><td>a</td></tr>", "a"),
        ("</p></b>a", "a"),
        ("<b><i>a</b>c</i>", "<b><i>a</i></b>c"),
        ("a<br/>b<hr>c", "a<br>b<hr>c"),
        ("<script>a</script >b<STYLE>c</sTyle>d", "bd"),
        ("<script>a", "a"),
        ("a<!-- <b> -->b<?php c ?>d<!DOCTYPE e>f", "abdf"),
        ("<!-- a", "&lt;!-- a"),
        ("<x-y>a</x-y><svg>b</svg>", "ab"),
        ("1 < 2 &lt; 3", "1 &lt; 2 &lt; 3"),
        ("<p onclick='x' style=\"y\" title=z>a", "<p>a</p>"),
        ("<a data-href='x' href='a\"b'>c", '<a href="a&quot;b">c</a>'),
        ('<td colspan=2>a<table><tr><th rowspan="3">b', 'a<table><tr><th rowspan="3">b</th></tr></table>'),
    ],
)
def test_each_element_ends_where_it_should(markup: str, expected: str) -> None:
    assert balanced(markup) == expected


def test_no_deeper_than_a_page_needs() -> None:
    made = balanced("<div>" * 500 + "a")
    assert made == "<div>" * DEEPEST + "a" + "</div>" * DEEPEST


class _Nesting(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"href", "colspan", "rowspan"}
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


PIECES = [f"<{tag}>" for tag in sorted(TAGS)] + [f"</{tag}>" for tag in sorted(TAGS)]
PIECES += [
    "x",
    "<b a=1>",
    "<i a=2>",
    "<a href=b>",
    '<td colspan="2">',
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<",
    "&",
]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(PIECES) | st.text(alphabet="<>/ab=\"' &", max_size=8), max_size=40).map("".join)
)
def test_any_markup_is_balanced(markup: str) -> None:
    assert _Nesting(balanced(markup)).open == []
    assert balanced(balanced(markup)) == balanced(markup)


#: Bold that is never closed, in a paragraph each: 20 000 characters were 2 GB and a page of 17 MB.
BLOWN_UP = [
    "".join(f"<b a={n}>" for n in range(500)) + "<p>x" * 1_200,
    "".join(f"<b a={n}><i a={n}><s a={n}>" for n in range(160)) + "<p>x" * 1_200,
    "".join(f"<b a={n}><p>x" for n in range(700)),
    "<ul>" + "".join(f"<li><b a={n}>x" for n in range(600)),
    "<table>" + "".join(f"<tr><td><b a={n}>x" for n in range(500)),
    "".join(f"<p><a href=http://b/{n}>x" for n in range(300)),
]


@pytest.mark.parametrize("markup", BLOWN_UP, ids=lambda markup: markup[:24])
def test_no_text_grows_on_its_way_to_the_page(markup: str) -> None:
    assert len(markup) <= 10_000
    for made in (markdown_html(markup), clean_html(markup)):
        assert made is not None
        assert len(made) < 8 * len(markup)


def test_no_mixture_of_elements_grows() -> None:
    draw = random.Random(7)
    for _ in range(60):
        few = draw.sample(PIECES, 6)
        markup = "".join(draw.choice([*few, "x"]) for _ in range(1_000))
        made = clean_html(markup, PageFlow(remaining=MOST_PARSED))
        assert made is not None
        assert len(made) < 40 * len(markup)
        assert made.count("<") < 12 * 1_000, few
