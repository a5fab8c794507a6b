"""Make a huge notebook file small before it is parsed: large outputs and pasted pictures are left out.

No answer stands in them: cells are run anew, and the claim of an experiment is a short output. The bytes are
walked bracket by bracket, texts in one step each, so that nothing is built of what is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A file is parsed as it is up to this size; the largest of our executed notebooks has 1.7 MiB.
AS_IT_IS = 8 << 20
#: What is left may be this large. As text it takes four bytes a character where one is beyond U+FFFF.
MOST_LEFT = 16 << 20
#: Brackets and commas outside of texts: each may cost a hundred bytes once it is parsed (500 000 of them took
#: 0.2 s and 60 MB). The largest of our executed notebooks has 4 400.
MOST_PARTS = 500_000
#: Outputs larger than the first are left out; if that is not enough, those larger than the second, which is
#: the longest text of a claim, and then those larger than most claims.
LARGE = (1 << 20, 1 << 16, 1 << 12)
#: A bound on the steps taken here: quotes of a file that is walked (2 million lines of output have twice as
#: many), brackets that are walked over, and quotes of a file whose texts are taken out, which is slower.
_MOST_QUOTES, _MOST_STEPS, _MOST_TEXTS = 8_000_000, 500_000, 2_000_000

#: One pattern a key: a search is quick where a pattern begins with letters.
_KEYS = [
    re.compile(rb'"%s"[ \t\r\n]{0,99}:[ \t\r\n]{0,99}(?=[\[{])' % key) for key in (b"outputs", b"attachments")
]
#: What is before the next bracket, texts included. Possessive: a text without an end is not tried twice.
_RUN = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


@dataclass(frozen=True)
class Skimmed:
    """What is left of a file, and how many of its parts were left out, each larger than `limit` bytes."""

    raw: bytes
    left_out: int = 0
    limit: int = 0


def skim(raw: bytes) -> Skimmed:
    """The file itself where it is small; else the file without its large outputs and attachments."""
    skimmed = Skimmed(raw)
    if raw.count(b'"') > _MOST_QUOTES:
        return skimmed
    for limit in LARGE:
        if len(skimmed.raw) <= AS_IT_IS and separators(skimmed.raw) <= MOST_PARTS:
            break
        for key in _KEYS:
            left, count = _without(skimmed.raw, key, limit)
            if count:
                skimmed = Skimmed(left, skimmed.left_out + count, limit)
    return skimmed


def separators(raw: bytes) -> int:
    """Brackets and commas, those in texts included: as many as there are parts, or more."""
    return sum(map(raw.count, (b"[", b"{", b",")))


def has_too_many_parts(raw: bytes) -> bool:
    """Whether parsing UTF-8 JSON would make more than `MOST_PARTS`; commas in texts do not count."""
    if separators(raw) <= MOST_PARTS:
        return False
    return raw.count(b'"') > _MOST_TEXTS or separators(_TEXT.sub(b"", raw)) > MOST_PARTS


def _without(raw: bytes, key: re.Pattern[bytes], limit: int) -> tuple[bytes, int]:
    """The file with `null` for what stands under a key and is larger than `limit`; how many these were.

    Inside a text the key's quotes would be escaped.
    """
    cuts: list[tuple[int, int]] = []
    steps = 0
    found = key.search(raw)
    while found is not None:
        if raw.startswith(b"\\", found.start() - 1):
            found = key.search(raw, found.end())
            continue
        at, depth, first = found.end(), 0, 0
        level = 2 if raw.startswith(b"[", at) else 1  # each output of a list, all attachments of a cell
        while at < len(raw) and steps < _MOST_STEPS:
            steps += 1
            if raw[at] in b"[{":
                depth += 1
                first = at if depth == level else first
            elif raw[at] in b"]}":
                depth -= 1
                if depth == level - 1 and at + 1 - first > limit:
                    cuts.append((first, at + 1))
                if depth == 0:
                    break
            else:
                break  # a text without an end
            run = _RUN.match(raw, at + 1)
            at = run.end() if run else len(raw)
        if at == len(raw) or raw[at] not in b"]}":
            break  # no JSON from here on, or too much of it
        found = key.search(raw, at)
    kept: list[bytes] = []
    last = 0
    for first, after in cuts:
        kept += [raw[last:first], b"null"]
        last = after
    return b"".join([*kept, raw[last:]]) if cuts else raw, len(cuts)
