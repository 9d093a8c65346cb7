"""Shapes in text, such as "bf16[1024,512]"."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from hlo_widgets.compiler.specs import element_type_names, make_spec
from hlo_widgets.errors import SpecError

if TYPE_CHECKING:
    from hlo_widgets.compiler.specs import ShapeDtypeStruct

__all__ = ["spec"]

_SHAPE = re.compile(
    r"\s*(?P<element_type>\w+)\s*\[(?P<dimensions>[^\]]*)\]\s*(?P<rest>.*)", re.DOTALL
)

# Python reads no number of more than 4,300. Arbitrary otherwise: JAX refuses what is too large.
_MOST_DIGITS = 100


def spec(text: str) -> ShapeDtypeStruct:
    """Read a shape such as `"bf16[1024,512]"`.

    Args:
        text: An element type by XLA's name (`bf16`, `f32`, `s8`, `pred`, `f8e4m3fn`) or NumPy's
            (`bfloat16`, `float32`, `int8`, `bool`), then the sizes in brackets; `"f32[]"` is a
            scalar.

    Returns:
        The `jax.ShapeDtypeStruct` that stands for an array of that shape.

    Raises:
        SpecError: If the text is not such a shape; it says what is wrong.
    """
    if not isinstance(text, str):
        raise SpecError(repr(text), "it is not text")
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise SpecError(text, "it is not an element type followed by sizes in brackets")
    if match["rest"].startswith("{"):
        raise SpecError(
            text, "it has a layout, and layouts are the compiler's to choose: leave out the {...}"
        )
    if match["rest"]:
        raise SpecError(text, f"there is {match['rest']!r} after the bracket")
    dimensions = _read_dimensions(text, match["dimensions"])
    try:
        return make_spec(match["element_type"], dimensions)
    except KeyError:
        raise SpecError(text, _unknown_element_type(match["element_type"])) from None


def _read_dimensions(text: str, dimensions: str) -> list[int]:
    parts = [part.strip() for part in dimensions.split(",")] if dimensions.strip() else []
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise SpecError(text, f"{part!r} is not a size; sizes are whole numbers, 0 or more")
        if len(part) > _MOST_DIGITS:
            raise SpecError(f"{text[:40]}…", f"a size of {len(part):,} digits is none")
    return [int(part) for part in parts]


def _unknown_element_type(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), element_type_names(), n=2)
    hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
    return f"there is no element type {name!r}{hint}"
