from __future__ import annotations

import codecs
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.grading import reading, salvage
from autograder.grading.reading import StudentCell, encodable, read_notebook

from .toy import extra, notebook, raw


def of(cells: Any) -> tuple[list[StudentCell], list[str]]:
    return read_notebook(raw({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def test_a_sound_notebook_is_read_without_a_word() -> None:
    cells, notes = read_notebook(raw(notebook()))
    assert notes == []
    assert [cell.grade_id for cell in cells[:4]] == ["title", "environment", "add_statement", "add"]
    assert cells[0] == StudentCell("markdown", "# Toy", "title")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b" \n\t ", "is empty", id="blank"),
        pytest.param(b'{"cells": [\n{"cell_type"', "(line 2)", id="cut short"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "not a readable notebook", id="a picture"),
        pytest.param(b"PK\x03\x04", "a compressed archive, not a notebook", id="an archive"),
        pytest.param(b"# %%\nprint(1)\n", "not a readable notebook", id="a script"),
        pytest.param(b"[" * 100_000, "not a readable notebook", id="nested too deep"),
        pytest.param(b"1" * 10_000, "not a readable notebook", id="number too long"),
        pytest.param(b"[]", "JSON but not a notebook", id="a list"),
        pytest.param(b"null", "JSON but not a notebook", id="null"),
        pytest.param(b"{}", "has no cells", id="no cells"),
        pytest.param(b'{"cells": {"0": {}}}', "has no cells", id="cells is a dict"),
        pytest.param(b'{"cells": null}', "has no cells", id="cells is null"),
        pytest.param(b'{"cells": "print(1)"}', "has no cells", id="cells is a text"),
        pytest.param(b'{"worksheets": 3}', "has no cells", id="worksheets is a number"),
    ],
)
def test_what_is_no_notebook_has_no_cells_and_says_why(data: bytes, words: str) -> None:
    cells, notes = read_notebook(data)
    assert cells == []
    assert len(notes[-1].splitlines()) == 1
    assert words in " ".join(notes)


def test_a_notebook_without_cells_is_one() -> None:
    assert of([]) == ([], ["The notebook has no cells; no answer was found in it."])


def test_a_huge_file_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_FILE_LIMIT", 1 << 20)
    cells, notes = read_notebook(b" " * (1 << 20) + b"{}")
    assert cells == []
    assert notes == ["The submitted file is larger than 1 MiB and was not read."]


@pytest.mark.parametrize(
    ("encode", "note"),
    [
        pytest.param(lambda text: codecs.BOM_UTF8 + text.encode(), "byte order mark", id="utf-8 with mark"),
        pytest.param(lambda text: text.encode("utf-16"), "UTF-16", id="utf-16"),
        pytest.param(lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"), "UTF-16", id="utf-16 be"),
        pytest.param(lambda text: text.encode("latin-1"), "not valid UTF-8", id="latin-1"),
    ],
)
def test_other_encodings_are_read_and_said(encode: Any, note: str) -> None:
    text = json.dumps(notebook({"add": "x = 'é'"}), ensure_ascii=False)
    cells, notes = read_notebook(encode(text))
    assert len(cells) == len(notebook()["cells"])
    assert cells[3].source in ("x = 'é'", "x = '\ufffd'")
    assert len(notes) == 1
    assert note in notes[0]


def test_windows_line_ends_are_the_same_text() -> None:
    windows, notes = read_notebook(json.dumps(notebook(), indent=1).replace("\n", "\r\n").encode())
    assert windows == read_notebook(raw(notebook()))[0]
    assert notes == []
    cells, _ = of([extra("def f():\r\n    return 1\r")])
    assert cells[0].source == "def f():\n    return 1\n"


def test_a_source_may_be_a_list_of_lines() -> None:
    cells, notes = of([extra(["a = 1\n", "b = 2"])])  # type: ignore[arg-type]
    assert cells[0].source == "a = 1\nb = 2"
    assert notes == []


@pytest.mark.parametrize(
    ("source", "read"),
    [
        pytest.param("def f():\n    return 1", "def f():\n    return 1", id="text"),
        pytest.param(["def f():\n", "    return 1"], "def f():\n    return 1", id="lines with ends"),
        pytest.param(["def f():", "    return 1"], "def f():\n    return 1", id="lines without ends"),
        pytest.param(None, "", id="null"),
    ],
)
def test_version_3_is_converted(source: Any, read: str) -> None:
    metadata = {"nbgrader": {"grade_id": "f"}}
    sheet = {
        "cells": [
            {"cell_type": "heading", "level": 1, "source": ["Title"]},
            {"cell_type": "code", "input": source, "language": "python", "metadata": metadata},
        ]
    }
    cells, notes = read_notebook(raw({"nbformat": 3, "worksheets": [sheet, {"cells": None}, 3, {}]}))
    assert cells == [StudentCell("markdown", "Title", None), StudentCell("code", read, "f")]
    assert "old format (3 or earlier)" in notes[0]


@pytest.mark.parametrize(
    ("cell", "kind", "note"),
    [
        pytest.param(3, None, "Cell 2 is not a cell", id="number"),
        pytest.param("print(1)", None, "Cell 2 is not a cell", id="text"),
        pytest.param(None, None, "Cell 2 is not a cell", id="null"),
        pytest.param({"cell_type": "slide", "source": ""}, "raw", "unknown type", id="unknown type"),
        pytest.param({"cell_type": ["code"], "source": ""}, "raw", "unknown type", id="type is a list"),
        pytest.param({}, "raw", "unknown type", id="nothing in it"),
        pytest.param({"cell_type": "code", "source": 3}, "code", "no readable text", id="source is a number"),
        pytest.param(
            {"cell_type": "code", "source": {"a": 1}}, "code", "no readable text", id="source is a dict"
        ),
        pytest.param({"cell_type": "code", "source": [1, None]}, "code", None, id="lines are not text"),
        pytest.param({"cell_type": "code"}, "code", None, id="no source"),
        pytest.param(
            {"cell_type": "code", "source": "", "metadata": 3}, "code", None, id="metadata is a number"
        ),
        pytest.param(
            {"cell_type": "code", "source": "", "metadata": {"nbgrader": []}},
            "code",
            None,
            id="nbgrader is a list",
        ),
        pytest.param(
            {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": {}}}},
            "code",
            None,
            id="grade_id is a dict",
        ),
        pytest.param(
            {"cell_type": "code", "source": "", "metadata": {"nbgrader": {"grade_id": ""}}},
            "code",
            None,
            id="grade_id is blank",
        ),
    ],
)
def test_a_spoiled_cell_spoils_no_other(cell: Any, kind: str | None, note: str | None) -> None:
    cells, notes = of([extra("a = 1"), cell, extra("b = 2")])
    assert [one.source for one in cells if one.source] == ["a = 1", "b = 2"]
    assert len(cells) == (2 if kind is None else 3)
    if kind is not None:
        assert cells[1] == StudentCell(kind, "", None)
    assert len(notes) == (0 if note is None else 1)
    assert note is None or note in notes[0]


def test_lone_surrogates_do_not_survive() -> None:
    cells, _ = read_notebook(b'{"cells": [{"cell_type": "code", "source": "x = \'\\ud800\'"}]}')
    assert cells[0].source == "x = '?'"


def test_half_a_character_survives_nowhere() -> None:
    half = "\ud83d"
    output = {
        "output_type": half,
        "data": {f"text/{half}": [half, {"deep": [half]}]},
        "metadata": {half: half},
    }
    cell = {**extra("x"), "outputs": [output], "metadata": {"nbgrader": {"grade_id": f"a{half}"}}}
    cells, _ = of([cell])
    assert cells[0].grade_id == "a?"
    assert cells[0].outputs == (
        {"output_type": "?", "data": {"text/?": ["?", {"deep": ["?"]}]}, "metadata": {"?": "?"}},
    )
    damaged = b"<<<<<<< HEAD\n" + raw({"cells": [cell]})
    salvaged, notes = read_notebook(damaged)
    assert len(notes) == 1
    assert salvaged == cells


@settings(deadline=None)
@given(
    st.recursive(
        st.text(st.characters(), max_size=6),
        lambda one: st.lists(one) | st.dictionaries(st.text(max_size=3), one),
    )
)
@example("\ud83d\ude00")
@example("\ude00\ud83d")
@example("\ud83d\ud83d\ude00\ude00")
@example("\\ud83d")
@example("\\\\ud83d\\\ud83d")
@example("\ud83d\\\ude00")
def test_whatever_json_holds_can_be_encoded_and_whole_characters_stay(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=True)
    found = json.dumps(json.loads(encodable(text)), ensure_ascii=False)
    assert found.encode() == json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")


def test_a_huge_cell_is_cut_and_said() -> None:
    cells, notes = of([extra("x" * 600_000)])
    assert len(cells[0].source) == 500_000
    assert notes == ["Cell 1 holds more than 500000 characters; the rest was cut."]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"cells": [' + b"[]," * 4_900_000 + b"[]]}", id="lists"),
        pytest.param(b'{"cells": [' + b'{"a":1},' * 400_000 + b"1]}", id="objects"),
        pytest.param(b'{"cells": [' + b"1," * 600_000 + b"1]}", id="numbers"),
        pytest.param(b'{"cells": [' + b'"",' * 1_200_000 + b"1]}", id="texts"),
        pytest.param(('{"cells": ["\u2200",' + "[]," * 300_000 + "1]}").encode("utf-16"), id="utf-16"),
        pytest.param(b'{"cells": [{"outputs": [' + b"[]," * 600_000 + b"1]}]}", id="small outputs"),
        pytest.param(b'{"cells": [{"outputs": [' + b"[" * 600_000, id="nested outputs"),
        pytest.param(b'{"cells": [' + b'"outputs": ["' * 700_000, id="outputs without an end"),
    ],
)
def test_a_file_of_many_parts_is_not_parsed(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_text", _refuse)
    cells, notes = read_notebook(data)
    assert cells == []
    assert notes == [
        "The submitted file has too many parts to be a notebook and was not read. "
        "Clear all outputs of the notebook, then hand it in again."
    ]


def _refuse(*_: Any) -> str:
    raise AssertionError("the file was parsed")


def test_a_file_that_is_large_without_its_outputs_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_text", _refuse)
    cells, notes = of([extra("\U0001f600" + "x" * (17 << 20))])
    assert cells == []
    assert notes == [
        "The submitted file holds more than 16 MiB besides its outputs and was not read. "
        "Take data and pictures out of the notebook's cells, then hand it in again."
    ]


PRINTED = {"output_type": "stream", "name": "stdout", "text": "1, 2, " * 2_000_000}
LINES = {"output_type": "stream", "name": "stdout", "text": ["1, 2\n"] * 700_000}
SMALL = {"output_type": "display_data", "data": {"application/json": {"claim": "depth"}}}


@pytest.mark.parametrize("large", [PRINTED, LINES], ids=["one text", "lines"])
def test_large_outputs_of_a_huge_file_are_left_out_and_said(large: Any) -> None:
    quoted = extra("a = '\"outputs\": [1, 2]'")
    cells, notes = of([quoted, {**extra("b = 1"), "outputs": [SMALL, large, SMALL]}])
    assert [cell.source for cell in cells] == ["a = '\"outputs\": [1, 2]'", "b = 1"]
    assert [one for one in cells[1].outputs if one is not None] == [SMALL, SMALL]
    assert notes == [
        "The file is very large: outputs and pasted pictures of more than 1024 KiB were left out of it (1). "
        "No answer stands in them."
    ]


def test_many_outputs_of_a_huge_file_are_left_out_but_claims_are_not() -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": "x" * 100_000}
    cells, notes = of([{**extra(f"a = {number}"), "outputs": [shown, SMALL]} for number in range(300)])
    assert [cell.source for cell in cells] == [f"a = {number}" for number in range(300)]
    assert all(SMALL in cell.outputs for cell in cells)
    assert "outputs and pasted pictures of more than 64 KiB were left out of it (300)" in notes[0]


def test_pasted_pictures_of_a_huge_file_are_left_out() -> None:
    pasted = {"cell_type": "markdown", "source": "![a](attachment:a.png)", "metadata": {}}
    cells, notes = of([{**pasted, "attachments": {"a.png": {"image/png": "x" * (13 << 20)}}}] * 2)
    assert [cell.source for cell in cells] == ["![a](attachment:a.png)"] * 2
    assert "were left out of it (2)" in notes[0]


def test_commas_in_a_text_are_no_parts() -> None:
    cells, notes = of([extra("a = [" + "1, " * 160_000 + "]") for _ in range(4)])
    assert len(cells) == 4
    assert notes == []


def test_an_output_nested_deeper_than_its_readers_can_follow_is_left_out() -> None:
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    cells, _ = of([{**extra("a = 1"), "outputs": [{"data": deep}, SMALL]}])
    assert cells[0].outputs == (SMALL,)


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param('<<<<<<< HEAD\n{"cells": []}\n' + "\n" * 250_000, id="lines"),
        pytest.param('{"cells": ["' + "[]," * 300_000 + '" {"cell_type": "code", "source": ""}', id="parts"),
    ],
)
def test_a_damaged_file_is_searched_up_to_a_size(damaged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(salvage, "_keep", _refuse)
    monkeypatch.setattr(salvage, "json", SimpleNamespace(JSONDecoder=_NoDecoder))
    cells, notes = read_notebook(damaged.encode())
    assert cells == []
    assert "not a readable notebook" in notes[0]


class _NoDecoder(json.JSONDecoder):
    def raw_decode(self, s: str, idx: int = 0) -> Any:
        raise AssertionError("the file was parsed")


def test_a_search_for_whole_cells_reads_little_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    class Noting(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> Any:
            tried.append(idx)
            return super().raw_decode(s, idx)

    parser = SimpleNamespace(JSONDecoder=Noting, JSONDecodeError=json.JSONDecodeError)
    monkeypatch.setattr(salvage, "json", parser)
    text = '{"cells": [' + '{"cell_type": [' * 60 + '"' + "x" * (10 << 20) + '" ?'
    assert read_notebook(text.encode())[0] == []
    assert len(tried) == 2, "ten million characters each, of 16 in all"


def test_too_many_cells_are_left_out_and_said() -> None:
    cells, notes = of([extra("")] * 2_001)
    assert len(cells) == 2_000
    assert notes == ["The notebook has 2001 cells; only the first 2000 were read."]


def _sound(cells: list[StudentCell], notes: list[str]) -> None:
    for cell in cells:
        assert cell.cell_type in ("code", "markdown", "raw")
        cell.source.encode()
        assert cell.grade_id is None or cell.grade_id
    for note in notes:
        assert note.endswith(".")
        assert note.isprintable()


@settings(deadline=None)
@given(st.binary(max_size=400))
@example(codecs.BOM_UTF16_LE + b"{")
@example(codecs.BOM_UTF32_LE + b"{\0\0\0")
@example(b'{"cells": [NaN, Infinity]}')
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    _sound(*read_notebook(data))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "worksheets",
                    "cell_type",
                    "source",
                    "input",
                    "metadata",
                    "nbgrader",
                    "grade_id",
                    "level",
                ]
            ),
            inner | st.sampled_from(["code", "markdown", "heading"]),
            max_size=4,
        )
    ),
    max_leaves=25,
)


@settings(deadline=None)
@given(anything, st.booleans())
def test_any_json_is_read_without_an_error(data: Any, old: bool) -> None:
    _sound(*read_notebook(raw(data)))
    _sound(*read_notebook(raw({"worksheets": data} if old else {"cells": data})))
    _sound(*read_notebook(raw({"worksheets": [{"cells": data}]} if old else {"cells": [data]})))
