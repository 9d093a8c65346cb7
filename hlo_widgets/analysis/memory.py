"""What an instruction holds in a TPU's fast memory, and the names of memory spaces.

A memory space is the number `n` in a layout's `S(n)`; a layout without one is in space 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hlo_widgets.analysis.backend_config import (
    config_fields,
    config_int,
    config_list,
    config_mapping,
)
from hlo_widgets.hlo import HloInstruction, Shape

__all__ = ["VmemUse", "memory_space_words", "output_memory_spaces", "vmem_use"]

_VMEM = 1
_WINDOW_FIELDS = ("estimated_vmem_bytes", "estimated_scoped_vmem_bytes")

# Only names that a compiler's text or XLA's source confirms. S(6), for example, is seen in TPU
# loops, and nothing open says what it is, so it stays a number. The GPU compiler's are those of
# MemorySpaceColor in xla/service/gpu/gpu_memory_space_assignment.h (kDefault, kCollective: what
# NCCL allocates, kTempBuffer); host memory is Layout::kHostMemorySpace in xla/layout.h.
_WORDS: Mapping[str, Mapping[int, str]] = {
    "tpu": {0: "HBM", 1: "VMEM", 2: "semaphore (sync flag)", 5: "host memory"},
    "gpu": {
        0: "device memory",
        1: "collective memory",
        2: "temporary buffers",
        5: "host memory",
    },
    "cpu": {0: "main memory"},
}


@dataclass(frozen=True)
class VmemUse:
    """How much of a TPU core's vector memory (VMEM) an instruction takes while it runs.

    Attributes:
        vmem_bytes: What the compiler reserved: the sizes in `used_scoped_memory_configs` for memory
            space 1, added up. None where it lists none for that space.
        limit_bytes: The most the instruction may take, from `scoped_memory_configs`; None where no
            limit of its own is set.
        window_bytes: The estimate in `window_config`, as printed, the larger where two are; 0 is
            what compilers print today. None where there is no such field.
    """

    vmem_bytes: int | None
    limit_bytes: int | None
    window_bytes: int | None


def vmem_use(instruction: HloInstruction) -> VmemUse:
    """Return what the text says about the instruction's use of VMEM; all None away from TPUs."""
    fields = config_fields(instruction)
    window = config_mapping(fields, "window_config")
    found = [config_int(window, name) for name in _WINDOW_FIELDS]
    printed = [size for size in found if size is not None and size >= 0]
    return VmemUse(
        vmem_bytes=_vmem_size(fields, "used_scoped_memory_configs"),
        limit_bytes=_vmem_size(fields, "scoped_memory_configs"),
        window_bytes=max(printed, default=None),
    )


def _vmem_size(fields: Mapping[str, object], name: str) -> int | None:
    entries = config_list(fields, name)
    # An entry without a memory space is in space 0, protobuf's default: it says nothing about VMEM.
    sizes = [config_int(e, "size") for e in entries if config_int(e, "memory_space") == _VMEM]
    known = [size for size in sizes if size is not None and size >= 0]
    return sum(known) if known and len(known) == len(sizes) else None


def memory_space_words(space: int, platform: str | None) -> str:
    """Return a memory space's name in words.

    Args:
        space: The number in a layout's `S(n)`; 0 without one.
        platform: "tpu", "gpu" or "cpu", as `module_platform` returns it; None where it is not
            known.

    Returns:
        Words such as "HBM" or "VMEM"; "memory space 6" where nothing open says what that space is,
        and "default memory" for space 0 of an unknown platform.
    """
    words = _WORDS.get(platform or "", {0: "default memory"})
    return words.get(space, f"memory space {space}")


def output_memory_spaces(shape: Shape) -> tuple[int, ...]:
    """Return the memory spaces in which a value of this shape lies, each once, in order.

    Args:
        shape: Any shape; of a tuple the arrays in it count.

    Returns:
        The spaces; empty where there is no array, as tokens hold no memory.
    """
    return tuple(dict.fromkeys(leaf.memory_space for leaf in shape.leaves() if leaf.is_array))
