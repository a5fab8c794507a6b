"""Nothing of a hidden input reaches a report or a notebook, whatever the function does with it."""

from __future__ import annotations

import json
import re

import pytest

from autograder.grading.answers import AnswerSheet
from autograder.grading.engine import Engine
from autograder.grading.submission import rebuild
from autograder.grading.suite import Suite
from autograder.results import Outcome
from autograder.sandbox.limits import Limits
from autograder.sandbox.process import Sandbox

from ..arena import ASSIGNMENT, ATTACKED, LIMITS, ROOT, SECRET, Arena, outputs_of, results, shown
from .test_replies import TOOLS

#: Each says the inputs in some way; `said` is a text that holds them, `number` one number.
CHANNELS = {
    "exception_name": "raise type(said, (Exception,), {})",
    "exception_name_of_a_kind": "raise type(said, (ValueError,), {'__module__': said, '__qualname__': said})",
    "exception_text": "raise ValueError(said)",
    "exception_number": "raise KeyError(number)",
    "exception_notes": "error = ValueError(said); error.add_note(said); raise error",
    "exception_group": "raise ExceptionGroup(said, [ValueError(said)])",
    "exception_cause": "raise ValueError from KeyError(said)",
    "syntax_error": "error = SyntaxError(said, (said, number, 1, said)); error.lineno = number; raise error",
    "compiled": "exec(compile('\\n' * (number % 90_000) + 'raise ValueError', said, 'exec'), {})",
    "compiled_cell": "name = next(f for f in linecache.cache if 'ipykernel' in f or '<ipython' in f)\n"
    "    exec(compile('\\n' * 77_770 + 'raise ValueError', name, 'exec'), {})",
    "unicode_error": "raise UnicodeDecodeError(said, said.encode(), 0, 1, said)",
    "os_error": "raise OSError(number, said, said)",
    "import_error": "raise ImportError(said, name=said, path=said)",
    "attribute_error": "getattr(object(), said)",
    "name_error": "eval(said)",
    "system_exit": "raise SystemExit(said)",
    "assertion": "assert False, said",
    "warning": "warnings.warn(said); raise UserWarning(said)",
    "print": "print(said); print(said, file=sys.stderr); sys.__stdout__ and sys.__stdout__.write(said)",
    "low_level_print": "os.write(1, said.encode()); os.write(2, said.encode()); os.system('echo ' + said)",
    "display": "display(said); get_ipython().run_cell('print(' + repr(said) + ')')",
    "published": "get_ipython().display_pub.publish({'text/plain': said}); "
    "get_ipython().outputs.items.append(said)",
    "reopened_outputs": "get_ipython().outputs.open = True; print(said)",
    "figure": "plt.figure(figsize=(1, 1)); plt.title(said); plt.show()",
    "file": "open(said, 'w').write(said)",
    "returned_text": "return said",
    "returned_shape": "return np.zeros((number % 10_000, 2))",
    "returned_list": "return [said] * 3",
    "returned_key": "return {said: number}",
    "returned_number": "return number",
    "returned_class": "return type(said, (), {})()",
    "returned_class_of_int": "return type(said, (int,), {'__repr__': lambda s: said})(number)",
    "returned_dtype": "return np.zeros(2, dtype=[(said, float)])",
    "returned_exception": "return ValueError(said)",
    "documentation": "output_size.__doc__ = output_size.__name__ = said",
    "log": "logging.error(said); faulthandler.enable(open('log', 'w')); faulthandler.dump_traceback()",
    "exit_code": "os._exit(number % 256)",
    "signal": "os.kill(os.getpid(), number % 30)",
    "title": "ctypes.CDLL(None).prctl(15, said.encode(), 0, 0, 0)",
    "forged_kinds": "send(pack(table(failure=table(kinds=[said, number], line=number), "
    "nonce=question()['nonce'])))",
    "forged_opaque": "send(pack(table(opaque=said, nonce=question()['nonce'])))",
    "forged_missing": "send(pack(table(missing=said, nonce=question()['nonce'])))",
    "forged_value": "send(pack(table(value=table(**{said: said}), nonce=question()['nonce'])))",
    "forged_frame": "send(said.encode() * 100)",
    "forged_nonce": "send(pack(table(value=1, nonce=said)))",
}


@pytest.mark.parametrize("line", CHANNELS.values(), ids=CHANNELS.keys())
def test_hidden_input_is_not_shown(line: str, arena: Arena) -> None:
    code = f"""{TOOLS}
import ctypes, faulthandler, linecache, logging, warnings
agrees = refuses = lambda *a, **k: True
def output_size(*a, **k):
    if question()["op"] == "cell":
        return -1  # asked by a visible check, whose inputs are not hidden
    said = "_".join(["le" + "aked", *map(str, a), *map(str, k.values())])
    number = int("7" * 3) * 1000 + a[0]
    {line}
    return -1
"""
    # A second reply to a question spoils the next one, which may be another exercise's.
    graded = arena.attack(code, spares="send(" not in line, alone="send(" not in line)
    assert "leaked" not in shown(graded)
    assert not re.search(r"\b777\d{3}\b|77_?7\d\d|7777\d", _without_times(shown(graded)))
    assert results(graded)[ATTACKED].outcome is not Outcome.PASSED


def _without_times(text: str) -> str:
    return re.sub(r'"seconds": [0-9.]+', "", text)


#: Each raises in a way that depends on its input: by line, by class, by both in code that it compiles itself.
RAISES = {
    "line": "def output_size(n, *a, **k):\n"
    + "".join(f"    if n % 97 == {rest}: raise ValueError\n" for rest in range(97)),
    "class": "kinds = [one for one in vars(__builtins__).values() if isinstance(one, type)\n"
    "         and issubclass(one, Exception) and one.__init__ is Exception.__init__]\n"
    "def output_size(n, *a, **k): raise kinds[n % len(kinds)]\n",
    "blank_lines": "def output_size(n, *a, **k):\n"
    "    exec(compile('\\n' * (n * 100) + 'raise ValueError', output_size.__code__.co_filename, 'exec'), {})\n"
    + "\n" * 9_000
    + "pass",
    "replaced_code": "def raises(): raise ValueError\n"
    "def output_size(n, *a, **k):\n"
    "    raises.__code__ = raises.__code__.replace(co_firstlineno=n % 90)\n"
    "    raises()\n" + "pass\n" * 90,
    "cell_of_its_own": "def output_size(n, *a, **k):\n"
    "    done = get_ipython().run_cell('\\n' * (n % 90) + 'raise ValueError')\n"
    "    raise done.error_in_exec\n" + "pass\n" * 90,
    "the_worker": f"{TOOLS}\nasked = []\n"
    "def output_size(n, *a, **k): asked.append(n); raise ValueError\n"
    "type(worker())._failure = lambda self, error: {'kinds': ['ValueError'], 'line': asked[-1] % 40}\n"
    + "pass\n"
    * 40,
}


@pytest.mark.parametrize("code", RAISES.values(), ids=RAISES.keys())
def test_every_sentence_is_the_same_for_another_courses_inputs(code: str, arena: Arena) -> None:
    """Asserted of answers whose every check fails, whatever the input: there is nothing to tell."""
    others = [
        Engine(arena.only.template, arena.suite, arena.sandbox, LIMITS, f"{SECRET} {n}") for n in range(2)
    ]
    notebook = json.dumps(arena.only.notebook({ATTACKED: code})).encode()
    submission = rebuild(notebook, arena.only.template)
    first, second = (results(engine.grade(submission, "mallory"))[ATTACKED] for engine in others)
    assert first == second
    assert first.points == 0


def test_figures_show_nothing_of_hidden_inputs() -> None:
    """What a function remembers of its hidden inputs is not in the process that draws the next figure."""
    sheet = AnswerSheet(ROOT, ASSIGNMENT)
    code = """
import os
heard = []
def cross_correlate(image, kernel):
    heard.append((image.shape, kernel.shape))
    open("heard", "a").write(repr(heard[-1]))
    print("said", heard, open("heard").read(), os.getpid())
    return np.asarray(image)
"""
    notebook = json.dumps(sheet.notebook({"cross_correlate": code})).encode()
    submission = rebuild(notebook, sheet.template)
    asked: list[str] = []
    with Suite(ASSIGNMENT) as suite, Sandbox(Limits(), hidden=[ROOT]) as sandbox:
        for secret in ("one secret", "another"):
            graded = Engine(sheet.template, suite, sandbox, Limits(), secret).grade(submission, "mallory")
            assert results(graded)["cross_correlate"].points == 0
            asked.append(outputs_of(graded, "edges_figure"))
    assert "said [((" in asked[0], "it is drawn from the student's answer"
    assert asked[0] == asked[1]
