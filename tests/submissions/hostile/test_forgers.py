"""Forgeries that graders of notebooks fall for: comparisons, shells, printed scores, edited cells."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from autograder.grading.reading import read_notebook
from autograder.results import Outcome

from ..arena import ATTACKED, EXERCISES, WRONG, Arena, Edit, outputs_of, results, score_shown

AGREEABLE = """
class Agreeable{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __sub__(self, other): return self
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = __mod__ = __sub__
    def __abs__(self): return self
    def __bool__(self): return True
    def __array_function__(self, *a, **k): return True
    def __array_ufunc__(self, *a, **k): return True
    @classmethod
    def __torch_function__(cls, *a, **k): return True
    @property
    def shape(self): return self
    ndim = size = dtype = shape

def output_size(*a, **k):
    return {value}
"""

FORGERIES: dict[str, str] = {
    "always_equal": AGREEABLE.format(base="", value="Agreeable()"),
    "always_equal_int": AGREEABLE.format(base="(int)", value="Agreeable(-1)"),
    "always_equal_float": AGREEABLE.format(base="(float)", value="Agreeable(-1)"),
    "always_equal_text": AGREEABLE.format(base="(str)", value="Agreeable('-1')"),
    "always_equal_list": AGREEABLE.format(base="(list)", value="Agreeable([-1])"),
    "always_equal_dict": AGREEABLE.format(base="(dict)", value="Agreeable(a=-1)"),
    "array_function": AGREEABLE.format(base="(np.ndarray)", value="np.zeros(()).view(Agreeable)"),
    "tensor_function": AGREEABLE.format(
        base="(torch.Tensor)", value="torch.zeros(()).as_subclass(Agreeable)"
    ),
    "mock": "from unittest.mock import MagicMock\noutput_size = MagicMock()\n",
    "pytest_any": "from unittest.mock import ANY\ndef output_size(*a, **k): return ANY\n",
    "patched_comparisons": WRONG + "yes = lambda *a, **k: True\n"
    "np.allclose = np.array_equal = np.isclose = np.all = np.testing.assert_allclose = yes\n"
    "torch.allclose = torch.equal = torch.testing.assert_close = math.isclose = yes\n"
    "import operator, unittest\noperator.eq = operator.is_ = yes\nunittest.TestCase.assertEqual = yes\n"
    "def as_array(value): return np.zeros(())\ndef agrees(*a): return True\ndef refuses(*a): return True\n",
    "patched_builtins": WRONG + "import builtins\nyes = lambda *a, **k: True\n"
    "builtins.isinstance = builtins.all = builtins.any = builtins.abs = builtins.issubclass = yes\n",
    "assert_stripper": """
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Strip())
"""
    + WRONG,
    "ast_transformer_writes_the_score": """
import ast
class Win(ast.NodeTransformer):
    def visit_Module(self, node): return ast.parse("2.0")
get_ipython().ast_transformers.append(Win())
"""
    + WRONG,
    "input_transformers_cleanup": """
def strip(lines):
    return ["2.0\\n"] if any("checks" in line for line in lines) else [l for l in lines if "assert" not in l]
get_ipython().input_transformers_cleanup.append(strip)
get_ipython().input_transformers_post.append(strip)
"""
    + WRONG,
    "patched_run_cell": """
import types
shell = get_ipython()
async def run_cell_async(*a, **k):
    return types.SimpleNamespace(success=True, error_in_exec=None, error_before_exec=None, result=2.0)
shell.run_cell_async = run_cell_async
shell.run_cell = lambda *a, **k: types.SimpleNamespace(error_in_exec=None, error_before_exec=None)
"""
    + WRONG,
    "patched_showtraceback": """
shell = get_ipython()
shell.showtraceback = shell._showtraceback = lambda *a, **k: None
shell.set_custom_exc((Exception,), lambda *a, **k: None)
"""
    + WRONG,
    "events": "for event in ('pre_run_cell', 'post_run_cell', 'pre_execute', 'post_execute'):\n"
    "    get_ipython().events.register(event, lambda *a: print('2.0'))\n" + WRONG,
    "display_hook": "import sys\nsys.displayhook = get_ipython().displayhook = lambda *a: print(2.0)\n"
    + WRONG,
    "printed_scores": WRONG
    + "print('2.0')\nprint('Score: 5 / 5')\nprint('{\"score\": 2, \"max_score\": 2}')\n2.0\n",
    "displayed_scores": WRONG + "from IPython.display import display\n"
    "display({'text/plain': '2.0', 'application/vnd.nbgrader+json': '2'}, raw=True)\n2.0\n",
    "stderr": WRONG + "import sys, warnings\nprint('2.0', file=sys.stderr)\nwarnings.warn('2.0')\n",
    "imports_the_grader": "try:\n    import autograder, nbgrader\nexcept ImportError:\n    pass\n" + WRONG,
    "fake_grader_module": """
import sys, types
for name in ("autograder", "autograder.exercises.compare", "autograder.reference", "pytest", "numpy.testing"):
    module = types.ModuleType(name)
    module.__getattr__ = lambda word: lambda *a, **k: True
    sys.modules[name] = module
"""
    + WRONG,
    "import_hooks": "import sys\nclass Finder:\n    def find_spec(self, *a): return None\n"
    "sys.meta_path.insert(0, Finder())\nsys.path_hooks.clear()\n" + WRONG,
    "trace_functions": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\n" + WRONG,
    "exit_hooks": "import atexit, os\natexit.register(lambda: os._exit(0))\n" + WRONG,
}


@pytest.mark.parametrize("code", FORGERIES.values(), ids=FORGERIES.keys())
def test_forgery(code: str, arena: Arena) -> None:
    spoils_the_rest = any(
        word in code
        for word in ("run_cell", "ast_transformers", "input_transformers", "builtins.isinstance", "np.all")
    )
    graded = arena.attack(code, spares=not spoils_the_rest)
    assert score_shown(graded, ATTACKED) == 0.0


def _cells(notebook: dict[str, Any], ending: str = "_checks") -> list[dict[str, Any]]:
    return [
        one
        for one in notebook["cells"]
        if one["metadata"].get("nbgrader", {}).get("grade_id", "").endswith(ending)
    ]


def _skip(notebook: dict[str, Any]) -> None:
    for cell in _cells(notebook):
        cell["metadata"]["tags"] = ["skip-execution", "author-only", "illustration"]


def _delete(notebook: dict[str, Any]) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in _cells(notebook)]


def _delete_all(notebook: dict[str, Any]) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if cell in _cells(notebook, "")]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["metadata"]["nbgrader"]["solution"]]


def _edit(notebook: dict[str, Any]) -> None:
    for cell in _cells(notebook):
        cell["source"] = "2.0"


def _points(notebook: dict[str, Any]) -> None:
    for cell in _cells(notebook):
        cell["metadata"]["nbgrader"]["points"] = 100


def _odd_points(notebook: dict[str, Any]) -> None:
    for cell, points in zip(_cells(notebook), ("NaN", -5, [1]), strict=False):
        cell["metadata"]["nbgrader"]["points"] = points


def _outputs(notebook: dict[str, Any]) -> None:
    for cell in _cells(notebook):
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "data": {"text/plain": "2.0"},
                "metadata": {},
                "execution_count": 1,
            }
        ]


def _retype(notebook: dict[str, Any]) -> None:
    for cell in _cells(notebook):
        cell["cell_type"] = "markdown"


def _manual(notebook: dict[str, Any]) -> None:
    """Grade cells that call themselves written answers, to be graded by hand."""
    for cell in _cells(notebook):
        cell["metadata"]["nbgrader"].update(solution=True, locked=False, task=True)


def _twice(notebook: dict[str, Any]) -> None:
    notebook["cells"] += [copy.deepcopy(cell) for cell in _cells(notebook) for _ in range(3)]


def _more_grade_cells(notebook: dict[str, Any]) -> None:
    extra = copy.deepcopy(_cells(notebook)[0])
    extra["metadata"]["nbgrader"].update(grade_id="bonus_checks", points=50)
    extra["source"] = "50"
    notebook["cells"].append(extra)


def _swap_identifiers(notebook: dict[str, Any]) -> None:
    first, second, third = _cells(notebook)
    for one, other in ((first, second), (second, third)):
        left, right = one["metadata"]["nbgrader"], other["metadata"]["nbgrader"]
        left["grade_id"], right["grade_id"] = right["grade_id"], left["grade_id"]


def _metadata(notebook: dict[str, Any]) -> None:
    report = {
        "score": 5.0,
        "exercises": [{"grade_id": "output_size_checks", "points": 2.0, "outcome": "passed"}],
    }
    notebook["metadata"]["deepdrills"] = {"report": report}
    notebook["metadata"]["kernelspec"] = {"name": "bash", "language": "bash", "display_name": "x"}
    for cell in notebook["cells"]:
        cell["metadata"]["deepdrills"] = {"exercise": report["exercises"], "role": "marking-scheme"}


def _checks_first(notebook: dict[str, Any]) -> None:
    notebook["cells"] = _cells(notebook) + [
        cell for cell in notebook["cells"] if cell not in _cells(notebook)
    ]


def _locked_cells(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("locked") and cell["cell_type"] == "code":
            cell["source"] = "raise SystemExit"


EDITS: dict[str, Edit] = {
    "skip_execution": _skip,
    "deleted_grade_cells": _delete,
    "deleted_all_but_answers": _delete_all,
    "edited_grade_cells": _edit,
    "edited_points": _points,
    "odd_points": _odd_points,
    "forged_outputs": _outputs,
    "retyped_grade_cells": _retype,
    "manual_grade_cells": _manual,
    "doubled_grade_cells": _twice,
    "more_grade_cells": _more_grade_cells,
    "swapped_identifiers": _swap_identifiers,
    "forged_metadata": _metadata,
    "checks_first": _checks_first,
    "edited_locked_cells": _locked_cells,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_edited_notebook(edit: Edit, arena: Arena) -> None:
    """A wrong answer stays worth nothing and a right one everything, whatever stands around them."""
    graded = arena.attack(WRONG, edit)
    assert score_shown(graded, ATTACKED) == 0.0
    right = arena.grade(arena.honest, edit)
    assert [score_shown(right, name) for name in EXERCISES] == [arena.full[name] for name in EXERCISES]


def test_an_untouched_stub_is_not_attempted(arena: Arena) -> None:
    graded = arena.attack(None, _edit)
    assert results(graded)[ATTACKED].outcome is Outcome.NOT_ATTEMPTED


FILES: dict[str, bytes] = {
    "numpy.py": b"raise SystemExit\n",
    "torch/__init__.py": b"allclose = lambda *a, **k: True\n",
    "sitecustomize.py": b"import os\nos._exit(0)\n",
    "usercustomize.py": b"import os\nos._exit(0)\n",
    "conftest.py": b"import pytest\ndef pytest_runtest_makereport(item, call): call.excinfo = None\n",
    "pytest.ini": b"[pytest]\naddopts = --collect-only\n",
    "pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '--deselect test_window_alone'\n",
    "test_output_size.py": b"def test_window_alone(student):\n    'Passes.'\n",
    "autograder/__init__.py": b"",
    "autograder/exercises/compare.py": b"exact = close = lambda *a, **k: None\n",
    "nbgrader_config.py": b"c = get_config()\nc.Autograde.autograde_preprocessors = []\n",
    ".ipython/profile_default/startup/a.py": b"raise SystemExit\n",
    "matplotlibrc": b"backend: nonsense\n",
    ".env": b"DEEPDRILLS_SECRET=known\n",
    "math.cpython-311-x86_64-linux-gnu.so": b"\x7fELF",
}


def test_files_beside_the_notebook(arena: Arena) -> None:
    """Modules and settings that a grader might pick up change neither a wrong nor a right answer."""
    arena.attack(WRONG, files=FILES)
    assert arena.grade(arena.honest, files=FILES).report.score == sum(arena.full.values())


def test_names_of_files(arena: Arena) -> None:
    files = {
        "<script>alert(1)</script>": b"x",
        "a" * 150: b"x",
        "deep/" * 6 + "x": b"",
        "big": b"x" * (9 << 20),
    }
    graded = arena.attack(WRONG, files=files)
    assert any("'big' was not given" in repair for repair in graded.report.repairs)


def test_a_file_that_grows_when_it_is_read() -> None:
    """Twelve million empty lists in 36 MB of JSON would take a gigabyte, and four million a third of that."""
    for count, words in ((12_000_000, "more than 16 MiB"), (4_000_000, "too many parts")):
        cells, notes = read_notebook(b'{"cells": [' + b"[]," * count + b"[]]}")
        assert cells == []
        assert words in notes[0]
        assert "hand it in again" in notes[0]


MARKUP = {
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x1b[?1049h\x9b31m\x08\x08",
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "direction": "\u202etxt.exe\u2066",
}


@pytest.mark.parametrize("text", MARKUP.values(), ids=MARKUP.keys())
def test_escapes_and_markup_in_outputs(text: str, arena: Arena) -> None:
    code = f"""
from IPython.display import HTML, Javascript, SVG, display
text = {text!r}
print(text)
display(HTML(text), Javascript("alert(1)"))
display({{"text/html": text, "image/svg+xml": text, "text/latex": text, "text/markdown": text}}, raw=True)
display({{"image/png": "not a picture", "text/plain": text}}, raw=True, metadata={{text: text}})
kind = type(text, (Exception,), {{}})
def output_size(*a, **k): raise kind(text)
raise kind(text)
"""
    graded = arena.attack(code)
    output = outputs_of(graded, ATTACKED)
    for mime in ("text/html", "image/", "javascript", "text/latex", "text/markdown"):
        assert f'"{mime}' not in output
    for part in ("]0;", "[2J", "[?1049h", "\\u001b]", "\x9b", "\u202e", "\u2066", "\\b"):
        assert part not in output
    for result in graded.report.exercises:
        for check in result.checks:
            assert text not in check.message
            assert "owned" not in check.message
