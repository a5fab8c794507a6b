from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.execution import Execution
from autograder.grading.experiments import AS_SUBMITTED, claim_output, claims, stand_in
from autograder.grading.submission import Submission, rebuild
from autograder.grading.template import Template
from autograder.sandbox.limits import Limits

from .fakes import FakeSandbox
from .toy import ADD, ANSWERS, TEMPLATE, find, notebook, raw

NUMBERS = {"ratios": [0.5, 1e-9], "depth": 12, "never": None, "data": "textures", "bounded": True}
CELL = "def helper():\n    return 7\n\nlimit = 3\nfirst = helper() + undefined\nsecond = 2"


def experimental(*grade_ids: str) -> Template:
    cells = tuple(replace(cell, experiment=cell.grade_id in grade_ids) for cell in TEMPLATE.cells)
    return replace(TEMPLATE, cells=cells)


def submission(outputs: Any, source: str = CELL) -> Submission:
    data = notebook({**ANSWERS, "pair": source})
    find(data, "pair")["outputs"] = outputs
    return rebuild(raw(data), experimental("pair"))


def run(given: Submission, rerun: bool = False) -> tuple[FakeSandbox, Execution]:
    sandbox = FakeSandbox()
    execution = Execution(given, sandbox.as_sandbox(), Limits(), rerun=rerun)
    execution.run()
    return sandbox, execution


# ---- reading claims ----


def test_a_claim_is_read_as_record_wrote_it() -> None:
    assert claims([claim_output("depth", NUMBERS)]) == {"depth": NUMBERS}


@pytest.mark.parametrize("kind", ["text", "lines"])
def test_a_claim_may_be_stored_as_text(kind: str) -> None:
    text = json.dumps({"claim": "depth", "numbers": NUMBERS})
    data = {"application/json": text if kind == "text" else text.splitlines(keepends=True)}
    assert claims([{"output_type": "display_data", "data": data}]) == {"depth": NUMBERS}


def test_the_last_claim_of_a_name_wins() -> None:
    found = claims([claim_output("a", {"x": 1}), claim_output("b", {"x": 2}), claim_output("a", {"x": 3})])
    assert found == {"b": {"x": 2}, "a": {"x": 3}}


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        [],
        ["a", 1],
        "no JSON",
        "[" * 100_000,
        '"' + "x" * 100_000 + '"',
        {"claim": "depth"},
        {"claim": 3, "numbers": {}},
        {"claim": "depth", "numbers": [1]},
        {"claim": "depth", "numbers": {"x": float("nan")}},
        {"claim": "depth", "numbers": {"x": float("inf")}},
        {"claim": "depth", "numbers": {"x": 2**60}},
        {"claim": "depth", "numbers": {"x": {"y": 1}}},
        {"claim": "depth", "numbers": {"x": [[[[1]]]]}},
        {"claim": "depth", "numbers": {"x": [0] * 5_000}},
        {"claim": "depth", "numbers": {"x": "w" * 61}},
        {"claim": "depth", "numbers": {"k" * 61: 1}},
        {"claim": "depth", "numbers": {f"k{i}": 1 for i in range(101)}},
        '{"claim": "depth", "numbers": {"x": NaN}}',
    ],
)
def test_what_is_no_claim_is_left_out(data: Any) -> None:
    assert claims([{"output_type": "display_data", "data": {"application/json": data}}]) == {}


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4))
def test_no_output_breaks_the_reading(outputs: list[Any]) -> None:
    made = [{"data": {"application/json": one}} for one in outputs]
    assert isinstance(claims([*outputs, *made]), dict)


# ---- what is run instead ----


def test_definitions_stand_in_at_their_own_lines() -> None:
    source = 'import a\n@b\ndef f():\n    """Two\n    lines."""\n\nx = train()\nclass A:\n    y = 1\nz = [1]'
    made = stand_in(source, {})
    assert made == source.replace("x = train()", "")


def test_the_claims_stand_in_for_what_was_recorded() -> None:
    names: dict[str, Any] = {"RECORDED": {}}
    exec(stand_in("x = slow()", {"depth": NUMBERS}), names)
    assert names["RECORDED"] == {"depth": NUMBERS}
    assert "x" not in names


@pytest.mark.parametrize("source", ["%time train()", "def f(:", "x = = 1", "(" * 500, ""])
def test_a_cell_that_is_no_python_leaves_its_claims_alone(source: str) -> None:
    assert stand_in(source, {}).strip() == ""
    assert stand_in(source, {"a": {"x": 1}}).strip() == "RECORDED.update({'a': {'x': 1}})"


@given(st.text(max_size=200))
def test_no_text_breaks_the_stand_in(source: str) -> None:
    assert isinstance(stand_in(source, {"a": {"x": 1}}), str)


# ---- in a submission ----


def test_an_experiment_keeps_its_outputs_and_is_not_run() -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": ["eight ", "trainings\n"]}
    sandbox, execution = run(submission([shown, claim_output("depth", NUMBERS)]))
    assert execution.claims == {"depth": NUMBERS}
    assert execution.again == {}
    place = next(i for i, cell in enumerate(execution.submission.cells) if cell.outputs is not None)
    first, second, third = execution.runs[place].outputs
    assert first["text"] == AS_SUBMITTED
    assert second["text"] == "eight trainings\n"
    assert third["data"]["application/json"]["claim"] == "depth"
    ran = [source for source in sandbox.ran[0] if "helper" in source]
    assert len(ran) == 1
    assert "undefined" not in ran[0]


def test_later_cells_find_the_definitions_and_the_claims() -> None:
    _, execution = run(submission([claim_output("depth", NUMBERS)], "RECORDED = {}\n" + CELL))
    session = execution.session()
    assert session is not None
    assert session.call("pair", "helper", (), {}, 1.0) == 7
    assert session.value("pair", "limit", 1.0) == 3
    assert session.value("pair", "RECORDED", 1.0) == {"depth": NUMBERS}


def test_a_rerun_runs_the_cell_and_reads_what_it_records() -> None:
    sandbox, execution = run(submission([claim_output("depth", NUMBERS)]), rerun=True)
    assert CELL in sandbox.ran[0]
    assert execution.claims == {"depth": NUMBERS}
    place = next(i for i, cell in enumerate(execution.submission.cells) if cell.outputs is not None)
    assert "ran def helper():" in str(execution.runs[place].outputs)
    execution.runs[place].outputs = [claim_output("depth", {"x": 1})]
    assert execution.again == {"depth": {"x": 1}}


@pytest.mark.parametrize("outputs", [None, 7, "x", [None, 3, "x"], [{"data": 1}], [{"output_type": []}]])
def test_spoiled_outputs_are_no_claims(outputs: Any) -> None:
    _, execution = run(submission(outputs))
    assert execution.claims == {}


def test_claims_count_from_experiments_alone() -> None:
    data = notebook(ANSWERS)
    find(data, "add")["outputs"] = [claim_output("depth", NUMBERS)]
    _, execution = run(rebuild(raw(data), experimental("pair")))
    assert execution.claims == {}


def test_the_key_covers_an_experiments_outputs_and_no_others() -> None:
    plain = submission([])
    assert submission([claim_output("depth", NUMBERS)]).digest != plain.digest
    assert (
        submission([claim_output("depth", NUMBERS)]).digest
        == submission([claim_output("depth", NUMBERS)]).digest
    )
    data = notebook({**ANSWERS, "add": ADD})
    before = rebuild(raw(data), TEMPLATE).digest
    find(data, "add")["outputs"] = [claim_output("depth", NUMBERS)]
    assert rebuild(raw(data), TEMPLATE).digest == before


def test_an_experiment_that_is_missing_has_no_claims() -> None:
    data = notebook(ANSWERS)
    data["cells"] = [cell for cell in data["cells"] if cell is not find(data, "pair")]
    _, execution = run(rebuild(raw(data), experimental("pair")))
    assert execution.claims == {}


def test_a_cell_that_is_too_long_is_not_parsed() -> None:
    """It defines nothing then, and its claims are there."""
    short, long = "limit = 3\n" * 100, "limit = 3\n" * 6_000
    assert stand_in(short, {}).count("limit = 3") == 100
    assert stand_in(long, {"depth": {"x": 1}}).strip() == "RECORDED.update({'depth': {'x': 1}})"


def test_no_more_claims_are_kept_than_an_experiment_makes() -> None:
    found = claims(claim_output(f"claim {number}", {"x": number}) for number in range(500))
    assert len(found) == 50
    assert found["claim 0"] == {"x": 0}
