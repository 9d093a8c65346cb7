"""The hardware that programs can be compiled for, by the names that people say."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from hlo_widgets.errors import UnknownTargetError

__all__ = ["Target", "find_target", "list_targets"]

_TPU_NEEDS = "libtpu>=0.0.45"


@dataclass(frozen=True)
class Target:
    """One kind of hardware to compile for.

    Attributes:
        name: What the user writes, such as "v6e".
        platform: JAX's platform, "cpu" or "tpu"; also the name of the worker that compiles for it.
        device_kind: What JAX calls one device of it, such as "TPU v6 lite".
        topology: The name that the compiler knows the arrangement of chips by, such as "v6e:1x1";
            `None` where there is nothing to arrange.
        chips: Number of chips that the program is compiled for.
        needs: What pip must install beside jax; `None` where jax alone is enough.
    """

    name: str
    platform: str
    device_kind: str
    topology: str | None
    chips: int
    needs: str | None


def _tpu(name: str, device_kind: str, topology: str) -> Target:
    return Target(name, "tpu", device_kind, topology, 1, _TPU_NEEDS)


# "v7x" is refused by libtpu as an external name; "tpu7x" is the one it knows.
_TARGETS = {
    target.name: target
    for target in (
        Target("cpu", "cpu", "cpu", None, 1, None),
        _tpu("v2", "TPU v2", "v2:1x1"),
        _tpu("v3", "TPU v3", "v3:1x1"),
        _tpu("v4", "TPU v4", "v4:1x1x1"),
        _tpu("v5e", "TPU v5 lite", "v5e:1x1"),
        _tpu("v5p", "TPU v5", "v5p:1x1x1"),
        _tpu("v6e", "TPU v6 lite", "v6e:1x1"),
        _tpu("tpu7x", "TPU7x", "tpu7x:1x1x1"),
    )
}


def list_targets() -> list[Target]:
    """List every target, whether or not its compiler is installed here."""
    return list(_TARGETS.values())


def find_target(name: str | Target) -> Target:
    """Find a target by its name.

    Args:
        name: A name from `list_targets()`, in upper or lower case; a `Target` is returned as it is.

    Raises:
        UnknownTargetError: If there is none of that name; it suggests names spelled nearly the
            same.
    """
    if isinstance(name, Target):
        return name
    wanted = str(name).strip().lower()
    if wanted in _TARGETS:
        return _TARGETS[wanted]
    # 0.5 lets "v6" find "v6e" and "v7x" find "tpu7x", and still leaves unlike names alone.
    suggestions = difflib.get_close_matches(wanted, _TARGETS, n=2, cutoff=0.5)
    raise UnknownTargetError(str(name), tuple(_TARGETS), suggestions)
