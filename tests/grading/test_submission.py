from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.answers import AnswerSheet
from autograder.grading.submission import REPAIRS_LIMIT, PlannedCell, Submission, rebuild
from autograder.grading.template import Role

from .toy import ADD, ANSWERS, IDS, PAIR, STUB, TEMPLATE, WHY, Notebook, extra, find, notebook, place, raw

ROOT = Path(__file__).parents[2]
Spoil = Callable[[Notebook], None]


def of(data: Any, **about: Any) -> Submission:
    return rebuild(raw(data), TEMPLATE, **about)


def answers(submission: Submission) -> dict[str, str]:
    """What stands in the answer cells."""
    return {
        cell.template.grade_id: cell.source
        for cell in submission.cells
        if cell.template and cell.template.role in (Role.SOLUTION, Role.WRITTEN)
    }


def extras(submission: Submission) -> list[str]:
    return [cell.source for cell in submission.cells if cell.template is None]


def check_course_cells(submission: Submission) -> None:
    """Whatever was handed in: every course cell once, in order, with the course's own text and type."""
    course = [cell for cell in submission.cells if cell.template is not None]
    assert [cell.template for cell in course] == list(TEMPLATE.cells)
    for cell in course:
        assert cell.template is not None
        assert cell.cell_type == cell.template.cell_type
        if cell.template.role in (Role.LOCKED, Role.CHECKS):
            assert cell.source == cell.template.source
    snapshots = [name for cell in submission.cells for name in cell.snapshots]
    assert sorted(snapshots) == sorted(submission.attempted | set(snapshots))
    assert len(set(submission.repairs)) == len(submission.repairs), "a repair was said twice"
    for repair in submission.repairs:
        assert repair.endswith(".")
        assert repair.isprintable()


# ---- what needs no repair ----


def test_an_untouched_notebook_attempts_nothing() -> None:
    submission = of(notebook())
    check_course_cells(submission)
    assert submission.attempted == frozenset()
    assert submission.repairs == ()
    assert extras(submission) == []


def test_answers_are_found_in_their_cells() -> None:
    submission = of(notebook(ANSWERS))
    check_course_cells(submission)
    assert answers(submission) == ANSWERS
    assert submission.attempted == {"add", "pair"}
    assert submission.repairs == ()


def test_only_what_was_changed_was_attempted() -> None:
    assert of(notebook({"pair": PAIR})).attempted == {"pair"}


@pytest.mark.parametrize("blank", [STUB + "\n\n", "\n" + STUB, STUB.replace("\n", "  \n")])
def test_blanks_alone_are_no_attempt(blank: str) -> None:
    assert of(notebook({"add": blank})).attempted == frozenset()


def test_names_are_taken_at_the_exercises_own_grade_cell() -> None:
    submission = of(notebook(ANSWERS))
    taken = {name: cell.template for cell in submission.cells for name in cell.snapshots}
    assert {name: cell and cell.grade_id for name, cell in taken.items()} == {
        "add": "add_checks",
        "pair": "pair_checks",
    }


def test_nothing_was_submitted() -> None:
    submission = rebuild(None, TEMPLATE)
    check_course_cells(submission)
    assert submission.attempted == frozenset()
    assert submission.repairs == ("No notebook was submitted; nothing could be graded.",)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b"\xff\xfe"])
def test_a_file_that_is_no_notebook_is_an_untouched_one_with_a_sentence(data: bytes) -> None:
    submission = rebuild(data, TEMPLATE)
    check_course_cells(submission)
    assert submission.attempted == frozenset()
    assert "found in it" in submission.repairs[-1] or "is empty" in submission.repairs[-1]


def test_notes_of_the_folder_come_first_and_files_go_along() -> None:
    submission = of(notebook(), notes=("The notebook was renamed.",), files={"data.csv": b"1,2"})
    assert submission.repairs == ("The notebook was renamed.",)
    assert submission.files == {"data.csv": b"1,2"}


# ---- what is repaired: each case with the sentences that are said, and no answer lost ----


def delete(*grade_ids: str) -> Spoil:
    def spoil(data: Notebook) -> None:
        data["cells"] = [data["cells"][place(data, one)] for one in IDS if one not in grade_ids]

    return spoil


def duplicate(grade_id: str, source: str | None = None, first: bool = False) -> Spoil:
    def spoil(data: Notebook) -> None:
        number = place(data, grade_id)
        twin = copy.deepcopy(data["cells"][number])
        twin["source"] = twin["source"] if source is None else source
        data["cells"].insert(number + (not first), twin)

    return spoil


def move(grade_id: str, to: int) -> Spoil:
    def spoil(data: Notebook) -> None:
        data["cells"].insert(to, data["cells"].pop(place(data, grade_id)))

    return spoil


def edit(grade_id: str, /, **changes: Any) -> Spoil:
    def spoil(data: Notebook) -> None:
        find(data, grade_id).update(changes)

    return spoil


def metadata(grade_id: str, /, **changes: Any) -> Spoil:
    def spoil(data: Notebook) -> None:
        find(data, grade_id)["metadata"]["nbgrader"].update(changes)

    return spoil


def merge(*grade_ids: str, keep: str) -> Spoil:
    def spoil(data: Notebook) -> None:
        text = "\n\n".join(find(data, one)["source"] for one in grade_ids)
        find(data, keep)["source"] = text
        delete(*(one for one in grade_ids if one != keep))(data)

    return spoil


def everything(change: Callable[[dict[str, Any]], object]) -> Spoil:
    def spoil(data: Notebook) -> None:
        for cell in data["cells"]:
            change(cell)

    return spoil


NOTHING: list[str] = []
REPAIRED = {
    "grade cell deleted": (
        delete("add_checks"),
        ["The cell 'add_checks' was missing and was put back."],
    ),
    "several cells deleted": (
        delete("title", "pair_checks"),
        [
            "The cell 'title' was missing and was put back.",
            "The cell 'pair_checks' was missing and was put back.",
        ],
    ),
    "locked cell edited": (
        edit("add_visible", source="assert True"),
        ["The course's cell 'add_visible' had been edited and was restored."],
    ),
    "grade cell edited": (
        edit("add_checks", source="print('2.0')"),
        ["The course's cell 'add_checks' had been edited and was restored."],
    ),
    "solution cell made markdown": (
        edit("add", cell_type="markdown"),
        ["The cell 'add' had become a markdown cell and was made a code cell again."],
    ),
    "grade cell made raw": (
        edit("add_checks", cell_type="raw"),
        ["The cell 'add_checks' had become a raw cell and was made a code cell again."],
    ),
    "statement made code": (
        edit("add_statement", cell_type="code"),
        ["The cell 'add_statement' had become a code cell and was made a markdown cell again."],
    ),
    "reordered": (
        move("pair_checks", 0),
        ["Cells had been moved; the course's order was restored."],
    ),
    "all reversed": (
        lambda data: data["cells"].reverse(),
        ["Cells had been moved; the course's order was restored."],
    ),
    "points edited": (metadata("add_checks", points=1000), NOTHING),
    "grade flags edited": (metadata("add_checks", grade=False, solution=True, locked=False), NOTHING),
    "solution marked as graded": (metadata("add", grade=True, points=50), NOTHING),
    "tags that skip execution": (
        everything(lambda cell: cell["metadata"].update(tags=["skip-execution", "illustration"])),
        NOTHING,
    ),
    "locked cell duplicated": (
        duplicate("add_visible"),
        ["Cell 'add_visible' stood more than once; an unchanged copy was left out."],
    ),
    "three copies": (
        lambda data: [duplicate("add_visible")(data), duplicate("add_visible")(data)],
        ["Cell 'add_visible' stood more than once; an unchanged copy was left out."],
    ),
    "stub duplicated after the answer": (
        duplicate("add", STUB),
        ["Cell 'add' stood more than once; an unchanged copy was left out."],
    ),
    "stub duplicated before the answer": (
        duplicate("add", STUB, first=True),
        ["Cell 'add' stood more than once; an unchanged copy was left out."],
    ),
    "copy of a course cell without metadata": (
        lambda data: data["cells"].append(extra("assert add(1, 2) == 3")),
        ["Cell 'add_visible' stood more than once; an unchanged copy was left out."],
    ),
    "stub copied without metadata": (
        lambda data: data["cells"].insert(place(data, "add_checks"), extra(STUB)),
        ["Cell 'add' stood more than once; an unchanged copy was left out."],
    ),
    "grade_id changed": (
        metadata("add", grade_id="addition"),
        ["The answer cell 'add' had lost its metadata; cell 4 of the notebook was taken for it."],
    ),
    "grade_id blank": (
        metadata("pair", grade_id=""),
        ["The answer cell 'pair' had lost its metadata; cell 10 of the notebook was taken for it."],
    ),
    "grade_id of a written answer lost": (
        metadata("why_written", grade_id=None),
        ["The answer cell 'why_written' had lost its metadata; cell 8 of the notebook was taken for it."],
    ),
    "grade_id of a locked cell lost": (
        metadata("environment", grade_id=None),
        ["The metadata of 1 cells was lost; they were recognised by their text."],
    ),
    "grade cell's grade_id put on the answer": (
        metadata("add", grade_id="add_checks"),
        [
            "A changed copy of the course's cell 'add_checks' was kept as an extra cell.",
            "The answer cell 'add' had lost its metadata; cell 4 of the notebook was taken for it.",
        ],
    ),
    "metadata wholly lost": (
        everything(lambda cell: cell.update(metadata={})),
        [
            "The metadata of 9 cells was lost; they were recognised by their text.",
            "The answer cell 'add' had lost its metadata; cell 4 of the notebook was taken for it.",
            "The answer cell 'why_written' had lost its metadata; cell 8 of the notebook was taken for it.",
            "The answer cell 'pair' had lost its metadata; cell 10 of the notebook was taken for it.",
        ],
    ),
    "metadata missing": (
        everything(lambda cell: cell.pop("metadata")),
        [
            "The metadata of 9 cells was lost; they were recognised by their text.",
            "The answer cell 'add' had lost its metadata; cell 4 of the notebook was taken for it.",
            "The answer cell 'why_written' had lost its metadata; cell 8 of the notebook was taken for it.",
            "The answer cell 'pair' had lost its metadata; cell 10 of the notebook was taken for it.",
        ],
    ),
    "blanks added to locked cells": (
        everything(lambda cell: cell.update(source=cell["source"] + "\n  \n")),
        NOTHING,
    ),
    "ids and outputs of another program": (
        everything(lambda cell: cell.update(id="x", outputs=[{"output_type": "stream", "text": "20/20"}])),
        NOTHING,
    ),
}


@pytest.mark.parametrize("case", REPAIRED)
def test_spoiled_cells_are_repaired_said_once_and_cost_no_answer(case: str) -> None:
    spoil, sentences = REPAIRED[case]
    data = notebook(ANSWERS)
    spoil(data)
    submission = of(data)
    check_course_cells(submission)
    assert {name: text.strip() for name, text in answers(submission).items()} == ANSWERS
    assert submission.attempted == {"add", "pair"}
    assert list(submission.repairs) == sentences


def test_an_answer_merged_with_the_cells_around_it_is_found() -> None:
    for keep in ("add", "add_visible", "add_checks"):
        data = notebook(ANSWERS)
        merge("add", "add_visible", "add_checks", keep=keep)(data)
        submission = of(data)
        check_course_cells(submission)
        assert ADD in answers(submission)["add"]
        assert submission.attempted == {"add", "pair"}
        missing = [one for one in submission.repairs if "was missing and was put back" in one]
        assert len(missing) == 2 if keep == "add" else len(missing) == 1


def test_an_answer_merged_into_a_course_cell_is_said_to_come_from_there() -> None:
    data = notebook(ANSWERS)
    merge("add", "add_visible", keep="add_visible")(data)
    assert of(data).repairs == (
        "The answer to 'add' stood in the cell 'add_visible'; it was taken from there.",
        "The course's cell 'add_visible' had been edited and was restored.",
    )


def test_all_cells_merged_into_one_without_metadata() -> None:
    text = "\n".join(cell["source"] for cell in notebook(ANSWERS)["cells"] if cell["cell_type"] == "code")
    submission = of({"cells": [extra(text)]})
    check_course_cells(submission)
    assert submission.attempted == {"add", "pair"}


def test_a_deleted_answer_is_put_back_as_it_was_released() -> None:
    data = notebook(ANSWERS)
    delete("add", "why_written")(data)
    submission = of(data)
    check_course_cells(submission)
    assert submission.attempted == {"pair"}
    assert answers(submission)["add"] == STUB
    assert submission.repairs == (
        "The answer cell 'add' was missing and was put back.",
        "The answer cell 'why_written' was missing and was put back.",
    )


def test_of_two_changed_answers_the_last_is_graded_and_both_are_run() -> None:
    data = notebook({**ANSWERS, "add": "def add(a, b):\n    return a - b"})
    duplicate("add", ADD)(data)
    submission = of(data)
    assert answers(submission)["add"] == ADD
    assert extras(submission) == ["def add(a, b):\n    return a - b"]
    assert submission.repairs == (
        "Cell 'add' stood more than once; the last one that answers was graded, "
        "the others were kept as extra cells.",
    )


def test_a_copy_used_as_scratch_paper_does_not_displace_the_answer() -> None:
    data = notebook(ANSWERS)
    duplicate("add", "print(add(3, 4))")(data)
    submission = of(data)
    assert answers(submission)["add"] == ADD
    assert extras(submission) == ["print(add(3, 4))"]


def test_a_copy_used_for_another_exercise_answers_that_one() -> None:
    data = notebook({"add": ADD})
    twin = copy.deepcopy(find(data, "add"))
    twin["source"] = PAIR
    data["cells"].insert(place(data, "pair"), twin)
    submission = of(data)
    assert answers(submission)["add"] == ADD
    assert extras(submission) == [PAIR]
    assert submission.attempted == {"add", "pair"}


def test_a_changed_copy_of_a_course_cell_is_the_students_own() -> None:
    """A helper that an answer needs may stand in it."""
    data = notebook({**ANSWERS, "add": "def add(a, b):\n    return plus(a, b)"})
    duplicate("environment", "def plus(a, b):\n    return a + b")(data)
    submission = of(data)
    check_course_cells(submission)
    assert extras(submission) == ["def plus(a, b):\n    return a + b"]
    assert submission.repairs == (
        "A changed copy of the course's cell 'environment' was kept as an extra cell.",
    )


def test_a_split_answer_is_run_whole() -> None:
    data = notebook(ANSWERS)
    find(data, "pair")["source"] = "first = 1"
    duplicate("pair", "second = 2")(data)
    submission = of(data)
    own = [cell.source for cell in submission.cells if cell.source in ("first = 1", "second = 2")]
    assert own == ["first = 1", "second = 2"]
    assert submission.attempted == {"add", "pair"}


# ---- the student's own cells ----


@pytest.mark.parametrize(
    ("grade_id", "offset", "after"),
    [("title", 0, None), ("add", 0, "add_statement"), ("add", 1, "add"), ("pair_checks", 1, "pair_checks")],
)
def test_extra_cells_stay_where_they_stood(grade_id: str, offset: int, after: str | None) -> None:
    data = notebook(ANSWERS)
    number = place(data, grade_id) + offset
    data["cells"][number:number] = [extra("x = 1"), extra("note", "markdown")]
    submission = of(data)
    check_course_cells(submission)
    numbers = [number for number, cell in enumerate(submission.cells) if cell.template is None]
    assert [submission.cells[one].source for one in numbers] == ["x = 1", "note"]
    assert [submission.cells[one].cell_type for one in numbers] == ["code", "markdown"]
    assert numbers[1] == numbers[0] + 1
    before = submission.cells[numbers[0] - 1].template if numbers[0] else None
    assert (before.grade_id if before else None) == after
    assert submission.repairs == ()


def test_empty_extra_cells_are_left_out_without_a_word() -> None:
    data = notebook(ANSWERS)
    data["cells"] += [extra(""), extra(" \n")]
    submission = of(data)
    assert extras(submission) == []
    assert submission.repairs == ()


@pytest.mark.parametrize("where", ["before the stub", "after the stub", "after the checks", "at the end"])
def test_an_answer_in_an_added_cell_is_graded_and_the_stub_is_not_run(where: str) -> None:
    data = notebook()
    number = {
        "before the stub": place(data, "add"),
        "after the stub": place(data, "add") + 1,
        "after the checks": place(data, "add_checks") + 1,
        "at the end": len(data["cells"]),
    }[where]
    data["cells"].insert(number, extra("%%time\n" + ADD))
    submission = of(data)
    check_course_cells(submission)
    assert submission.attempted == {"add"}
    assert submission.repairs == (
        "The answer to 'add' stands in a cell of the student's own; it was graded.",
    )
    answer = next(n for n, cell in enumerate(submission.cells) if cell.template is None)
    taken = next(n for n, cell in enumerate(submission.cells) if "add" in cell.snapshots)
    assert taken >= answer
    stub = next(cell for cell in submission.cells if cell.template and cell.template.grade_id == "add")
    assert not stub.run
    assert stub.source == STUB


def test_a_cell_that_only_uses_a_name_is_no_answer() -> None:
    data = notebook()
    data["cells"].append(extra("print(add(1, 2))\ntable = {}\ntable[add] = 3"))
    assert of(data).attempted == frozenset()


def test_markdown_that_looks_like_code_is_no_answer() -> None:
    data = notebook()
    data["cells"].append(extra(ADD, "markdown"))
    assert of(data).attempted == frozenset()


# ---- the digest: equal content, equal result ----


def digest(spoil: Spoil | None = None, files: dict[str, bytes] | None = None) -> str:
    data = notebook(ANSWERS)
    data["cells"] += [extra("x = 1"), extra("y = 2"), extra("note", "markdown")]
    if spoil is not None:
        spoil(data)
    return of(data, files=files).digest


def put(number: int, **changes: Any) -> Spoil:
    return lambda data: data["cells"][number].update(changes)


def swap(one: int, other: int) -> Spoil:
    def spoil(data: Notebook) -> None:
        cells = data["cells"]
        cells[one], cells[other] = cells[other], cells[one]

    return spoil


def boundary(data: Notebook) -> None:
    data["cells"][-3:-1] = [extra("x = 1\ny = 2")]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(edit("add", source=ADD + " "), id="a blank in an answer"),
        pytest.param(edit("why_written", source=WHY + "!"), id="written answer"),
        pytest.param(put(-3, source="x = 3"), id="text of an extra cell"),
        pytest.param(put(-1, source="other note"), id="text of a note"),
        pytest.param(put(-1, cell_type="raw"), id="type of an extra cell"),
        pytest.param(put(-2, cell_type="markdown"), id="code made text"),
        pytest.param(swap(-3, -2), id="order of extra cells"),
        pytest.param(boundary, id="boundary of extra cells"),
        pytest.param(lambda data: data["cells"].insert(0, data["cells"].pop()), id="place of an extra cell"),
        pytest.param(lambda data: data["cells"].append(extra("z")), id="one more"),
        pytest.param(lambda data: data["cells"].pop(), id="one less"),
        pytest.param(edit("add", source=STUB), id="no attempt"),
        pytest.param(delete("title"), id="a repair"),
    ],
)
def test_the_digest_changes_with_the_content(spoil: Spoil) -> None:
    assert digest(spoil) != digest()


def test_the_digest_changes_with_every_file() -> None:
    digests = [
        digest(files=files)
        for files in (None, {"a": b"1"}, {"a": b"2"}, {"b": b"1"}, {"a": b"1", "b": b""}, {"a": b"1b"})
    ]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda data: None, id="nothing"),
        pytest.param(lambda data: data.update(metadata={"author": "ada"}), id="notebook metadata"),
        pytest.param(everything(lambda cell: cell["metadata"].update(tags=["x"])), id="tags"),
        pytest.param(everything(lambda cell: cell.update(outputs=[1], execution_count=7)), id="outputs"),
        pytest.param(everything(lambda cell: cell.update(id="other")), id="cell ids"),
        pytest.param(metadata("add_checks", points=100), id="points"),
        pytest.param(edit("title", source="# Toy  \n"), id="blanks in a locked cell"),
        pytest.param(lambda data: data["cells"].append(extra(" ")), id="an empty cell"),
    ],
)
def test_the_digest_does_not_change_with_what_is_ignored(spoil: Spoil) -> None:
    assert digest(spoil) == digest()


def test_the_digest_does_not_depend_on_the_order_of_files() -> None:
    assert digest(files={"a": b"1", "b": b"2"}) == digest(files={"b": b"2", "a": b"1"})


def test_cells_can_not_be_cut_elsewhere_with_the_same_digest() -> None:
    base = of(notebook(ANSWERS))
    own = [PlannedCell("code", text, None) for text in ("ab", "c")]
    cut = [PlannedCell("code", text, None) for text in ("a", "bc")]
    assert replace(base, cells=tuple(own)).digest != replace(base, cells=tuple(cut)).digest


# ---- the course's own notebook, and whatever a student can make of one ----


@pytest.fixture(scope="module")
def sheet() -> AnswerSheet:
    return AnswerSheet(ROOT, "ps1-convolution")


@pytest.mark.parametrize("lost", ["nothing", "nbgrader", "all metadata", "all metadata and every output"])
def test_every_answer_of_the_course_is_found_without_metadata(sheet: AnswerSheet, lost: str) -> None:
    data = sheet.notebook()
    for cell in data["cells"]:
        if lost == "nbgrader":
            del cell["metadata"]["nbgrader"]
        elif lost != "nothing":
            cell["metadata"] = {}
        if lost.endswith("output"):
            cell.pop("outputs", None)
    submission = rebuild(raw(data), sheet.template)
    assert answers(submission) == sheet.solutions
    assert extras(submission) == []
    assert len(submission.attempted) == sum(cell.role is Role.SOLUTION for cell in sheet.template.cells)
    assert (submission.repairs == ()) is (lost == "nothing")


def test_an_untouched_release_without_metadata_attempts_nothing(sheet: AnswerSheet) -> None:
    data = sheet.notebook(fill=False)
    for cell in data["cells"]:
        cell["metadata"] = {}
    submission = rebuild(raw(data), sheet.template)
    assert submission.attempted == frozenset()
    assert len(submission.repairs) == 1
    assert re.fullmatch(r"The metadata of \d+ cells was lost; .*", submission.repairs[0])


positions = st.integers(0, 40)
texts = st.sampled_from(
    ["", " ", "x = 1", ADD, STUB, PAIR, WHY, "# Toy", "def add(", "first = '\ud800'", "%magic"]
)
texts |= st.text(max_size=12)
mutations = st.one_of(
    st.tuples(st.sampled_from(["delete", "duplicate", "merge", "strip", "junk"]), positions, st.none()),
    st.tuples(st.just("move"), positions, positions),
    st.tuples(st.just("retype"), positions, st.sampled_from(["code", "markdown", "raw", "slide", 3])),
    st.tuples(st.sampled_from(["edit", "insert"]), positions, texts),
    st.tuples(st.just("grade_id"), positions, st.sampled_from([*IDS, "", None, 7, "other"])),
)


def mutate(cells: list[Any], kind: str, where: int, detail: Any) -> None:
    at = where % max(1, len(cells))
    if kind == "insert":
        cells.insert(at, extra(detail))
    if not cells:
        return
    if kind == "delete":
        del cells[at]
    elif kind == "duplicate":
        cells.append(copy.deepcopy(cells[at]))
    elif kind == "move":
        cells.insert(detail % len(cells), cells.pop(at))
    elif kind == "junk":
        cells[at] = "junk"
    elif not isinstance(cells[at], dict):
        return
    elif kind == "strip":
        cells[at].pop("metadata", None)
    elif kind == "retype":
        cells[at]["cell_type"] = detail
    elif kind == "edit":
        cells[at]["source"] = detail
    elif kind == "grade_id":
        cells[at]["metadata"] = {"nbgrader": {"grade_id": detail}}
    elif kind == "merge" and at + 1 < len(cells) and isinstance(cells[at + 1], dict):
        cells[at]["source"] = str(cells[at]["source"]) + "\n" + str(cells.pop(at + 1)["source"])


@settings(deadline=None)
@given(st.booleans(), st.lists(mutations, max_size=12))
def test_whatever_was_done_to_a_notebook_the_course_cells_are_whole(
    answered: bool, done: list[tuple[str, int, Any]]
) -> None:
    data = notebook(ANSWERS if answered else None)
    for kind, where, detail in done:
        mutate(data["cells"], kind, where, detail)
    submission = of(data)
    check_course_cells(submission)
    assert submission.digest == of(data).digest


def test_a_notebook_of_another_assignment_is_asked_for_in_one_sentence() -> None:
    foreign = {
        "cells": [extra("# Attention", "markdown"), extra("def softmax(z):\n    return z")],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    given = rebuild(raw(foreign), TEMPLATE)
    (said,) = [one for one in given.repairs if "another assignment" in one]
    assert said.startswith("No cell of ps0-toy was found")
    assert not any("was missing" in one for one in given.repairs)
    assert [cell.source for cell in given.cells if cell.template is not None] == [
        cell.source for cell in TEMPLATE.cells
    ]


def test_repairs_are_listed_up_to_a_number() -> None:
    cells = [{"cell_type": f"kind {number}", "source": ""} for number in range(1_500)]
    repairs = rebuild(raw({"cells": cells}), TEMPLATE, notes=("x" * 900,)).repairs
    assert len(repairs) == REPAIRS_LIMIT + 1
    assert repairs[0] == "x" * 500 + " [cut]"
    assert repairs[1] == "Cell 1 has an unknown type; it was read as text."
    assert repairs[-1].endswith(" more repairs are not listed.")
    assert max(map(len, repairs)) < 520


def test_a_cell_that_is_long_is_not_taken_apart() -> None:
    """No cell of the course's is nearly as long, so it is compared as it stands."""
    data = notebook(ANSWERS)
    find(data, "add_visible")["source"] = "assert add(1, 2) == 3\n" + "\n" * 100_000
    found = rebuild(raw(data), TEMPLATE)
    assert found.attempted == {"add", "pair"}
    assert found.repairs == ("The course's cell 'add_visible' had been edited and was restored.",)
