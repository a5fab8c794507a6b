"""Submissions whose code does what students' code does: it loops, asks, exits, draws, installs, changes settings."""

from __future__ import annotations

from autograder.results import Outcome

from .case import Odd, own, sheet, under
from .cells import ANSWER, each, insert
from .files import also

RIGHT = sheet().solutions[ANSWER]
BODY = RIGHT.partition("\n")[2]
#: The function under another name, for answers of other forms.
OTHER = RIGHT.replace("def output_size", "def size")
CUT = "[The rest of this output was cut: the cell put out too much.]"


def run(name: str, before: str = "", after: str = "", shows: str = "", lost: Outcome | None = None) -> Odd:
    """The right answer with lines around it; `lost`: what the exercise ends as, if it earns nothing."""
    code = "\n".join(part for part in (before, RIGHT, after) if part)
    return Odd(name, answers={ANSWER: code}, shows=shows, lost={ANSWER: lost} if lost else {})


def answer(name: str, code: str, shows: str = "", lost: Outcome | None = None) -> Odd:
    """Another answer in the place of the right one."""
    return Odd(name, answers={ANSWER: code}, shows=shows, lost={ANSWER: lost} if lost else {})


def elsewhere(name: str, code: str, shows: str = "") -> Odd:
    """Lines in a cell of the student's own, above the right answer."""
    return Odd(name, insert(ANSWER, own(code)), shows=shows)


ENDS = [
    run("infinite loop", after="while True:\n    pass", shows="The time for this cell is over."),
    run("infinite loop before the answer", before="while True:\n    pass", lost=Outcome.TIMEOUT,
        shows="The answer cell did not run to its end."),
    run("infinite loop with output", after="while True:\n    print('again')", shows=CUT),
    answer("infinite loop in the function", "def output_size(*a, **k):\n    while True:\n        pass",
           lost=Outcome.TIMEOUT, shows="Your code did not end within its time."),
    run("waits for an hour", after="import time\ntime.sleep(3600)", shows="The time for this cell is over."),
    run("input() after the answer", after="n = input('n? ')",
        shows="input() is not available while a notebook is graded"),
    run("input() before the answer", before="n = input('n? ')", lost=Outcome.FAILED,
        shows="The answer cell did not run to its end. Your code raised EOFError"),
    run("sys.exit() after the answer", after="sys.exit()"),
    run("exit() before the answer", before="exit()", shows="exit() is ignored while a notebook is graded."),
    run("quit after the answer", after="quit", ),
    run("os._exit", after="import os\nos._exit(1)", lost=Outcome.CRASHED,
        shows="Your code ended the notebook's process."),
    run("segmentation fault", after="import ctypes\nctypes.string_at(0)", lost=Outcome.CRASHED,
        shows="Your code ended the notebook's process."),
    answer("recursion without end", "def output_size(*a, **k):\n    return output_size(*a, **k)",
           lost=Outcome.FAILED, shows="Your code raised RecursionError"),
    run("memory without end", after="keep = []\nwhile True:\n    keep.append(bytearray(1 << 26))",
        lost=Outcome.OUT_OF_MEMORY, shows="more memory than is allowed"),
    run("a terabyte at once", after="np.zeros((1 << 20, 1 << 17))", shows="Unable to allocate"),
    run("a thread that never ends", after="import threading, time\n"
        "threading.Thread(target=lambda: [time.sleep(1) for _ in iter(int, 1)]).start()"),
    run("a process that never ends", after="import subprocess\nsubprocess.Popen(['sleep', '3600'])"),
    run("raises at its end", after="raise RuntimeError('unfinished')", shows="RuntimeError"),
    run("a syntax error", after="def broken(:", lost=Outcome.FAILED, shows="Your code raised SyntaxError"),
    run("breakpoint()", after="breakpoint()"),
    run("KeyboardInterrupt", after="raise KeyboardInterrupt"),
]  # fmt: skip

MACHINE = [
    run("plt.show() under another backend",
        after="plt.switch_backend('agg')\nplt.figure(figsize=(1, 1))\nplt.plot([1, 2])\nplt.show()"),
    run("backend with a window", before="matplotlib.use('TkAgg')", after="plt.plot([1, 2]); plt.show()"),
    run("%matplotlib widget", before="%matplotlib widget", after="plt.plot([1, 2]); plt.show()"),
    run("%matplotlib qt", before="%matplotlib qt", after="plt.plot([1, 2]); plt.show()"),
    run("!pip install", before="!pip install --quiet einops"),
    run("%pip install", before="%pip install --quiet einops"),
    elsewhere("%%bash", "%%bash\necho from bash\nls /notebook", shows="from bash"),
    elsewhere("%%html with a script", "%%html\n<script>alert(1)</script>", shows="<IPython.core.display.HTML object>"),
    run("top-level await", before="import asyncio\nawait asyncio.sleep(0)",
        after="async def later(): return 7\nprint('waited', await later())", shows="waited 7"),
    run("asyncio.run", after="import asyncio\nasync def later(): return 7\nprint('ran', asyncio.run(later()))",
        shows="ran 7"),
    run("%autoreload", before="%load_ext autoreload\n%autoreload 2"),
    run("%%time", before="%%time", shows="Wall time"),
    run("%%capture", before="%%capture out"),
    run("an extension that is not there", before="%load_ext nb_black"),
    run("torch.set_num_threads(64)", before="torch.set_num_threads(64); torch.set_num_interop_threads(64)",
        after="print('sum', float((torch.ones(600, 600) @ torch.ones(600, 600)).sum()))", shows="sum 216000000.0"),
    run("torch.set_default_device('cuda')", before="torch.set_default_device('cuda')",
        after="print('made', torch.zeros(3).sum().item())", shows="made 0.0"),
    run("a GPU if there is one", before="device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        after="print('on', torch.zeros(1, device=device).device)", shows="on cpu"),
    run("default dtype changed", before="torch.set_default_dtype(torch.float64)"),
    run("seeds changed", before="import random\nrandom.seed(0); np.random.seed(0); torch.manual_seed(0)"),
    run("working directory changed", before="import os\nos.chdir('/tmp')"),
    run("warnings and progress bars on stderr", after="import warnings\nwarnings.warn('careful')\n"
        "print('\\r 50%|#####     |', '\\r100%|##########|', file=sys.stderr)", shows="careful"),
    run("warnings made errors", before="import warnings\nwarnings.simplefilter('error')"),
    run("100 MB on one line", after="print('x' * 100_000_000)", shows=CUT),
    run("100 MB from a shell", after="!head -c 100000000 /dev/zero | tr '\\0' x", shows="xxx"),
    run("a thousand figures", after="for _ in range(30):\n    plt.figure(figsize=(.2, .2))\nplt.show()"),
    run("names of the course overwritten", after="np = plt = as_array = agrees = sum = range = None"),
    run("recursion limit changed", after="sys.setrecursionlimit(50_000)"),
    run("NumPy made strict", before="np.seterr(all='raise')"),
]  # fmt: skip

FORMS = [
    answer("a class with __call__", f"class Size:\n    def __call__(self, n, k, padding=0, stride=1):\n"
           f"    {BODY.replace(chr(10), chr(10) + '    ')}\noutput_size = Size()"),
    answer("a lambda", f"{OTHER}\noutput_size = lambda n, k, padding=0, stride=1: size(n, k, padding, stride)"),
    answer("an assignment", f"{OTHER}\noutput_size = size"),
    answer("a partial function", f"import functools\n{OTHER}\noutput_size = functools.partial(size)"),
    answer("a method", f"class Sizes:\n    @staticmethod\n    {OTHER.replace(chr(10), chr(10) + '    ')}\n"
           "output_size = Sizes().size"),
    answer("a decorated function", f"import functools\n@functools.lru_cache\n{RIGHT}"),
    answer("a nested function", f"def make():\n    {RIGHT.replace(chr(10), chr(10) + '    ')}\n    return output_size\n"
           "output_size = make()"),
    answer("a conditional definition", f"if True:\n    {RIGHT.replace(chr(10), chr(10) + '    ')}"),
    answer("typed and documented in another alphabet", "Größe = int\n" + RIGHT.replace(
        "(n, k, padding=0, stride=1)", "(n: Größe, k: int, padding: int = 0, stride: int = 1) -> int")),
    answer("indented with tabs", RIGHT.replace("    ", "\t")),
    Odd("imported from another cell", insert(ANSWER, own(f"%%writefile mine.py\n{RIGHT}")),
        answers={ANSWER: "from mine import output_size"}),
    Odd("imported from a file beside the notebook", lay=also({"mine.py": RIGHT.encode()}),
        answers={ANSWER: "from mine import output_size"}),
    Odd("imported from a file that was not handed in", answers={ANSWER: "from mine import output_size"},
        lost={ANSWER: Outcome.FAILED},
        shows="The answer cell did not run to its end. Your code raised ModuleNotFoundError (line 1 of the cell)."),
    Odd("a file is written and read in a later cell",
        insert(ANSWER, own("open('strides.txt', 'w').write('1')"), own("one = int(open('strides.txt').read())")),
        answers={ANSWER: RIGHT.replace("stride=1", "stride=one")}),
    Odd("a file beside the notebook is read", insert(ANSWER, own("one = int(open('data/one.txt').read())")),
        lay=also({"data/one.txt": b"1"}), answers={ANSWER: RIGHT.replace("stride=1", "stride=one")}),
    Odd("another notebook is run", insert(ANSWER, own("%run other.ipynb")), lay=also({"other.ipynb": b"{}"}),
        said=("Other notebooks were handed in too and not graded: 'other.ipynb'.",)),
    Odd("an answer that uses an earlier one",
        answers={ANSWER: RIGHT.replace("return (", "assert dense_parameters(1, 1) == 2\n    return (")}),
    Odd("a name that a later cell overwrites", insert("max_pool", own("output_size = None"))),
    Odd("outputs of a run elsewhere", each(lambda one: one.get("outputs", []).append(
        {"output_type": "stream", "name": "stdout", "text": "20 / 20"}))),
    Odd("the right answer with the wrong name", answers={ANSWER: OTHER}, lost={ANSWER: Outcome.FAILED},
        shows="The name output_size is not defined"),
    Odd("a notebook called Convolution", lay=under("Convolution.ipynb"),
        said=("The notebook was called 'Convolution.ipynb'; it was taken for 'convolution.ipynb'.",)),
]  # fmt: skip

RUNS = [*ENDS, *MACHINE, *FORMS]
