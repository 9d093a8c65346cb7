"""The front ends: plain JavaScript and style sheets, read from the folder `front`."""

from __future__ import annotations

import pathlib

__all__ = ["module_text", "style_text"]

_FOLDER = pathlib.Path(__file__).parent / "front"


def module_text(*parts: str) -> str:
    """Return one ES module: the named files one after another.

    A widget's module is one text by anywidget's rule. The files are plain JavaScript that import
    nothing; each may use what stands in the ones before it, and the last one exports the widget.
    """
    return "\n".join((_FOLDER / f"{part}.js").read_text("utf-8") for part in parts)


def style_text(name: str) -> str:
    """Return a style sheet."""
    return (_FOLDER / f"{name}.css").read_text("utf-8")
