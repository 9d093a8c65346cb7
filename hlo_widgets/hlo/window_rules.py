"""Shapes of what slides a window over its operand or gathers slices: see `shape_rules`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hlo_widgets.hlo.shape import Shape

if TYPE_CHECKING:
    from hlo_widgets.hlo.instruction import HloInstruction

_FIELD = re.compile(r"(\w++)=([-0-9x_]++)")
_LABELS = re.compile(r"([0-9bf?]++)_([0-9io?]++)->([0-9bf?]++)")


def reduce_window(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    """Return the shape of a reduce-window, in the default layout."""
    reduced = []
    for shape in shapes[: len(shapes) // 2]:
        sizes = tuple(_slide(instruction.attributes, shape.dimensions))
        reduced.append(Shape(shape.element_type, sizes, shape.dynamic_dimensions))
    return reduced[0] if len(reduced) == 1 else Shape("tuple", tuple_shapes=tuple(reduced))


def convolution(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    """Return the shape of a convolution, in the default layout."""
    labels = _LABELS.fullmatch(instruction.attributes["dim_labels"])
    if labels is None:
        raise ValueError(instruction.attributes["dim_labels"])
    left, right, out = labels.groups()
    image, kernel = shapes[0], shapes[1]
    spatial = sorted(label for label in out if label.isdecimal())
    slid = _slide(instruction.attributes, [image.dimensions[left.index(n)] for n in spatial])
    sizes: dict[str, int | None] = dict(zip(spatial, slid, strict=True))
    batch = image.dimensions[left.index("b")]
    groups = int(instruction.attributes.get("batch_group_count", "1"))
    sizes["b"] = None if batch is None else batch // groups
    sizes["f"] = kernel.dimensions[right.index("o")]
    dynamic = {label: image.dynamic_dimensions[n] for n, label in enumerate(left) if label != "f"}
    return Shape(
        image.element_type,
        tuple(sizes[label] for label in out),
        tuple(dynamic.get(label, False) for label in out),
    )


def gather(instruction: HloInstruction, shapes: list[Shape]) -> Shape:
    """Return the shape of a gather, in the default layout."""
    attributes = instruction.attributes
    offsets = _numbers(attributes, "offset_dims")
    gone = {
        *_numbers(attributes, "collapsed_slice_dims"),
        *_numbers(attributes, "operand_batching_dims"),
    }
    windows = iter([n for i, n in enumerate(_numbers(attributes, "slice_sizes")) if i not in gone])
    along = int(attributes["index_vector_dim"])
    indices = [n for i, n in enumerate(shapes[1].dimensions) if i != along]
    where = iter(indices)
    sizes = [
        next(windows) if n in offsets else next(where) for n in range(len(offsets) + len(indices))
    ]
    return Shape(shapes[0].element_type, tuple(sizes), (False,) * len(sizes))


def _slide(
    attributes: Mapping[str, str], sizes: tuple[int | None, ...] | list[int | None]
) -> Iterator[int | None]:
    """Yield in how many places a window fits, for each dimension."""
    window = dict(_FIELD.findall(attributes.get("window", "")))
    fields = [
        window[key].split("x") if key in window else [default] * len(sizes)
        for key, default in (
            ("size", "1"),
            ("stride", "1"),
            ("pad", "0_0"),
            ("lhs_dilate", "1"),
            ("rhs_dilate", "1"),
        )
    ]
    for size, width, stride, pad, dilate, spread in zip(sizes, *fields, strict=True):
        if size is None:
            yield None
            continue
        low, high = map(int, pad.split("_"))
        padded = low + high + ((size - 1) * int(dilate) + 1 if size else 0)
        covers = (int(width) - 1) * int(spread) + 1 if int(width) else 0
        yield (padded - covers) // int(stride) + 1 if padded >= covers else 0


def _numbers(attributes: Mapping[str, str], key: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]{1,9}", attributes.get(key, ""))]
