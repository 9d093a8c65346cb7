"""The hardware that programs can be compiled for, by the names that people say."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from hlo_widgets.compiler.gpus import GPUS, target_config
from hlo_widgets.errors import UnknownTargetError

if TYPE_CHECKING:
    from hlo_widgets.compiler.availability import Availability

__all__ = ["LOCAL", "Target", "find_target", "list_targets", "sizes_that_work", "too_many_chips"]


@dataclass(frozen=True)
class Target:
    """One kind of hardware to compile for, and how many of it.

    Attributes:
        name: What the user writes, such as "v6e" or "v5e:4x4".
        platform: JAX's platform: "cpu", "tpu" or "cuda"; also the name of the worker that compiles
            for it.
        device_kind: What JAX calls one device of it, such as "TPU v6 lite".
        topology: The name that the compiler knows the arrangement of chips by, such as "v6e:1x1";
            `None` where there is nothing to arrange.
        chips: Number of chips.
        devices: Number of JAX devices; some TPUs have two cores a chip, each a device.
        topology_options: What the compiler must be told beside the name.
    """

    name: str
    platform: str
    device_kind: str
    topology: str | None = None
    chips: int = 1
    devices: int = 1
    topology_options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def availability(self) -> Availability:
        """Whether this machine can compile for it, and what to install where it cannot."""
        from hlo_widgets.compiler.availability import availability

        return availability(self)

    def abstract_mesh(self, axis_names: Sequence[str], axis_sizes: Sequence[int]) -> Any:
        """Make a mesh of all its devices, to shard a function over.

        Args:
            axis_names: Name of each axis, such as `("data", "model")`.
            axis_sizes: Devices along each; their product is `devices`.

        Returns:
            A `jax.sharding.AbstractMesh`, for `jax.sharding.NamedSharding` and for the `mesh` of
            `compile_for`.

        Raises:
            ValueError: If the sizes do not multiply to the number of devices.
        """
        import jax

        sizes, names = tuple(axis_sizes), tuple(axis_names)
        if len(names) != len(sizes):
            raise ValueError(f"{len(names)} names of axes and {len(sizes)} sizes")
        if math.prod(sizes) != self.devices:
            raise ValueError(
                f"a mesh of {' x '.join(map(str, sizes))} needs {math.prod(sizes)} devices, and "
                f"{self.name} has {self.devices}"
            )
        return jax.sharding.AbstractMesh(sizes, names)


@dataclass(frozen=True)
class _Generation:
    """A generation of TPUs.

    Attributes:
        device_kind: JAX's name for a device of it.
        is_3d: Whether its chips are wired as a torus of three dimensions.
        cores: JAX devices on one chip.
        options: What libtpu must be told to arrange the chips as JAX programs see them.
        most_chips: Above this libtpu was seen to abort; `None` where no number did that.
    """

    device_kind: str
    is_3d: bool
    cores: int = 1
    options: tuple[tuple[str, str], ...] = ()
    most_chips: int | None = None


# "v7x" is refused by libtpu as an external name; "tpu7x" is the one it knows. Programs see the two
# cores of a v4 as one device, which libtpu calls megacore and does not assume.
_TPUS = {
    "v2": _Generation("TPU v2", is_3d=False, cores=2),
    "v3": _Generation("TPU v3", is_3d=False, cores=2),
    "v4": _Generation("TPU v4", is_3d=True, options=(("chip_config_name", "megacore"),)),
    "v5e": _Generation("TPU v5 lite", is_3d=False, most_chips=256),
    "v5p": _Generation("TPU v5", is_3d=True),
    "v6e": _Generation("TPU v6 lite", is_3d=False),
    "tpu7x": _Generation("TPU7x", is_3d=True, cores=2),
}

LOCAL = Target("local", "local", "what JAX finds in this process")
"""Stands for the device that this process really has, and is only looked up when it is used."""

_SIZES = re.compile(r"[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){0,2}")


def list_targets() -> list[Target]:
    """List every kind of target, whether or not its compiler is installed here.

    Each TPU and GPU is listed as one chip; more chips have names such as "v5e:4x4", "v5p:4x4x4",
    "h100:8" (GPUs of one host) and "h100:2x8" (hosts by GPUs of each).
    """
    return [_find(name) for name in _names()]


@cache
def _names() -> tuple[str, ...]:
    return ("cpu", "local", *_TPUS, *GPUS)


def find_target(name: str | Target) -> Target:
    """Find a target by its name.

    Args:
        name: A name from `list_targets()`, in upper or lower case, with or without a topology as in
            "v5e:4x4"; a `Target` is returned as it is. "local" is the target of the first device
            that JAX has in this process, and starts JAX's backends to see.

    Raises:
        UnknownTargetError: If there is none of that name; it suggests names spelled nearly the
            same.
        TargetUnavailableError: If the name is "local" and this device is none of the targets.
    """
    if isinstance(name, Target) and name != LOCAL:
        return name
    wanted = name.name if isinstance(name, Target) else str(name).strip().lower()
    if wanted == LOCAL.name:
        from hlo_widgets.compiler.local import local_target

        return local_target()
    found = _find(wanted)
    if found is None:
        hint = _hint(wanted.partition(":")[0])
        raise UnknownTargetError(str(name), _names(), _suggest(wanted), hint)
    return found


@cache
def _find(name: str) -> Target | None:
    kind, has_sizes, words = name.partition(":")
    if has_sizes and not _SIZES.fullmatch(words):
        return None
    sizes = tuple(int(word) for word in words.split("x")) if has_sizes else ()
    if kind in _TPUS:
        return _tpu(name, kind, sizes)
    if kind in GPUS:
        return _gpu(name, kind, sizes)
    return {"cpu": Target("cpu", "cpu", "cpu"), "local": LOCAL}.get(name)


def _tpu(name: str, kind: str, sizes: tuple[int, ...]) -> Target | None:
    generation = _TPUS[kind]
    dimensions = 3 if generation.is_3d else 2
    # libtpu itself takes "v5p:2x2" for 2x2x1 and "v5e:2x2x1" for 2x2.
    full = sizes or (1,) * dimensions
    if len(full) == 1 or (len(full) > dimensions and full[-1] != 1):
        return None
    shape = (*full, 1)[:dimensions]
    chips = math.prod(shape)
    return Target(
        name=name,
        platform="tpu",
        device_kind=generation.device_kind,
        topology=f"{kind}:{'x'.join(map(str, shape))}",
        chips=chips,
        devices=chips * generation.cores,
        topology_options=generation.options,
    )


def _gpu(name: str, kind: str, sizes: tuple[int, ...]) -> Target | None:
    if len(sizes) > 2:
        return None
    hosts, per_host = (1, 1, *sizes)[-2:]
    gpu = GPUS[kind]
    # The compiler's own topology is slices by hosts by GPUs of each.
    options = (("topology", f"1x{hosts}x{per_host}"), ("target_config", target_config(gpu)))
    return Target(
        name=name,
        platform="cuda",
        device_kind=gpu.description,
        topology=kind,
        chips=hosts * per_host,
        devices=hosts * per_host,
        topology_options=options,
    )


def _suggest(wanted: str) -> list[str]:
    kind, has_sizes, words = wanted.partition(":")
    if kind in _names():
        return _examples(kind)
    # 0.5 lets "v6" find "v6e" and "v7x" find "tpu7x", and still leaves unlike names alone.
    kinds = difflib.get_close_matches(kind, _names(), n=2, cutoff=0.5)
    if not has_sizes:
        return kinds
    with_sizes = [f"{name}:{words}" for name in kinds]
    fitting = [name for name in with_sizes if _find(name)]
    return fitting or [example for name in kinds for example in _examples(name)]


def _examples(kind: str) -> list[str]:
    if kind in GPUS:
        return [f"{kind}:8", f"{kind}:2x8"]
    if kind in _TPUS:
        return [f"{kind}:4x4x4" if _TPUS[kind].is_3d else f"{kind}:4x4"]
    return [kind]


def _hint(kind: str) -> str:
    """Say how many chips of a kind can be asked for; "" for a kind that nobody knows."""
    if kind in GPUS:
        return (
            f"Write '{kind}' for one GPU, '{kind}:8' for eight of one host, '{kind}:2x8' for two"
            " hosts of eight."
        )
    if kind in _TPUS:
        numbers = "three numbers" if _TPUS[kind].is_3d else "two numbers"
        words = f"Write '{kind}' for one chip, or its chips as {numbers}: '{_examples(kind)[0]}'."
        return f"{words} {_SIZES_OF_A_TPU}"
    return f"{kind!r} takes no number of chips." if kind in _names() else ""


# libtpu takes hosts of 2x2 chips, and rows of single ones.
_SIZES_OF_A_TPU = "Of the first two numbers each has to be 1 or even."


def too_many_chips(target: Target) -> str:
    """Return what to say of a target whose compiler may have ended by its size; "" for others."""
    kind = target.name.partition(":")[0]
    most = _TPUS[kind].most_chips if kind in _TPUS else None
    if most is None or target.chips <= most:
        return ""
    return f"{target.chips:,} chips may be too many: a {kind} has {most} at most ('{kind}:16x16')."


def sizes_that_work(target: Target) -> str:
    """Return which arrangements of chips a TPU's compiler takes, with the nearest two of them.

    Args:
        target: A target whose arrangement it has refused; "" for one that is no TPU.
    """
    kind = target.name.partition(":")[0]
    if kind not in _TPUS or target.topology is None:
        return ""
    sizes = [int(size) for size in target.topology.partition(":")[2].split("x")]
    near = [_arranged(kind, sizes, step) for step in (-1, 1)]
    words = " and ".join(repr(name) for name in dict.fromkeys(near))
    return f"{_SIZES_OF_A_TPU} The nearest that work: {words}."


def _arranged(kind: str, sizes: Sequence[int], step: int) -> str:
    even = [size if size == 1 or size % 2 == 0 else size + step for size in sizes[:2]]
    return f"{kind}:{'x'.join(map(str, (*even, *sizes[2:])))}"
