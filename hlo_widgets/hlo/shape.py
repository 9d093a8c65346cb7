"""Shapes as HLO writes them: `bf16[1024,512]{1,0:T(8,128)(2,1)S(1)}`.

You can think of a `Shape` as a type: an array of some element type with a size for each dimension
and a layout that says how the array lies in memory, or a tuple of such types.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.scanner import COMMENTS, find_closing, parse_error, skip_space

# Bits of one element. pred is stored as a byte; the sub-byte types are counted packed, as XLA's
# layouts print them only when they are (`E(4)`), and a whole buffer is rounded up to bytes.
ELEMENT_BITS: dict[str, int] = {
    "pred": 8,
    **{f"{sign}{bits}": bits for sign in "su" for bits in (1, 2, 4, 8, 16, 32, 64)},
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "c64": 64,
    "c128": 128,
    "f4e2m1fn": 4,
    "f8e3m4": 8,
    "f8e4m3": 8,
    "f8e4m3fn": 8,
    "f8e4m3b11fnuz": 8,
    "f8e4m3fnuz": 8,
    "f8e5m2": 8,
    "f8e5m2fnuz": 8,
    "f8e8m0fnu": 8,
    "token": 0,
}

_TYPE = re.compile(r"[a-z][a-z0-9]*+(?=\[)")
_DIMENSION = re.compile(r"\s*+(<=|\?(?=\s*+[,\]]|[0-9]))?((?:-?[0-9]++)?+)\s*+([,\]])")
_LAYOUT_OPEN = re.compile(r"\s*+\{\s*+((?:-?[0-9]++\s*+,?\s*+)*+)")
_SUFFIX = re.compile(r"\s*+([A-Z]{1,2}+|#|\*)")
_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SPACE_AND_COMMENTS = re.compile(rf"\s++|{COMMENTS.pattern}")
_GROUP = re.compile(r"\s*+\(([^()]*+)\)")


@dataclass(frozen=True, slots=True, eq=True)
class Tile:
    """One tile of a layout: `(8,128)`.

    Attributes:
        dimensions: Sizes of the tile, major to minor; None for `*`, which joins a dimension to the
            next.
    """

    dimensions: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"({','.join('*' if size is None else str(size) for size in self.dimensions)})"


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in memory: the text between the braces of a shape.

    Attributes:
        minor_to_major: Dimension numbers, the fastest varying first.
        tiles: Tiles of `T(...)`, the outermost first.
        memory_space: n of `S(n)`, 0 where none is written. What the number means is the backend's
            matter.
        suffixes: The other suffixes, verbatim and in order: `E(4)`, `M(128)`, `L(2)`, `SC(...)`,
            `D(...)`, `P(...)`, `#(u32)`, `*(u16)`.
    """

    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[Tile, ...] = ()
    memory_space: int = 0
    suffixes: tuple[str, ...] = ()

    def __str__(self) -> str:
        order = ",".join(map(str, self.minor_to_major))
        tiles = "T" + "".join(map(str, self.tiles)) if self.tiles else ""
        space = f"S({self.memory_space})" if self.memory_space else ""
        # XLA writes D P T * # L E SC S M in this order; a suffix that is unknown goes last.
        before = "".join(text for text in self.suffixes if text[0] in "DP")
        middle = "".join(
            text for text in self.suffixes if text[0] in "*#LE" or text.startswith("SC")
        )
        after = "".join(
            text for text in self.suffixes if text[0] not in "DP*#LE" and not text.startswith("SC")
        )
        attached = before + tiles + middle + space + after
        return f"{{{order}{':' if attached else ''}{attached}}}"


@dataclass(frozen=True, slots=True)
class Shape:
    """The type of a value: an array, a tuple of shapes, a token or an opaque handle.

    Attributes:
        element_type: XLA's name of the element type ("bf16"), or "tuple", "token", "opaque",
            "buffer".
        dimensions: Size of each dimension; None where the text writes `?` (unbounded). For `<=8`
            the bound.
        dynamic_dimensions: For each dimension, whether its size is only known at run time.
        layout: The layout, None where the text writes none.
        tuple_shapes: The shapes of a tuple, and the one shape inside a buffer; empty otherwise.
    """

    element_type: str
    dimensions: tuple[int | None, ...] = ()
    dynamic_dimensions: tuple[bool, ...] = ()
    layout: Layout | None = None
    tuple_shapes: tuple[Shape, ...] = ()

    @property
    def is_tuple(self) -> bool:
        """Whether this is a tuple of shapes."""
        return self.element_type == "tuple"

    @property
    def is_array(self) -> bool:
        """Whether this is an array, scalars included."""
        return self.element_type not in {"tuple", "token", "opaque", "buffer"}

    @property
    def is_scalar(self) -> bool:
        """Whether this is an array without dimensions."""
        return self.is_array and not self.dimensions

    @property
    def element_count(self) -> int | None:
        """Elements of the array, bounds for dynamic sizes; None for no array and unbounded ones."""
        if not self.is_array or any(size is None or size < 0 for size in self.dimensions):
            return None
        return prod(size for size in self.dimensions if size is not None)

    @property
    def byte_size(self) -> int | None:
        """Bytes of the elements, rounded up, without the padding that tiles bring.

        Of a tuple the sum over its shapes (not counting the table of pointers); of a token 0; None
        where a dimension is unbounded or the element type unknown.
        """
        total = 0
        for leaf in self.leaves():
            if leaf.element_type == "token":
                continue
            count = leaf.element_count
            bits = ELEMENT_BITS.get(leaf.element_type)
            if count is None or bits is None:
                return None
            total += (count * bits + 7) // 8
        return total

    @property
    def memory_space(self) -> int:
        """The memory space of the layout, 0 where none is written."""
        return self.layout.memory_space if self.layout is not None else 0

    def leaves(self) -> Iterator[Shape]:
        """Yield the shapes that are no tuples, in order; a shape that is no tuple yields itself."""
        stack = [self]
        while stack:
            shape = stack.pop()
            if shape.tuple_shapes:
                stack.extend(reversed(shape.tuple_shapes))
            elif not shape.is_tuple:
                yield shape

    def to_string(self, with_layout: bool = True) -> str:
        """Write the shape as HLO writes it.

        Args:
            with_layout: Whether to write layouts. True by default.
        """
        parts: list[str] = []
        stack: list[Shape | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
            elif item.is_tuple:
                parts.append("(")
                stack.append(")")
                for position, inner in enumerate(reversed(item.tuple_shapes)):
                    stack.append(inner)
                    if position + 1 < len(item.tuple_shapes):
                        stack.append(", ")
            elif item.element_type == "buffer":
                parts.append("b(")
                stack.append(")")
                stack.extend(item.tuple_shapes)
            else:
                parts.append(_array_text(item, with_layout))
        return "".join(parts)

    def __str__(self) -> str:
        return self.to_string()


def _array_text(shape: Shape, with_layout: bool) -> str:
    sizes = []
    for size, dynamic in zip(shape.dimensions, shape.dynamic_dimensions, strict=True):
        if size is None:
            sizes.append("?")
        else:
            sizes.append(f"<={size}" if dynamic else str(size))
    layout = str(shape.layout) if with_layout and shape.layout is not None else ""
    return f"{shape.element_type}[{','.join(sizes)}]{layout}"


# A module of 32,000 instructions has some hundreds of different shapes.
@lru_cache(maxsize=4096)
def parse_shape(text: str) -> Shape:
    """Read one shape, such as `(f32[8]{0}, token[])`.

    Raises:
        HloParseError: The text is no shape, or something follows it.
    """
    plain = _SPACE_AND_COMMENTS.sub("", text)
    if plain != text:
        # Space means nothing in a shape, and few places have any. Errors tell of the text as it is.
        with contextlib.suppress(HloParseError):
            return _parse_whole(plain)
    return _parse_whole(text)


def _parse_whole(text: str) -> Shape:
    shape, end = parse_shape_at(text, 0)
    end = skip_space(text, end)
    if end != len(text):
        raise parse_error(text, end, "unexpected text after a shape")
    return shape


def parse_shape_at(text: str, position: int) -> tuple[Shape, int]:
    """Read the shape that starts at `position`; return it and the position after it.

    Written without recursion, because text may nest tuples ten thousand deep.

    Raises:
        HloParseError: There is no shape at this place.
    """
    # Each open tuple or buffer: its kind and the shapes read so far.
    open_shapes: list[tuple[str, list[Shape]]] = []
    while True:
        position = skip_space(text, position)
        shape: Shape | None = None
        if text.startswith("b(", position):
            open_shapes.append(("buffer", []))
            position += 2
            continue
        if text.startswith("(", position):
            open_shapes.append(("tuple", []))
            position = skip_space(text, position + 1)
            if not text.startswith(")", position):
                continue
        else:
            shape, position = _parse_array(text, position)
        while True:
            if shape is not None:
                if not open_shapes:
                    return shape, position
                open_shapes[-1][1].append(shape)
                position = skip_space(text, position)
            if text.startswith(",", position):
                position = skip_space(text, position + 1)
                # A comma after the last shape is what a cut text and some hand-written files have.
                if not text.startswith(")", position):
                    break
            if not text.startswith(")", position):
                raise parse_error(text, position, "expected ',' or ')' in a tuple shape")
            kind, shapes = open_shapes.pop()
            position += 1
            shape = Shape(kind, tuple_shapes=tuple(shapes))


def _parse_array(text: str, position: int) -> tuple[Shape, int]:
    match = _TYPE.match(text, position)
    if match is None:
        raise parse_error(text, position, "expected a shape such as f32[8,128]")
    element_type = match.group()
    position = match.end() + 1
    sizes: list[int | None] = []
    dynamic: list[bool] = []
    position = skip_space(text, position)
    if text.startswith("]", position):
        position += 1
    else:
        while True:
            size = _DIMENSION.match(text, position)
            if size is None or not (size[1] or size[2]):
                raise parse_error(text, position, "expected the size of a dimension")
            bound = size[2]
            sizes.append(int(bound) if bound and len(bound) < 20 else None)
            dynamic.append(size[1] is not None)
            position = size.end()
            if size[3] == "]":
                break
    layout, position = _parse_layout(text, position)
    return Shape(element_type, tuple(sizes), tuple(dynamic), layout), position


def _parse_layout(text: str, position: int) -> tuple[Layout | None, int]:
    match = _LAYOUT_OPEN.match(text, position)
    if match is None:
        return None, position
    order = tuple(int(number) for number in re.findall(r"-?[0-9]{1,18}", match[1]))
    position = match.end()
    tiles: list[Tile] = []
    suffixes: list[str] = []
    memory_space = 0
    if text.startswith(":", position):
        position += 1
        while suffix := _SUFFIX.match(text, position):
            name, value = suffix[1], ""
            position = suffix.end()
            if text.startswith("(", position):
                end = find_closing(text, position)
                if end < 0:
                    break
                value, position = text[position:end], end
            if name == "T" and value:
                tiles.append(_tile(value[1:-1]))
                while group := _GROUP.match(text, position):
                    tiles.append(_tile(group[1]))
                    position = group.end()
            elif name == "S" and value[1:-1].isdecimal() and len(value) < 12:
                memory_space = int(value[1:-1])
            else:
                while group := _GROUP.match(text, position):
                    value += group.group()
                    position = group.end()
                suffixes.append(name + value)
    position = skip_space(text, position)
    if not text.startswith("}", position):
        raise parse_error(text, position, "unexpected text in a layout")
    return Layout(order, tuple(tiles), memory_space, tuple(suffixes)), position + 1


def _tile(text: str) -> Tile:
    sizes: list[int | None] = []
    for size in text.split(","):
        number = size.strip()
        sizes.append(int(number) if _NUMBER.fullmatch(number) else None)
    return Tile(tuple(sizes))
