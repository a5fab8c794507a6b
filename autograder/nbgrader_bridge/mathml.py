"""TeX formulas as MathML, which browsers show without a script."""

from __future__ import annotations

from html import escape
from xml.etree import ElementTree

from latex2mathml.converter import convert

#: Longer formulas are shown as they were typed: the converter's time grows with the formula.
LONGEST = 2000

_TAGS_TEXT = """
    math mrow mi mn mo mtext mspace ms mfrac msqrt mroot mstyle merror mpadded mphantom menclose msub msup
    msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr
"""
_TAGS = frozenset(_TAGS_TEXT.split())
_ATTRIBUTES_TEXT = """
    display stretchy fence form separator lspace rspace linethickness accent accentunder mathvariant
    columnalign rowspacing columnspacing columnlines rowlines displaystyle scriptlevel minsize maxsize
    width height depth movablelimits largeop symmetric
"""
_ATTRIBUTES = frozenset(_ATTRIBUTES_TEXT.split())


def mathml(tex: str, display: bool = False) -> str:
    """A formula as a `<math>` element, or as `<code>` when it can not be converted.

    Only elements and attributes of a short list come out, whatever the formula asks for.
    """
    try:
        if len(tex) > LONGEST:
            raise ValueError("too long")
        root = ElementTree.fromstring(convert(tex, display="block" if display else "inline"))
        _tidy(root)
    except Exception:  # the converter raises many kinds on what is no formula
        return f'<code class="tex">{escape(tex)}</code>'
    return ElementTree.tostring(root, encoding="unicode")


def _tidy(element: ElementTree.Element) -> None:
    for one in element.iter():
        one.tag = one.tag.rpartition("}")[2]  # in an HTML page, MathML needs no namespace
        if one.tag not in _TAGS:
            raise ValueError(f"element {one.tag}")
        if (one.text or "").lstrip().startswith("\\"):
            raise ValueError("a command that the converter does not know")
        for attribute in list(one.attrib):
            if attribute not in _ATTRIBUTES:
                del one.attrib[attribute]
