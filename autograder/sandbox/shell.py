"""An IPython shell without a terminal or a kernel: runs a cell and keeps what it put out.

Runs in the sandboxed process. Output is capped while it is made, so that a cell that prints for
ever fills nothing.
"""

from __future__ import annotations

import base64
import builtins
import itertools
import json
import os
import subprocess
import sys
import traceback
import types
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.sandbox.machine import stand_in
from autograder.sandbox.outputs import Outputs, Stream

_OURS = os.path.dirname(__file__) + os.sep
#: Frames of a traceback that IPython draws; of a longer one both ends are shown plainly.
_FRAMES = 80


class _Hook(DisplayHook):
    """Keeps the value of a cell's last expression as an `execute_result`."""

    outputs: Any = None

    def __call__(self, result: Any = None) -> None:
        self.check_for_underscore()
        if result is None or self.quiet():
            return
        data, _ = self.compute_format_data(result)
        self.update_user_ns(result)
        bundle, size = mime_bundle(data)
        self.outputs.add(
            {"output_type": "execute_result", "execution_count": None, "data": bundle, "metadata": {}}, size
        )


class _Publisher(DisplayPublisher):
    """Keeps what `display` shows."""

    outputs: Any = None

    def publish(self, data: Any, *_ignored: Any, **_options: Any) -> None:
        bundle, size = mime_bundle(data)
        self.outputs.add({"output_type": "display_data", "data": bundle, "metadata": {}}, size)

    def clear_output(self, wait: bool = False) -> None:
        self.outputs.clear(wait)


class Shell(InteractiveShell):
    """The shell of one submission."""

    outputs: Any = None
    #: The code objects of the cells that have run, kept alive so that no other takes an identity of theirs.
    compiled: Any = None

    async def run_code(self, code_obj: Any, *arguments: Any, **options: Any) -> Any:
        """As IPython's, remembering what is a cell's own code."""
        self.compiled.update({id(one): one for one in _with_inner(code_obj)})
        return await super().run_code(code_obj, *arguments, **options)

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        lines = [str(line) for line in stb] if stb else []
        self.outputs.add(
            {
                "output_type": "error",
                "ename": str(getattr(etype, "__name__", etype))[:200],
                "evalue": _message(evalue),
                "traceback": [line[:20_000] for line in lines[:200]],
            },
            0,
        )

    def showtraceback(self, *arguments: Any, **options: Any) -> None:
        """As IPython's, which needs memory and takes half a minute for the frames of an endless recursion."""
        kind, error, trace = sys.exc_info()
        _without_ours(trace)
        if kind is not None and issubclass(kind, MemoryError):
            words = ["MemoryError: this cell asked for more memory than is allowed."]
            self._showtraceback(kind, error, words)
            return
        deep = sum(1 for _ in itertools.islice(traceback.walk_tb(trace), _FRAMES + 1)) > _FRAMES
        if kind is not None and deep:
            ends = [
                *traceback.format_tb(trace, _FRAMES // 4),
                "  ...\n",
                *traceback.format_tb(trace, -_FRAMES // 4),
            ]
            self._showtraceback(kind, error, [*ends, *traceback.format_exception_only(kind, error)])
            return
        super().showtraceback(*arguments, **options)

    def _format_exception_for_storage(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
        """Nothing for IPython's history, which would draw each traceback a second time."""
        return {}

    def ask_exit(self) -> None:
        self.outputs.text("stdout", "exit() is ignored while a notebook is graded.\n")

    def system(self, cmd: str) -> None:
        """`!command`: its output, without a terminal; no network and few files are there for it."""
        with subprocess.Popen(
            self.var_expand(cmd, depth=1),
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as running:
            assert running.stdout is not None
            said = running.stdout.read(self.outputs.limit + 1)
            while running.stdout.read(1 << 16):
                pass  # more than is shown: let the command end as it would
        self.outputs.text("stdout", said.decode("utf-8", "replace"))
        self.user_ns["_exit_code"] = running.returncode

    def enable_matplotlib(self, gui: Any = None) -> tuple[None, str]:
        """`%matplotlib` of any kind keeps drawing into the notebook."""
        _draw_inline(self)
        return None, "inline"

    def enable_gui(self, gui: Any = None) -> None:
        """No event loop here: `%matplotlib` keeps drawing into the notebook."""


def new_shell(limit: int) -> Shell:
    """The one shell of this process. Matplotlib, whenever it is imported, draws into its outputs."""
    config = Config()
    config.InlineBackend.print_figure_kwargs = {"bbox_inches": None}  # "tight" draws every figure twice
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.ast_node_interactivity = "last_expr"
    shell: Shell = Shell.instance(
        config=config, displayhook_class=_Hook, display_pub_class=_Publisher, user_ns={}
    )
    outputs = Outputs(limit)
    shell.outputs = outputs
    shell.compiled = {}
    for part in (shell.displayhook, shell.display_pub):
        vars(part)["outputs"] = outputs
    sys.displayhook = shell.displayhook
    stand_in(shell)
    return shell


def _draw_inline(shell: Shell) -> None:
    from matplotlib_inline.backend_inline import configure_inline_support

    configure_inline_support(shell, "module://matplotlib_inline.backend_inline")


def redirect(shell: Shell) -> None:
    """Send this process's text output to the shell, and give it no input."""
    sys.stdout = Stream("stdout", shell.outputs)
    sys.stderr = Stream("stderr", shell.outputs)
    sys.stdin = open(os.devnull)  # noqa: SIM115 (open for as long as the process lives)

    def no_input(*_prompt: object) -> str:
        raise EOFError("input() is not available while a notebook is graded")

    builtins.input = no_input


def mime_bundle(data: Any) -> tuple[dict[str, Any], int]:
    """`data` with bytes in base64 and only text or JSON values, and its size in characters."""
    bundle: dict[str, Any] = {}
    for mime, content in dict(data).items():
        if isinstance(content, bytes):
            content = base64.b64encode(content).decode("ascii")
        if str(mime) == "application/json" and isinstance(content, dict | list):
            content = json.dumps(content)
        if isinstance(content, str):
            bundle[str(mime)] = str.__str__(content)
    return bundle, sum(map(len, bundle.values()))


def _message(evalue: Any) -> str:
    try:
        return str(evalue)[:2000]
    except Exception:
        return "the exception's own text could not be read"


def cell_line(error: BaseException, compiled: dict[int, types.CodeType]) -> int | None:
    """The last line of a cell's own code that an exception went through.

    `compiled`: the code objects of cells, by identity. What a cell compiles itself, under whatever file
    name and with as many lines before it as it likes, is not among them.
    """
    line = None
    trace = error.__traceback__
    while trace is not None:
        if id(trace.tb_frame.f_code) in compiled:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _without_ours(trace: types.TracebackType | None) -> None:
    """Cut the frames of this package off a traceback's end: they say nothing of the student's code."""
    kept, one = None, trace
    while one is not None:
        if not one.tb_frame.f_code.co_filename.startswith(_OURS):
            kept = one
        one = one.tb_next
    if kept is not None:
        kept.tb_next = None


def _with_inner(code: types.CodeType) -> list[types.CodeType]:
    """A code object, and those of the functions and classes in it."""
    found = [code]
    for one in found:
        found.extend(inner for inner in one.co_consts if isinstance(inner, types.CodeType))
    return found
