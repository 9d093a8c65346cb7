"""Collectives: who exchanges data with whom, and how many bytes reach each device.

A compiler writes a collective in many ways: by itself, as a start and a done, inside an
asynchronous computation, inside a fusion, and, on a TPU, cut over several fusions, of which the
first starts it, those between compute while it runs, and the last one waits for its end. All of
them are found here.

The numbers in groups are those of devices in the order of the mesh that the program was compiled
for. A device is what JAX calls one: a GPU, a TPU chip, or one of the two cores of a TPU v2, v3 or
v7x chip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from hlo_widgets.analysis.async_pairs import start_of, wrapped_opcode
from hlo_widgets.analysis.calls import fused_computation
from hlo_widgets.analysis.replica_groups import (
    Groups,
    Pairs,
    pairs_words,
    read_pairs,
    read_replica_groups,
    some_groups,
    some_routes,
)
from hlo_widgets.analysis.shapes import readable_shape
from hlo_widgets.hlo import HloComputation, HloInstruction

__all__ = ["COLLECTIVE_KINDS", "Collective", "collectives_in"]

COLLECTIVE_KINDS = frozenset(
    "all-gather all-reduce all-to-all collective-broadcast collective-permute ragged-all-to-all"
    " reduce-scatter".split()
)

# Opcodes whose groups are of replicas unless they say otherwise; those of the others are of
# partitions as soon as they have a channel.
_OF_REPLICAS = frozenset({"all-gather", "all-reduce", "reduce-scatter"})
_PART_WORDS = {"whole": "", "start": "starts", "middle": "goes on", "done": "ends"}
_PARTS = {"AsyncCollectiveStart": "start", "AsyncCollectiveDone": "done"}


@dataclass(frozen=True)
class Collective:
    """One exchange of data between devices.

    Attributes:
        instruction: The instruction that has the groups.
        kind: One of `COLLECTIVE_KINDS`; "all-reduce-scatter" where a fusion keeps only a slice of
            the sum, which XLA makes of a reduce-scatter on a TPU.
        groups: The members of each group; () for one group of all; None where the text has none
            that can be read, as where pairs take their place.
        pairs: Source and target of each message of a collective-permute; else None.
        ids: What the numbers are: "device", "replica" or "partition".
        group_size: Devices that exchange data with one another, of the largest group; None where it
            is not known.
        bytes_moved: Bytes that one device receives from others in one run, in a way that moves the
            least over links that only copy: what a ring does. Of n devices with s bytes going in
            on each it is (n - 1) s for an all-gather, (n - 1) / n s for a reduce-scatter and an
            all-to-all, twice that for an all-reduce, and s for a permutation and a broadcast. It
            follows from shapes and groups alone: not a measurement, and a compiler may choose a
            way that moves more. None where a size is not known, as in a ragged-all-to-all, whose
            sizes are data; and in the later parts of one that another fusion has started.
        part: "whole"; or "start", "middle" and "done" of one that is cut over several fusions.
    """

    instruction: HloInstruction
    kind: str
    groups: Groups | None
    pairs: Pairs | None
    ids: str
    group_size: int | None
    bytes_moved: int | None
    part: str = "whole"

    @property
    def title(self) -> str:
        """The kind, of one that is cut over several fusions with its part: `all-gather starts`."""
        return f"{self.kind} {_PART_WORDS[self.part]}".rstrip()

    @property
    def who(self) -> str:
        """Who exchanges data with whom, in a few words: `4 groups of 4 devices`."""
        if "source_target_pairs" in self.instruction.attributes:
            return "pairs not known" if self.pairs is None else pairs_words(self.pairs)
        if self.groups is None:
            return "groups not known"
        if not self.groups:
            size = "" if self.group_size is None else f" {self.group_size:,}"
            return f"all{size} {'partition' if self.ids == 'partition' else 'device'}s"
        largest = max(map(len, self.groups))
        uneven = "up to " if any(len(group) < largest for group in self.groups) else ""
        noun = self.ids if largest == 1 else f"{self.ids}s"
        # With a channel, all partitions of the replicas of a group take part.
        whole = self.ids == "replica" and self.group_size != largest
        return (
            f"{len(self.groups):,} group{'s' if len(self.groups) > 1 else ''} of {uneven}"
            f"{largest:,} {noun}{' with all their partitions' if whole else ''}"
        )

    @property
    def words(self) -> str:
        """The same with the members: `4 groups of 4 devices: {0,1,2,3} {4,5,6,7} and 2 more`."""
        members = some_routes(self.pairs) if self.pairs else some_groups(self.groups or ())
        return f"{self.who}: {members}" if members else self.who


def collectives_in(instruction: HloInstruction) -> tuple[Collective, ...]:
    """Return the collectives that an instruction is, or that run inside it.

    Args:
        instruction: A collective, its start, update or done, an asynchronous call, a custom call or
            a fusion. Of a loop, a call and a conditional nothing is told: their bodies have
            instructions of their own.

    Returns:
        The collectives in text order; () where there is none.
    """
    start = start_of(instruction) or instruction
    if wrapped_opcode(start) in COLLECTIVE_KINDS and not start.opcode.startswith("async-"):
        return (_read(start),)
    return tuple(_read(inner) for inner in _inside(start))


def _inside(instruction: HloInstruction) -> Iterator[HloInstruction]:
    """Yield the collectives in what one instruction calls, at any depth."""
    waiting = [instruction]
    seen: set[HloComputation] = set()
    while waiting:
        one = waiting.pop()
        is_wrapper = one.opcode == "async-start"
        if not is_wrapper and one.opcode != "custom-call" and fused_computation(one) is None:
            continue
        for computation in set(one.named_computations) - seen:
            seen.add(computation)
            # An asynchronous call stands for one instruction: the root of what it calls.
            root = computation.root_instruction
            for inner in (root,) if is_wrapper else computation.instructions:
                if wrapped_opcode(inner) in COLLECTIVE_KINDS and start_of(inner) is None:
                    yield inner
                elif inner.named_computations:
                    waiting.append(inner)


def _read(instruction: HloInstruction) -> Collective:
    kind = _kind(instruction)
    pairs = read_pairs(instruction.attributes.get("source_target_pairs", ""))
    ids, of_each = _ids(instruction)
    everybody = _everybody(instruction, ids, of_each)
    groups = read_replica_groups(instruction.attributes.get("replica_groups", ""))
    if groups and everybody and groups == (tuple(range(everybody)),):
        groups = ()
    size = everybody
    if groups or groups is None:
        size = max(map(len, groups)) * of_each if groups else None
    part = _part(instruction)
    counts = part in {"whole", "start"}
    moved = _bytes_moved(instruction, kind, size, pairs) if counts else None
    return Collective(instruction, kind, groups, pairs, ids, size, moved, part)


def _kind(instruction: HloInstruction) -> str:
    kind = wrapped_opcode(instruction)
    sliced = instruction.users and all(u.opcode == "dynamic-slice" for u in instruction.users)
    if kind == "all-reduce" and sliced and instruction.parent.is_fusion_computation:
        return "all-reduce-scatter"
    return kind


def _part(instruction: HloInstruction) -> str:
    if not instruction.parent.is_fusion_computation:
        return "whole"
    for user in instruction.users:
        target = user.attributes.get("custom_call_target", "").strip('"')
        if user.opcode == "custom-call" and target in _PARTS:
            return _PARTS[target]
    cut = "async_collective_fusion_config" in instruction.attributes.get("backend_config", "")
    return "middle" if cut else "whole"


def _count(instruction: HloInstruction, attribute: str) -> int:
    text = instruction.parent.parent.attributes.get(attribute, "1")
    return int(text[:18]) if text.isdecimal() else 1


def _ids(instruction: HloInstruction) -> tuple[str, int]:
    """Return what the numbers in the groups are, and how many devices one of them stands for."""
    replicas = _count(instruction, "replica_count")
    partitions = _count(instruction, "num_partitions")
    attributes = instruction.attributes
    if attributes.get("use_global_device_ids") == "true":
        return "device", 1
    has_channel = "channel_id" in attributes
    if has_channel and wrapped_opcode(instruction) not in _OF_REPLICAS:
        return ("device" if replicas == 1 else "partition"), 1
    # With a channel all partitions of the replicas of a group take part.
    each = partitions if has_channel else 1
    return ("device" if partitions == 1 else "replica"), each


def _everybody(instruction: HloInstruction, ids: str, of_each: int) -> int | None:
    """Return how many devices one group of all has."""
    replicas = _count(instruction, "replica_count")
    partitions = _count(instruction, "num_partitions")
    everybody = {"replica": replicas * of_each, "partition": partitions}
    count = everybody.get(ids, replicas * partitions)
    # A header that names no number may be a header that is missing.
    return count if count > 1 else None


def _bytes_moved(
    instruction: HloInstruction, kind: str, size: int | None, pairs: Pairs | None
) -> int | None:
    if kind == "ragged-all-to-all":
        return None
    going_in = _bytes_in(instruction)
    if kind == "collective-permute":
        if going_in is None or pairs is None:
            return None
        return going_in if any(source != target for source, target in pairs) else 0
    if going_in is None or size is None:
        return None
    share = Fraction(size - 1, size)
    times = {
        "all-gather": Fraction(size - 1),
        "all-reduce": 2 * share,
        "collective-broadcast": Fraction(1 if size > 1 else 0),
    }.get(kind, share)
    return ceil(going_in * times)


def _bytes_in(instruction: HloInstruction) -> int | None:
    """Return the bytes that go in on one device; None where a size is not known."""
    if "slice_sizes" in instruction.attributes:
        return None  # parts of operands, which lie where other operands say
    sizes = []
    for operand in instruction.operands:
        shape = readable_shape(operand)
        sizes.append(None if shape is None else shape.byte_size)
    known = [size for size in sizes if size is not None]
    return sum(known) if known and len(known) == len(sizes) else None
