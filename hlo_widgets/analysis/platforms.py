"""Which kind of device a module was compiled for: by its target's name, or by marks in its text."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from hlo_widgets.hlo import HloModule

__all__ = ["module_platform", "target_platform"]

# A TPU generation is a letter and a number ("v6e", "tpu7x"); NVIDIA's parts of the last decade are
# a letter or two and a number ("h100", "b200", "gh200", "rtx4090"); AMD's are "mi300".
_TARGET_PATTERNS = (
    ("tpu", re.compile(r"(tpu\d+[a-z]*|v\d[a-z]?)\b")),
    ("cpu", re.compile(r"cpu\b")),
    ("gpu", re.compile(r"(gpu|cuda|rocm|[abhltv]\d{1,3}\b|g[bh]\d+|rtx|mi\d+|sm_?\d+|gfx\d+)")),
)

# What only one backend writes: keys of its `backend_config`, and the targets of its custom calls.
_KEYS = (
    "(?P<tpu_key>used_scoped_memory_configs|window_config)"
    r"|(?P<gpu_key>operation_queue_id|\w+_backend_config|reification_cost)"
    "|(?P<cpu_key>outer_dimension_partitions)"
)
_CUSTOM_CALLS = (
    r"(?P<tpu_call>tpu_custom_call\")"
    r"|(?P<gpu_call>__cu\w*\$|__gpu\$|mosaic_gpu)"
    r"|(?P<cpu_call>__onednn\$|__xla_cpu_)"
)
# Where such marks stand. A string that is no such place is passed over whole, so that nothing in a
# user's name counts. Each alternative begins with one of two characters: that is quick to search.
_PLACES = re.compile(
    rf'(?<=custom_call_target=)"(?:{_CUSTOM_CALLS})'
    rf'|"(?:{_KEYS})"\s*:'
    # Some compilers print the JSON as a string.
    r'|(?<=backend_config=)"(?P<json>\{(?:[^"\\]|\\.)*+)'
    r'|"(?:[^"\\\n]|\\.)*+"?'
    # The tiles of a layout; a GPU or CPU layout has none.
    r"|(?<=[0-9{]):T(?P<tpu_tiles>\()",
    re.DOTALL,
)
_QUOTED_KEY = re.compile(rf'\\"(?:{_KEYS})\\"\s*:')

# Text without a mark is searched to its end, so the answer is kept as long as the module.
_answers: WeakKeyDictionary[HloModule, str | None] = WeakKeyDictionary()


def module_platform(module: HloModule) -> str | None:
    """Return the kind of device that the module was compiled for, judged by its text.

    Args:
        module: A module of any compiler.

    Returns:
        "tpu", "gpu" or "cpu"; None where the text carries no mark of any, as before optimization.
    """
    if module not in _answers:
        _answers[module] = _first_mark(module.text)
    return _answers[module]


def target_platform(target: str | None) -> str | None:
    """Return "tpu", "gpu" or "cpu" for a target's name such as "v6e:2x2x1"; None where unknown."""
    name = (target or "").lower()
    return next((platform for platform, p in _TARGET_PATTERNS if p.match(name)), None)


def _first_mark(text: str) -> str | None:
    for place in _PLACES.finditer(text):
        mark: re.Match[str] | None = place
        if place.lastgroup == "json":
            mark = _QUOTED_KEY.search(place["json"])
        if mark is not None and mark.lastgroup is not None:
            return mark.lastgroup.partition("_")[0]
    return None
