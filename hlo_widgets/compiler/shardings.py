"""A function with its arguments, and over which mesh of devices they are spread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hlo_widgets.compiler.callbacks import equations
from hlo_widgets.errors import NotCompilableError

__all__ = ["Call", "jit_with_shardings", "mesh_context", "require_sharded_arguments"]


@dataclass(frozen=True)
class Call:
    """What to compile.

    Attributes:
        fun: A function, a jitted function (its options are kept), a partial or a bound method.
        args: Its arguments: arrays, scalars, `jax.ShapeDtypeStruct`, and pytrees of them.
        kwargs: Its keyword arguments.
        mesh: The mesh that a bare `PartitionSpec` speaks of, inside the function too.
        in_shardings: As `jax.jit` takes it, of specs or shardings.
        out_shardings: As `jax.jit` takes it, of specs or shardings.
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    mesh: Any = None
    in_shardings: Any = None
    out_shardings: Any = None


def jit_with_shardings(fun: Callable[..., Any], call: Call) -> Any:
    """Jit a function with the shardings of a call; one that is jitted keeps its own.

    Raises:
        NotCompilableError: If the function has shardings of its own, or a `PartitionSpec` has no
            mesh to speak of.
    """
    import jax

    given = {
        name: _as_shardings(getattr(call, name), call.mesh)
        for name in ("in_shardings", "out_shardings")
        if getattr(call, name) is not None
    }
    if not isinstance(fun, jax.stages.Wrapped):
        return jax.jit(fun, **given)
    if given:
        raise NotCompilableError(
            f"the function is jitted already: give {' and '.join(given)} to its own jax.jit"
        )
    return fun


def _as_shardings(tree: Any, mesh: Any) -> Any:
    import jax

    spec = jax.sharding.PartitionSpec

    def as_sharding(leaf: Any) -> Any:
        if not isinstance(leaf, spec):
            return leaf
        if mesh is None:
            raise NotCompilableError(
                "a PartitionSpec needs a mesh: give mesh=hw.target(...).abstract_mesh(...)"
            )
        return jax.sharding.NamedSharding(mesh, leaf)

    return jax.tree.map(as_sharding, tree, is_leaf=lambda leaf: isinstance(leaf, spec))


def require_sharded_arguments(traced: Any) -> None:
    """Refuse a `shard_map` over a mesh of which JAX is told nothing but in its body.

    JAX lowers such a program for one device, which makes some compilers abort.

    Args:
        traced: The traced function, which was lowered for one device.

    Raises:
        NotCompilableError: If there is a `shard_map` over several devices in it.
    """
    for equation in equations(traced.jaxpr):
        mesh = equation.params.get("mesh") if str(equation.primitive) == "shard_map" else None
        if mesh is not None and mesh.size > 1:
            raise NotCompilableError(
                f"the function has a shard_map over {mesh.size} devices, and none of its arguments "
                "is sharded: give in_shardings to its jax.jit, or arguments that are "
                "jax.ShapeDtypeStruct with a NamedSharding on that mesh"
            )


def mesh_context(mesh: Any) -> contextlib.AbstractContextManager[Any]:
    """Make a mesh the one that a bare `PartitionSpec` inside the function speaks of."""
    import jax

    if mesh is None:
        return contextlib.nullcontext()
    return jax.sharding.use_abstract_mesh(getattr(mesh, "abstract_mesh", mesh))
