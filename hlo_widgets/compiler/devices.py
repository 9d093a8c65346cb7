"""Devices that are not there, inside a worker: topologies as the compilers describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["arrange", "describe_devices"]


def describe_devices(platform: str, name: str | None, options: Mapping[str, str]) -> list[Any]:
    """Ask a compiler for the devices of a target.

    Args:
        platform: "cpu", "tpu" or "cuda".
        name: The topology's name; `None` for the CPU.
        options: What the compiler must be told beside the name, as `Target.topology_options`.

    Raises:
        jax.errors.JaxRuntimeError: If the compiler has no such topology.
    """
    import jax
    from jax.experimental import topologies

    if name is None:
        return list(jax.devices("cpu")[:1])
    describe = topologies.get_topology_desc
    try:
        return list(describe(name, platform, **options).devices)
    except jax.errors.JaxRuntimeError:
        if platform != "tpu" or not name.endswith((":1x1", ":1x1x1")):
            raise
        # Some libtpu releases take "v6e:1x1" for a host of four chips unless they are told
        # otherwise.
        bounds = {"chips_per_host_bounds": [1, 1, 1]}
        return list(describe(name, platform, **options, **bounds).devices)


def arrange(devices: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Put devices in the order in which a mesh is best laid over them.

    Args:
        devices: All devices of a topology.
        sizes: Axis sizes of the mesh; their product is the number of devices.

    Returns:
        The devices in the mesh's order; as they are where JAX knows no better one.
    """
    from jax.experimental import mesh_utils

    try:
        mesh = mesh_utils.create_device_mesh(tuple(sizes), devices=list(devices))
    except (ValueError, NotImplementedError, AssertionError):
        return list(devices)
    return list(mesh.flat)
