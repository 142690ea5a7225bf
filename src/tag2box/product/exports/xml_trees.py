"""XML trees, written inside out."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, indent, tostring


def leaf(tag: str, text: str | int) -> Element:
    """An element around a text."""
    element = Element(tag)
    element.text = str(text)
    return element


def branch(tag: str, *children: Element, **attributes: str) -> Element:
    """An element around others."""
    element = Element(tag, attributes)
    element.extend(children)
    return element


def write_xml(path: Path, root: Element) -> None:
    """Write an indented tree, without the declaration that UTF-8 does not need and Label Studio refuses."""
    indent(root)
    path.write_text(tostring(root, encoding="unicode") + "\n", encoding="utf-8")
