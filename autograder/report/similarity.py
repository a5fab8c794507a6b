"""Pairs of submissions whose code is unusually alike: places to look, never a verdict.

Winnowing (Schleimer, Wilkerson and Aiken, 2003) on Python's own tokens, with names and layout taken out,
finds the pairs; rapidfuzz says how alike the two are. What the course handed out, and what a large part of
the class has, tells nothing and is left out.
"""

from __future__ import annotations

import io
import keyword
import math
import re
import tokenize
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz.distance import Indel

#: Tokens in a fingerprint, and how many fingerprints in a row give one to keep.
GRAM, WINDOW = 12, 4
#: A pair is shown from this many shared rare fingerprints on, and from this likeness of an exercise on.
SHARED, ALIKE = 8, 0.85
MOST_PAIRS = 20
#: Characters of one cell, and of a student's cells together, that are compared. All code of a notebook of
#: ours has 34 000, and a student's own part of it 12 000.
_CODE_LIMIT, _STUDENT_LIMIT = 20_000, 100_000
#: Python's tokeniser takes time in the square of a line of quotes and backslashes: 5 s for 50 000 characters.
_LINE_LIMIT = 1_000
#: Shared fingerprints that are counted, the rarest first, and pairs whose texts are then held against each
#: other: a class that shares everything takes no longer than one of strangers.
_MOST_COUNTED, _MOST_LOOKED_AT = 3_000_000, 200
_SKIPPED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip
_ROUGH = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")


@dataclass(frozen=True)
class Pair:
    """Two students, the exercises in which their code is alike, and how much rare code they share."""

    first: str
    second: str
    shared: int
    places: tuple[tuple[str, float], ...]


def similar_pairs(code: Mapping[str, Mapping[str, str]], released: Mapping[str, str]) -> list[Pair]:
    """The pairs of a class worth a look, the most alike first, at most `MOST_PAIRS`.

    `code`: for each student, code by grade_id. `released`: the code that was handed out.
    """
    given = {mark for text in released.values() for mark in fingerprints(normalised(text))}
    tokens = {student: _tokens(cells) for student, cells in code.items()}
    marks = {
        student: {place: fingerprints(sequence) - given for place, sequence in cells.items()}
        for student, cells in tokens.items()
    }
    found = []
    for (first, second), count in _shared(marks).most_common(_MOST_LOOKED_AT):
        if count < SHARED:
            break
        places = _alike(tokens[first], tokens[second], marks[first], marks[second])
        if places:
            found.append(Pair(first, second, count, places))
        if len(found) == MOST_PAIRS:
            break
    return found


def _tokens(cells: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """A student's cells as tokens, up to `_STUDENT_LIMIT` characters: answers first, then own cells."""
    room = _STUDENT_LIMIT
    tokens: dict[str, tuple[str, ...]] = {}
    for place, text in sorted(cells.items(), key=lambda cell: cell[0].startswith("extra-")):
        taken = text[: min(room, _CODE_LIMIT)]
        room -= len(taken)
        tokens[place] = normalised(taken)
    return {place: tokens[place] for place in cells}


def _shared(marks: Mapping[str, Mapping[str, set[int]]]) -> Counter[tuple[str, str]]:
    """How many rare fingerprints two students share."""
    owners: defaultdict[int, list[str]] = defaultdict(list)
    for student in sorted(marks):
        for mark in set[int]().union(*marks[student].values()):
            owners[mark].append(student)
    common = max(4, math.ceil(len(marks) / 5))  # what a fifth of a class writes is how one writes it
    rare = sorted((len(students), mark) for mark, students in owners.items() if 2 <= len(students) <= common)
    shared: Counter[tuple[str, str]] = Counter()
    counted = 0
    for number, mark in rare:
        counted += number * (number - 1) // 2
        if counted > _MOST_COUNTED:
            break
        shared.update(combinations(owners[mark], 2))
    return shared


def normalised(text: str) -> tuple[str, ...]:
    """The tokens of a Python text, without comments and layout; names are all the same, so are texts.

    Keywords, operators and numbers stay. A text that is not Python is cut up roughly.
    """
    text = text[:_CODE_LIMIT]
    try:
        if max(map(len, text.split("\n"))) > _LINE_LIMIT:
            raise ValueError("a line is too long")
        tokens = [
            _plain(token.type, token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in _SKIPPED
        ]
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        tokens = [_plain(tokenize.NAME, part) for part in _ROUGH.findall(text)]
    return tuple(tokens)


def fingerprints(tokens: Sequence[str]) -> set[int]:
    """The winnowed fingerprints of a token sequence: the least hash of each window, so that any run of
    `GRAM + WINDOW - 1` tokens which two texts share gives them a fingerprint in common."""
    hashes = [
        zlib.crc32("\0".join(tokens[start : start + GRAM]).encode("utf-8", "surrogatepass"))
        for start in range(len(tokens) - GRAM + 1)
    ]
    return {
        min(hashes[start : start + WINDOW]) for start in range(max(1, len(hashes) - WINDOW + 1)) if hashes
    }


def _alike(
    first: Mapping[str, Sequence[str]],
    second: Mapping[str, Sequence[str]],
    own: Mapping[str, set[int]],
    others: Mapping[str, set[int]],
) -> tuple[tuple[str, float], ...]:
    """The places where two students' tokens are alike, among those where they share a fingerprint."""
    places = []
    for place in first:
        one, other = first[place], second.get(place, ())
        if len(one) < 2 * GRAM or len(other) < 2 * GRAM:
            continue  # a formula of one line is the same for everybody
        if own[place].isdisjoint(others[place]):
            continue
        likeness = Indel.normalized_similarity(one, other)
        if likeness >= ALIKE:
            places.append((place, round(likeness, 3)))
    return tuple(sorted(places, key=lambda one: -one[1]))


def _plain(kind: int, text: str) -> str:
    if kind == tokenize.NAME:
        return text if keyword.iskeyword(text) or not text[:1].isidentifier() else "name"
    if kind == tokenize.STRING:
        return "text"
    return text
