"""Which kind of device a module was compiled for: by its target's name, or by marks in its text."""

from __future__ import annotations

import re

from hlo_widgets.hlo import HloModule

__all__ = ["module_platform", "target_platform"]

# A TPU generation is a letter and a number ("v6e", "tpu7x"); NVIDIA's parts of the last decade are
# a letter or two and a number ("h100", "b200", "gh200", "rtx4090"); AMD's are "mi300".
_TARGET_PATTERNS = (
    ("tpu", re.compile(r"(tpu\d+[a-z]*|v\d[a-z]?)\b")),
    ("cpu", re.compile(r"cpu\b")),
    ("gpu", re.compile(r"(gpu|cuda|rocm|[abhltv]\d{1,3}\b|g[bh]\d+|rtx|mi\d+|sm_?\d+|gfx\d+)")),
)

# Text that only one backend writes. A TPU layout is tiled; a GPU or CPU layout is not.
_TEXT_MARKS = (
    ("tpu", ('"used_scoped_memory_configs"', ":T(")),
    ("gpu", ('"operation_queue_id"', '"fusion_backend_config"', '"gemm_backend_config"', "__cu")),
    ("cpu", ('"outer_dimension_partitions"', "__onednn$", "xla_cpu_", "EigenMatMul")),
)


def module_platform(module: HloModule) -> str | None:
    """Return the kind of device that the module was compiled for, judged by its text.

    Args:
        module: A module of any compiler.

    Returns:
        "tpu", "gpu" or "cpu"; None where the text carries no mark of any, as before optimization.
    """
    for platform, marks in _TEXT_MARKS:
        if any(mark in module.text for mark in marks):
            return platform
    return None


def target_platform(target: str | None) -> str | None:
    """Return "tpu", "gpu" or "cpu" for a target's name such as "v6e:2x2x1"; None where unknown."""
    name = (target or "").lower()
    return next((platform for platform, p in _TARGET_PATTERNS if p.match(name)), None)
