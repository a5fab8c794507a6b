from __future__ import annotations

from .hostile.attacks import ATTACKS
from .odd.test_odd import CASES
from .table import DOCUMENT, with_table


def test_the_table_of_the_document_is_in_step() -> None:
    """`python -m tests.submissions.table` writes it anew."""
    document = DOCUMENT.read_text(encoding="utf-8")
    assert document == with_table(document)


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({(attack.group, attack.name) for attack in ATTACKS}) == len(ATTACKS) >= 60
    assert len({case.name for case in CASES}) == len(CASES) >= 60
