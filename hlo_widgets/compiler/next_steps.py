"""What to do about a refusal that the request itself caused: a flag, or an arrangement of chips."""

from __future__ import annotations

import difflib
import re

from hlo_widgets.compiler.flag_list import list_flags
from hlo_widgets.compiler.flag_records import CompilerFlag
from hlo_widgets.compiler.targets import Target, sizes_that_work
from hlo_widgets.errors import HloWidgetsError

__all__ = ["next_steps"]

_NO_FLAG = re.compile(r"No such compile option: '(?P<name>[^']*)'")
_NO_VALUE = re.compile(r"While setting option (?P<name>\w+),")
_NO_LAYOUT = re.compile(r"is not divisible by the given \(or default\) chips_per_host_bounds")

MOST_NAMES = 3
"""Flags of nearly the same name that are told; arbitrary, the list has all."""

# Arbitrary: below it a flag of two thousand has some other three words in common.
_ALIKE = 0.8

_PLATFORMS = {"xla_tpu_": "tpu", "xla_gpu_": "cuda", "xla_cpu_": "cpu"}


def next_steps(reason: str, target: Target) -> str:
    """Return what a user can do about a refusal; "" where nothing is known to help.

    Args:
        reason: The compiler's words.
        target: What it was to compile for; its compiler is asked for its flags.
    """
    if (found := _NO_FLAG.search(reason)) is not None:
        return _other_flags(found["name"], target)
    if (found := _NO_VALUE.search(reason)) is not None:
        return _own_value(found["name"], target)
    return sizes_that_work(target) if _NO_LAYOUT.search(reason) else ""


def _other_flags(name: str, target: Target) -> str:
    names = [flag.name for flag in _flags(target)]
    near = difflib.get_close_matches(name, names, n=MOST_NAMES, cutoff=_ALIKE)
    guess = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    prefix = name[: len("xla_tpu_")]
    if not near and _PLATFORMS.get(prefix, target.platform) != target.platform:
        guess = f"Flags that begin with {prefix} are another compiler's. "
    return f"{guess}hw.list_flags({target.name!r}) lists what this compiler knows."


def _own_value(name: str, target: Target) -> str:
    known = next((flag for flag in _flags(target) if flag.name == name), None)
    if known is None:
        return ""
    what = "one of the compiler's own words" if known.kind == "choice" else f"of type {known.kind}"
    return f"It is {what}, and {known.value!r} where it is not set."


def _flags(target: Target) -> list[CompilerFlag]:
    try:
        return list_flags(target)
    except HloWidgetsError:  # the refusal is what the user has to see, not why this fails
        return []
