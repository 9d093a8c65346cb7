"""Which devices exchange data with which: `replica_groups` and `source_target_pairs`.

Text writes groups in three ways: as lists, `{{0,1},{2,3}}`; as a reshaped and transposed count,
`[2,2]<=[2,2]T(1,0)`; and as axes of a mesh, `mesh['x'=2,'y'=2] {'x'}`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence

__all__ = [
    "Groups",
    "Pairs",
    "pairs_words",
    "read_pairs",
    "read_replica_groups",
    "some_groups",
    "some_routes",
]

Groups = tuple[tuple[int, ...], ...]
Pairs = tuple[tuple[int, int], ...]

MOST_DEVICES = 1 << 20
"""Devices in all groups of one collective; arbitrary, more than any machine has. Text can claim any
number."""

MOST_AXES = 64
"""Axes of a mesh or a reshape; arbitrary, above what any array has. Text can have any number."""

_TOO_LONG = re.compile(r"[0-9]{19}")
"""A number that is no device: more digits than a machine's integer has."""

_LISTS = re.compile(r"\{\s*(?:\{[0-9,\s]*\}[\s,]*)*\}")
_LIST = re.compile(r"\{([0-9,\s]*)\}")
_DIMENSIONS = r"\[([0-9,\s]+)\]"
_ORDER = r"(?:T\(([0-9,\s]+)\))?"
_IOTA = re.compile(rf"{_DIMENSIONS}\s*<=\s*{_DIMENSIONS}\s*{_ORDER}")
_MESH = re.compile(
    r"mesh\[(?P<axes>(?:[^'\"\]]|'[^']*'|\"[^\"]*\")*)\]"
    r"(?:\s*,\s*device_ids=\((?P<devices>[^{]*)\))?\s*\{(?P<over>[^{}]*)\}"
)
_AXIS = re.compile(r"[\"']([^\"']*)[\"']\s*=\s*([0-9]+)")
# `'x'`, or a part of an axis: `'x':(2)4` is the 4 steps that come after 2.
_PART = re.compile(r"[\"']([^\"']*)[\"'](?::\(([0-9]+)\)([0-9]+))?")
_TILES = re.compile(rf"{_DIMENSIONS}\s*{_ORDER}")


def read_replica_groups(text: str) -> Groups | None:
    """Read the value of `replica_groups`.

    Args:
        text: One of the three forms above.

    Returns:
        The members of each group; () for `{}`, which stands for one group of all. None where the
        text is none of the forms, or names more than `MOST_DEVICES` devices.
    """
    if _TOO_LONG.search(text):
        return None
    text = text.strip()
    if _LISTS.fullmatch(text):
        return tuple(members for found in _LIST.findall(text[1:-1]) if (members := _numbers(found)))
    iota = _IOTA.fullmatch(text)
    if iota is not None:
        return _cut(_counted(_numbers(iota[2]), _numbers(iota[3])), _numbers(iota[1]))
    mesh = _MESH.fullmatch(text)
    return None if mesh is None else _mesh_groups(mesh)


def read_pairs(text: str) -> Pairs | None:
    """Read the value of `source_target_pairs`; None where it is no list of pairs."""
    text = text.strip()
    if _TOO_LONG.search(text) or not _LISTS.fullmatch(text):
        return None
    pairs = [_numbers(found) for found in _LIST.findall(text[1:-1])]
    return tuple((p[0], p[1]) for p in pairs) if all(len(p) == 2 for p in pairs) else None


def some_groups(groups: Groups, most: int = 4) -> str:
    """Return the members of groups as text: `{0,1,2,3} {4,5,6,7} and 2 more`.

    Args:
        groups: The members of each group.
        most: How many groups to write.
    """
    words = " ".join(f"{{{_members(group)}}}" for group in groups[:most])
    return f"{words} and {len(groups) - most:,} more" if len(groups) > most else words


def pairs_words(pairs: Pairs) -> str:
    """Return in a few words who sends to whom: `4 rings of 4`."""
    if not _is_permutation(pairs):
        return f"{len(_sent(pairs)):,} messages, several from or to one device"
    routes = _routes(pairs)
    kinds = {(route[0] == route[-1], len(set(route))) for route in routes}
    if len(kinds) != 1:
        messages = sum(len(route) - 1 for route in routes)
        return f"{messages:,} messages" if messages else "nobody sends to another"
    is_ring, length = kinds.pop()
    plural = "s" if len(routes) > 1 else ""
    return f"{len(routes):,} {'ring' if is_ring else 'chain'}{plural} of {length:,}"


def some_routes(pairs: Pairs, most: int = 4) -> str:
    """Return the ways that messages go: `0 → 1 → 2 → 3 → 0 and 3 more`.

    Args:
        pairs: Source and target of each message.
        most: How many rings, chains or messages to write.
    """
    routes = _routes(pairs) if _is_permutation(pairs) else [list(pair) for pair in _sent(pairs)]
    written = ", ".join(_route(route) for route in routes[:most])
    return f"{written} and {len(routes) - most:,} more" if len(routes) > most else written


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall("[0-9]+", text or ""))


def _counted(shape: Sequence[int], order: Sequence[int]) -> list[int] | None:
    """Return 0, 1, 2, ... in the order of an array of that shape after its transposition."""
    order = order or range(len(shape))
    if len(shape) > MOST_AXES or sorted(order) != list(range(len(shape))):
        return None
    # One size of 0 must not hide how large the others are: then there is nothing to count.
    if not 0 < math.prod(shape) <= MOST_DEVICES:
        return None
    places = [0]
    for axis in order:
        step = math.prod(shape[axis + 1 :])
        places = [place + step * index for place in places for index in range(shape[axis])]
    return places


def _cut(places: Sequence[int] | None, shape: Sequence[int]) -> Groups | None:
    """Cut a list into groups; None where it does not have that many members."""
    if places is None or len(shape) != 2 or math.prod(shape) != len(places):
        return None
    size = shape[1]
    return tuple(tuple(places[at : at + size]) for at in range(0, len(places), size or 1))


def _mesh_groups(mesh: re.Match[str]) -> Groups | None:
    axes = {name: int(size) for name, size in _AXIS.findall(mesh["axes"])}
    split = _split_axes(axes, _PART.findall(mesh["over"]))
    if split is None:
        return None
    sizes, over = split
    others = [axis for axis in range(len(sizes)) if axis not in over]
    places = _counted(sizes, [*others, *over])
    if places is None:
        return None
    devices = _device_order(mesh["devices"], len(places))
    if devices is None or len(devices) < len(places):
        return None
    size = math.prod(sizes[axis] for axis in over)
    return _cut([devices[place] for place in places], (len(places) // size, size))


def _split_axes(
    axes: dict[str, int], parts: Iterable[tuple[str, str, str]]
) -> tuple[list[int], list[int]] | None:
    """Split axes of which only a part is meant.

    Returns:
        The sizes of the axes after that, and which of them are meant, in the order of `parts`.
        Where one axis is cut twice, None: no compiler has been seen to write that.
    """
    cuts: dict[str, tuple[int, int, int]] = {}
    for name, before, size in parts:
        whole = axes.get(name)
        first, middle = (int(before), int(size)) if size else (1, whole or 0)
        if whole is None or name in cuts or not first * middle or whole % (first * middle):
            return None
        cuts[name] = (first, middle, whole // (first * middle))
    sizes: list[int] = []
    meant: dict[str, int] = {}
    for name, whole in axes.items():
        meant[name] = len(sizes) + 1 if name in cuts else -1
        sizes += cuts.get(name, (whole,))
    return sizes, [meant[name] for name in cuts]


def _device_order(text: str | None, count: int) -> Sequence[int] | None:
    """Return the device at each place of a mesh: counted, counted in another order, or a list."""
    if not text:
        return range(count)
    tiles = _TILES.fullmatch(text.strip())
    return _counted(_numbers(tiles[1]), _numbers(tiles[2])) if tiles else _numbers(text)


def _members(group: Sequence[int]) -> str:
    if len(group) > 8:
        step = group[1] - group[0]
        if all(b - a == step for a, b in itertools.pairwise(group)):
            return f"{group[0]},{group[1]},...,{group[-1]}"
        return ",".join(map(str, group[:6])) + f" and {len(group) - 6:,} more"
    return ",".join(map(str, group))


def _sent(pairs: Pairs) -> list[tuple[int, int]]:
    """Return the pairs of different devices: what stays where it is is no message."""
    return [(source, target) for source, target in pairs if source != target]


def _is_permutation(pairs: Pairs) -> bool:
    """Return whether no device sends, or receives, more than one message."""
    sent = _sent(pairs)
    return all(len({pair[side] for pair in sent}) == len(sent) for side in (0, 1))


def _routes(pairs: Pairs) -> list[list[int]]:
    """Join messages that follow one another: rings begin and end with the same device."""
    following = dict(_sent(pairs))
    targets = set(following.values())
    # Chains begin where nothing arrives; what is left then is rings.
    starts = [source for source in following if source not in targets] + list(following)
    routes = []
    for start in starts:
        route = [start]
        while route[-1] in following:
            route.append(following.pop(route[-1]))
        if len(route) > 1:
            routes.append(route)
    return routes


def _route(route: Sequence[int]) -> str:
    if len(route) > 9:
        return " → ".join(map(str, route[:3])) + f" → ... → {route[-1]}"
    return " → ".join(map(str, route))
