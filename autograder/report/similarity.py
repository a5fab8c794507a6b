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
_CODE_LIMIT = 50_000
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
    tokens = {
        student: {place: normalised(text) for place, text in cells.items()} for student, cells in code.items()
    }
    marks = {
        student: {mark for sequence in cells.values() for mark in fingerprints(sequence)} - given
        for student, cells in tokens.items()
    }
    owners: defaultdict[int, list[str]] = defaultdict(list)
    for student, own in marks.items():
        for mark in own:
            owners[mark].append(student)
    common = max(4, math.ceil(len(code) / 5))  # what a fifth of a class writes is how one writes it
    shared: Counter[tuple[str, str]] = Counter()
    for students in owners.values():
        if 2 <= len(students) <= common:
            shared.update(combinations(sorted(students), 2))
    found = []
    for (first, second), count in shared.most_common():
        if count < SHARED:
            break
        places = _alike(tokens[first], tokens[second], given)
        if places:
            found.append(Pair(first, second, count, places))
        if len(found) == MOST_PAIRS:
            break
    return found


def normalised(text: str) -> tuple[str, ...]:
    """The tokens of a Python text, without comments and layout; names are all the same, so are texts.

    Keywords, operators and numbers stay. A text that is not Python is cut up roughly.
    """
    text = text[:_CODE_LIMIT]
    try:
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
    first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]], given: set[int]
) -> tuple[tuple[str, float], ...]:
    places = []
    for place in first:
        one, other = first[place], second.get(place, ())
        if len(one) < 2 * GRAM or len(other) < 2 * GRAM:
            continue  # a formula of one line is the same for everybody
        if not (fingerprints(one) - given) & (fingerprints(other) - given):
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
