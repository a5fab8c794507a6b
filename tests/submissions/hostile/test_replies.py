"""Forged replies: frames written to the pipe, and the worker's own objects turned against the grader."""

from __future__ import annotations

import pytest

from autograder.grading.engine import TAMPERED_FLAG
from autograder.grading.graded import Graded
from autograder.results import Outcome
from autograder.sandbox.session import TAMPERED

from ..arena import AFTER, ATTACKED, WRONG, Arena, results

TOOLS = """
import gc, json, os, struct, sys, time

def pack(header, *buffers):
    head = json.dumps(header).encode()
    lengths = json.dumps([len(one) for one in buffers]).encode()
    return struct.pack("<II", len(head), len(lengths)) + head + lengths + b"".join(buffers)

def table(**items):
    return {"!": "dict", "v": [[key, value] for key, value in items.items()]}

ARRAY, EIGHTS = {"!": "array", "v": 0, "d": "float64", "s": [2]}, b"\\0" * 16

def pipe():
    for fd in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                return fd
        except OSError:
            pass

def question():
    frame = sys._getframe()
    while frame:
        found = frame.f_locals.get("question")
        if isinstance(found, dict) and "nonce" in found:
            return found
        frame = frame.f_back

def worker():
    return next(one for one in gc.get_objects() if type(one).__name__ == "Worker")

def send(data):
    os.set_blocking(pipe(), True)
    view = memoryview(data)
    while view:
        view = view[os.write(pipe(), view):]

def take(size):
    data = b""
    while len(data) < size:
        part = os.read(pipe(), size - len(data))
        if not part:
            os._exit(0)
        data += part
    return data

def ask():
    head, tail = struct.unpack("<II", take(8))
    header = json.loads(take(head))
    for length in json.loads(take(tail)):
        take(length)
    return {key: value for key, value in header["v"]}
"""


def is_flagged(graded: Graded) -> bool:
    return TAMPERED_FLAG in graded.report.flags


IN_THE_CELL = {
    "without_a_nonce": "send(pack(table(value=4)))",
    "with_a_guessed_nonce": "send(pack(table(value=4, nonce='0' * 16)))",
    "nonce_is_an_array": "send(pack(table(outputs=[], failure=None, nonce=ARRAY), EIGHTS))",
    "nonce_is_null": "send(pack(table(outputs=[], failure=None, nonce=None)))",
    "not_a_dict": "send(pack([1, 2, 3]))",
    "garbage": "send(os.urandom(4096))",
    "zeros": "send(bytes(4096))",
    "text": "send(b'Score: 2 / 2\\\\n' * 100)",
    "half_a_frame": "send(pack(table(value=4))[:-3])",
    "endless": "while True: send(bytes(65536))",
    "huge_header": "send(struct.pack('<II', 2**31, 2) + b' ' * 65536)",
    "deep": "head = b'[' * 200000; send(struct.pack('<II', len(head), 2) + head + b'[]')",
    "answers_in_advance": "for _ in range(50): send(pack(table(value=4, outputs=[], failure=None, "
    "nonce='')))",
    "pipe_closed": "os.close(pipe())",
    "pipe_replaced": "os.dup2(os.open('/dev/null', os.O_RDWR), pipe())",
    "pipe_shut": "import socket; socket.socket(fileno=os.dup(pipe())).shutdown(socket.SHUT_RDWR)",
    "pipe_read_by_a_child": "os.fork() or [os.read(pipe(), 1) for _ in iter(int, 1)]",
}


@pytest.mark.parametrize("line", IN_THE_CELL.values(), ids=IN_THE_CELL.keys())
def test_frames_written_while_the_cell_runs(line: str, arena: Arena) -> None:
    """A frame that cannot be ours ends the whole at once; where the pipe is gone, the others are run anew."""
    graded = arena.attack(f"{TOOLS}\n{WRONG}\n{line}\n", spares="child" not in line and "fork" not in line)
    assert is_flagged(graded) == ("send(" in line)


IN_THE_CALL = {
    "without_a_nonce": "send(pack(table(value=4)))",
    "right_nonce": "send(pack(table(value=4, nonce=question()['nonce'])))",
    "raised": "send(pack(table(failure=table(kinds=['ValueError'], line=1), nonce=question()['nonce'])))",
    "nonce_is_an_array": "send(pack(table(value=4, nonce=ARRAY), EIGHTS))",
    "replayed": "nonces.append(question()['nonce']); send(pack(table(value=4, nonce=nonces[0])))",
    "doubled": "[send(pack(table(value=4, nonce=question()['nonce']))) for _ in range(2)]",
    "many": "[send(pack(table(value=n, nonce=question()['nonce']))) for n in range(100)]",
    "endless": "while True: send(bytes(65536))",
    "byte_by_byte": "data = pack(table(value=4, nonce=question()['nonce']))\n"
    "    for one in data: send(bytes([one])); time.sleep(.1)",
    "too_large": "data = pack(table(value=ARRAY, nonce=question()['nonce']), bytes(10**8)); send(data)",
    "many_copies": "large = {**ARRAY, 's': [10**6]}\n"
    "    send(pack(table(value=[large] * 1000, nonce=question()['nonce']), bytes(8 * 10**6)))",
    "array_of_the_wrong_size": "large = {**ARRAY, 's': [2**30, 2**30]}\n"
    "    send(pack(table(value=large, nonce=question()['nonce']), EIGHTS))",
    "pipe_closed": "os.close(pipe())",
    "process_ended": "send(pack(table(value=4, nonce=question()['nonce']))); os._exit(0)",
}


@pytest.mark.parametrize("line", IN_THE_CALL.values(), ids=IN_THE_CALL.keys())
def test_frames_written_while_a_call_runs(line: str, arena: Arena) -> None:
    code = f"{TOOLS}\nnonces = []\ndef output_size(*a, **k):\n    {line}\n    return -1\n"
    # The visible checks call it too: there the question is a cell's.
    code += "agrees = refuses = lambda *a, **k: True\n"
    graded = arena.attack(
        code.replace(
            "def output_size(*a, **k):\n",
            "def output_size(*a, **k):\n    if question()['op'] == 'cell': return -1\n",
        )
    )
    assert results(graded)[ATTACKED].outcome is Outcome.CRASHED or "bytes([one])" in line
    assert is_flagged(graded) or any(part in line for part in ("close(", "_exit", "bytes([one])"))


def test_nothing_more_is_run_after_a_proof_of_tampering(arena: Arena) -> None:
    graded = arena.attack(f"{TOOLS}\n{WRONG}\nsend(pack(table(value=4)))\n")
    found = results(graded)
    assert found[AFTER].outcome is Outcome.CRASHED
    assert all(TAMPERED in check.message for check in found[AFTER].checks)
    assert graded.report.flags == (TAMPERED_FLAG,)


ANSWERS = {
    "four": "table(value=4)",
    "true": "table(value=True)",
    "none": "table(value=None)",
    "nan": "table(value={'!': 'float', 'v': 'nan'})",
    "nested_tag": "table(value={'!': 'tuple', 'v': [{'!': 'tuple', 'v': []}]})",
    "bytes": "table(value={'!': 'bytes', 'v': 0})",
    "array": "table(value=ARRAY)",
    "large_array": "table(value={**ARRAY, 's': [10**6]})",
    "keys": "table(value=table(a=1, b=table(c=ARRAY)))",
    "value_error": "table(failure=table(kinds=['ValueError', 'Exception'], line=1, over_time=False, "
    "memory=False))",
    "no_kinds": "table(failure=table(kinds=[], line=1))",
    "kinds_of_arrays": "table(failure=table(kinds=[ARRAY], line=ARRAY2))",
    "kinds_of_lists": "table(failure=table(kinds=[[['ValueError']]] * 100, line=-1))",
    "failure_is_an_array": "table(failure=ARRAY)",
    "failure_is_null": "table(failure=None)",
    "over_time": "table(failure=table(kinds=[], over_time=True))",
    "memory": "table(failure=table(kinds=[], memory=True, held=True))",
    "missing": "table(missing=True)",
    "missing_is_an_array": "table(missing=ARRAY, value=4)",
    "opaque": "table(opaque='int')",
    "opaque_is_an_array": "table(opaque=ARRAY)",
    "everything": "table(value=4, missing=False, opaque=4, failure=table(kinds=['ValueError']))",
    "nothing": "table()",
    "verdict": "table(score=2.0, outcome='passed', points=2, passed=True)",
    "error": "table(outcome='error', error='our fault', heard=False)",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_a_process_that_has_been_taken_over(answer: str, arena: Arena) -> None:
    """The cell never ends: it serves the grader itself, with well-formed replies to every question."""
    code = f"""{TOOLS}
ARRAY2 = {{**ARRAY, "v": 1}}
def reply(asked):
    if asked["op"] == "cell":
        made = table(outputs=[], failure=None, seconds=0.0)
    else:
        made = {answer}
    made["v"].append(["nonce", asked["nonce"]])
    text = json.dumps(made)
    size = 8 * 10**6 if "1000000" in text else 16
    buffers = 2 if '"v": 1,' in text else 1 if "array" in text or "bytes" in text else 0
    send(pack(made, *[bytes(size)] * buffers))
reply(question())
while True:
    reply(ask())
"""
    graded = arena.attack(code, spares=False)
    assert graded.report.score <= arena.full["dense_parameters"]


OUTPUTS = {
    "array": "ARRAY",
    "arrays": "[ARRAY]",
    "type_is_an_array": "[table(output_type=ARRAY, text='x')]",
    "name_is_an_array": "[table(output_type='stream', name=ARRAY, text='x')]",
    "text_is_an_array": "[table(output_type='stream', name='stdout', text=ARRAY)]",
    "data_is_an_array": "[table(output_type='display_data', data=ARRAY)]",
    "picture_is_an_array": "[table(output_type='display_data', data={'!': 'dict', 'v': [['image/png', "
    "ARRAY]]})]",
    "traceback_is_an_array": "[table(output_type='error', traceback=ARRAY, ename=ARRAY)]",
    "odd_keys": "[{'!': 'dict', 'v': [[None, 1], [1.5, 2], [True, ARRAY]]}]",
    "score": "[table(output_type='execute_result', data={'!': 'dict', 'v': [['text/plain', "
    "'2.0']]}, metadata=ARRAY)]",
    "numbers": "[1, None, 'x', [], 2.5]",
    "many": "[table(output_type='stream', name='stdout', text='x')] * 5000",
    "null": "None",
    "text": "'[]'",
}


@pytest.mark.parametrize("outputs", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_forged_outputs(outputs: str, arena: Arena) -> None:
    code = f"""{TOOLS}
made = table(outputs={outputs}, failure=None, seconds="long", nonce=question()["nonce"])
send(pack(made, *[EIGHTS] * ("array" in json.dumps(made))))
{WRONG}
os._exit(0)
"""
    arena.attack(code, spares=False)


PATCHES = {
    "conversion": "type(worker())._convert = lambda self, value, seconds: {'value': True}",
    "conversion_agrees": "type(worker())._convert = lambda self, value, seconds: {'value': Agreeable()}",
    "plain": "type(worker())._convert.__globals__['plain'] = lambda value, depth=0: 4",
    "failure": "type(worker())._failure = lambda self, error: {'kinds': ['ValueError'], 'line': 1}",
    "raises_always": "type(worker())._convert = lambda *a: {'failure': {'kinds': ['ValueError'], 'line': 1}}",
    "snapshots": "worker()._snapshots.clear()",
    "names": "type(worker())._enter = lambda self, exercise: {'output_size': lambda *a, **k: 4}",
    "deadline": "type(worker())._call.__globals__['_Deadline'].__enter__ = lambda self: None",
    "encoder": "type(worker()).serve.__globals__['protocol'].encode = lambda *a: {'!': 'dict', 'v': []}",
    "pack": "type(worker()).serve.__globals__['protocol'].pack = lambda *a: b'Score: 2'",
    "send": "type(worker()).serve.__globals__['protocol'].send = lambda *a: None",
    "receive": "type(worker()).serve.__globals__['protocol'].receive = lambda *a: {'op': 'value', "
    "'nonce': ''}",
    "outputs": "get_ipython().outputs.items = 'Score: 2'",
    "outputs_object": "get_ipython().outputs = None",
    "socket_class": "import socket\nsend_once = socket.socket.sendall\n"
    "socket.socket.sendall = lambda self, data: send_once(self, data + data)",
    "exit": "os._exit = lambda code: None\nraise SystemExit",
    "collected": "gc.collect(); vars(worker()).clear()",
}


@pytest.mark.parametrize("line", PATCHES.values(), ids=PATCHES.keys())
def test_patched_worker(line: str, arena: Arena) -> None:
    """Whatever a submission does to the objects around it, it does to its own answers."""
    arena.attack(
        f"{TOOLS}\n{WRONG}\nclass Agreeable(int):\n    __eq__ = lambda *a: True\n{line}\n", spares=False
    )
