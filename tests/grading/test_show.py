from __future__ import annotations

import base64
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.show import safe_outputs, safe_text

from .pictures import jpeg, png

PNG = base64.b64encode(png(3, 2)).decode()
JPEG = base64.b64encode(jpeg(3, 2)).decode()
HIDDEN = "[A part of this output can not be shown here.]"


def shown(*outputs: Any, budget: int = 10_000) -> list[dict[str, Any]]:
    return safe_outputs(list(outputs), budget)[0]


def data(**bundle: Any) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {key.replace("_", "/").replace("svg", "svg+xml"): value for key, value in bundle.items()},
    }


def test_a_picture_and_its_text_are_shown() -> None:
    assert shown(data(image_png=PNG, text_plain="<Figure>"))[0]["data"] == {
        "text/plain": "<Figure>",
        "image/png": PNG,
    }
    assert shown(data(image_jpeg=JPEG))[0]["data"] == {"image/jpeg": JPEG}


@pytest.mark.parametrize(("width", "height"), [(100_000, 100_000), (50_000, 1), (9_000, 9_000), (0, 9)])
def test_a_picture_that_no_browser_can_hold_is_not_shown(width: int, height: int) -> None:
    """A few bytes may say so: they are a picture of 40 GB where they are shown."""
    large = base64.b64encode(png(width, height)).decode()
    words = f"[A picture of {width} by {height} pixels cannot be shown here.]"
    assert shown(data(image_png=large, text_plain="<Figure>"))[0]["data"] == {"text/plain": words}


def test_a_picture_without_a_size_is_not_shown() -> None:
    bare = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"picture").decode()
    assert shown(data(image_png=bare))[0]["data"] == {"text/plain": HIDDEN}


def test_a_picture_may_come_in_lines() -> None:
    lines = "\n".join(PNG[at : at + 8] for at in range(0, len(PNG), 8)) + "\n"
    assert shown(data(image_png=lines))[0]["data"] == {"image/png": PNG}


@pytest.mark.parametrize(
    "bundle",
    [
        pytest.param({"text_html": "<script>alert(1)</script>"}, id="html"),
        pytest.param({"image_svg": "<svg onload='alert(1)'/>"}, id="svg"),
        pytest.param({"application_javascript": "alert(1)"}, id="javascript"),
        pytest.param({"text_markdown": "[x](javascript:alert(1))"}, id="markdown"),
        pytest.param({"text_latex": r"\input{/etc/passwd}"}, id="latex"),
        pytest.param({"application_pdf": PNG}, id="pdf"),
        pytest.param({"image_gif": PNG}, id="gif"),
        pytest.param({"image_png": "not base64!"}, id="bad base64"),
        pytest.param({"image_png": PNG[:-3]}, id="cut base64"),
        pytest.param({"image_png": base64.b64encode(b"<svg/>").decode()}, id="svg called png"),
        pytest.param({"image_png": JPEG}, id="jpeg called png"),
        pytest.param({"image_png": [PNG]}, id="list"),
        pytest.param({"image_png": "é"}, id="not ascii"),
        pytest.param({"text_plain": 3}, id="text is a number"),
        pytest.param({}, id="nothing"),
    ],
)
def test_what_a_browser_could_run_or_not_read_is_dropped(bundle: dict[str, Any]) -> None:
    assert shown(data(**bundle))[0]["data"] == {"text/plain": HIDDEN}
    assert shown(data(**bundle, image_jpeg=JPEG))[0]["data"] == {"image/jpeg": JPEG}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", id="colour"),
        pytest.param("\x1b[2J\x1b[Hcleared", "cleared", id="clear screen"),
        pytest.param("\x1b]0;title\x07x", "x", id="window title"),
        pytest.param("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link", id="hyperlink"),
        pytest.param("\x1bcreset", "creset", id="reset"),
        pytest.param("\x1b\x1b[31m", "\x1b[31m", id="escape before a colour"),
        pytest.param("a\x00b\x07c\x08d\x7fe\x9bf", "abcdef", id="control characters"),
        pytest.param("\u202etxt.exe\u202c", "txt.exe", id="direction overrides"),
        pytest.param("tab\tand\nline", "tab\tand\nline", id="tab and line"),
        pytest.param(3, "", id="number"),
        pytest.param(None, "", id="nothing"),
    ],
)
def test_text_keeps_colours_and_loses_every_other_escape(text: Any, kept: str) -> None:
    assert safe_text(text) == kept


def test_a_long_text_is_cut_and_says_so() -> None:
    assert safe_text("x" * 100, limit=10) == "x" * 10 + "\n[cut]\n"
    assert safe_text("x" * 10, limit=10) == "x" * 10


def test_an_error_is_shown_with_its_traceback() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "v\x07", "traceback": ["\x1b[31ma\x1b[0m", 3]}
    assert shown(error) == [
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31ma\x1b[0m", ""]}
    ]
    assert shown({"output_type": "error"})[0]["traceback"] == []


def test_streams_are_standard_output_or_standard_error() -> None:
    names = [
        one["name"] for one in shown(*({"output_type": "stream", "name": n} for n in ("stderr", "x", 3)))
    ]
    assert names == ["stderr", "stdout", "stdout"]


@pytest.mark.parametrize(
    "output", [None, 3, "text", [], {}, {"output_type": "update_display_data"}, {"output_type": {}}]
)
def test_what_is_no_output_is_left_out(output: Any) -> None:
    assert shown(output) == []


def test_a_bundle_that_is_no_dict_is_hidden() -> None:
    assert shown({"output_type": "display_data", "data": "x"})[0]["data"] == {"text/plain": HIDDEN}


def test_a_result_never_carries_a_number_that_could_pass_for_a_score() -> None:
    result = shown({"output_type": "execute_result", "execution_count": 7, "data": {"text/plain": "2"}})
    assert result[0]["execution_count"] is None


REST = {
    "output_type": "stream",
    "name": "stdout",
    "text": "[The rest of the outputs is not kept here: there were too many, or they were too large.]\n",
}


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600"])
def test_all_outputs_together_keep_to_the_budget_and_say_so(character: str) -> None:
    stream = {"output_type": "stream", "name": "stdout", "text": character * 9_000}
    outputs, left = safe_outputs([stream] * 10, 80_000)
    assert outputs.pop() == REST
    assert len(outputs) == -(-80_000 // len(stream["text"].encode()))
    assert left <= 0
    assert safe_outputs([stream], left)[0] == [REST]
    assert safe_outputs([], left)[0] == []
    assert shown(data(image_png=PNG, text_plain="x"), budget=10)[0]["data"] == {"text/plain": "x"}


def test_there_are_not_endlessly_many_outputs() -> None:
    empty = {"output_type": "stream", "text": ""}
    outputs = shown(*[empty] * 600, budget=1 << 24)
    assert len(outputs) == 501
    assert outputs[-1] == REST
    assert len(shown(*[empty] * 500, budget=1 << 24)) == 500


def test_the_cells_of_a_notebook_share_some_two_thousand_outputs() -> None:
    """nbformat takes 5 kB for each, so that 500 in each of 2 000 cells were 5 GB and 84 s."""
    budget, kept = 16 << 20, 0
    for _ in range(2_000):
        outputs, budget = safe_outputs([data(text_plain="1")] * 500, budget)
        kept += sum(one != REST for one in outputs)
    assert 2_000 < kept < 2_100


def test_a_traceback_of_many_lines_is_cut() -> None:
    error = {"output_type": "error", "traceback": ["x" * 30_000] * 200}
    lines = shown(error, budget=1 << 24)[0]["traceback"]
    assert 100_000 <= sum(map(len, lines)) < 101_000


def test_many_escapes_are_read_in_one_pass() -> None:
    """Each of these began a search of its own, or a part of its own."""
    for text, kept in (("\x1b[1;31ma", None), ("\x1b", ""), ("\x1b[1;1;1;1", "[1;1;1;1"), ("\x1b]a", "")):
        assert safe_text(text * 100_000, 1 << 24) == (text if kept is None else kept) * 100_000


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["output_type", "name", "text", "data", "text/plain", "image/png", "ename", "traceback"]
            ),
            inner | st.sampled_from(["stream", "error", "display_data", "execute_result", "stderr", PNG]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(junk, max_size=4))
def test_whatever_a_sandbox_sends_is_made_into_valid_outputs(outputs: list[Any]) -> None:
    cell = nbformat.v4.new_code_cell("x", id="x", outputs=shown(*outputs))
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    for one in cell.outputs:
        for text in (one.get("text", ""), *one.get("data", {}).values(), *one.get("traceback", [])):
            assert "\x00" not in text
            assert "<script" not in one.get("data", {}).get("text/html", "")
