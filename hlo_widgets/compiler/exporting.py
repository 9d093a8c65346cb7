"""From a Python function to a program that another process can compile.

Two ways lead there. The exact way lowers the function as its own `jax.jit` would, so that the
compiled module has the names of the user's own compile; and it starts no backend, so that a GPU or
TPU of this machine is neither opened nor reserved. It stands on parts of jaxlib that may move. The
public way, `jax.export`, stands on documented functions alone; its names differ ("jit_call"), its
figures do not. It asks JAX for the default backend where it serializes, whatever it is told of
platforms and devices, and so starts them all (jax 0.10.2); a note of the result says so.
"""

from __future__ import annotations

import functools
import inspect
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_widgets.compiler.callbacks import callback_error
from hlo_widgets.compiler.shardings import (
    Call,
    jit_with_shardings,
    mesh_context,
    require_sharded_arguments,
)
from hlo_widgets.errors import NotCompilableError

__all__ = ["STATIC_HINT", "Program", "export_exactly", "export_program", "export_publicly"]

STATIC_HINT = (
    "hlo_widgets: {names} was traced, as JAX traces every number. If the function needs the value"
    " itself, as in a shape, make it static: jax.jit(f, static_argnames=...) or static_argnums=..."
)
"""The note on an error of tracing that a static argument would mend."""

# What a name that has moved inside jax or jaxlib looks like.
_MOVED = (ImportError, AttributeError, TypeError, KeyError)


@dataclass(frozen=True)
class Program:
    """A lowered function, ready to be sent.

    Attributes:
        form: "bytecode", the MLIR that JAX lowers to, which the same release of jaxlib reads; or
            "exported", a serialized `jax.export.Exported`, which any near release reads.
        content: The program in that form.
        spreads: For each input and output, whether its sharding is left to the compiler; `None`
            where the program is for one device.
    """

    form: str
    content: bytes
    spreads: tuple[tuple[bool, ...], tuple[bool, ...]] | None = None


def export_program(call: Call, platform: str) -> Program:
    """Lower a function the exact way, or the public one where that is not possible.

    The function is traced, never run on data.

    Args:
        call: The function with its arguments.
        platform: JAX's name of the platform to lower for.

    Raises:
        NotCompilableError: If the function cannot be called, calls back into Python, or its
            shardings make no sense or are missing.
        Exception: Whatever tracing the function raises, with a note where one helps.
    """
    return export_exactly(call, platform) or export_publicly(call, platform)


def export_exactly(call: Call, platform: str) -> Program | None:
    """Lower a function as its own `jax.jit` would.

    Returns:
        The program, or `None` where this release of jax has moved what that needs.
    """
    import jax

    jitted, args, kwargs = _prepare(call)
    with mesh_context(call.mesh):
        traced = _trace(jitted, args, kwargs)
        try:
            device = _stand_in_device()
        except _MOVED:
            return None
        with jax.default_device(device):
            lowered = _lower(traced, platform)
    try:
        program = Program("bytecode", _bytecode(lowered), _spreads(lowered))
    except _MOVED:
        return None
    if program.spreads is None:
        require_sharded_arguments(traced)
    return program


def _trace(jitted: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Trace a function; to an error that a number was traced for, add how it stays a number."""
    try:
        return jitted.trace(*args, **kwargs)
    except Exception as error:
        named = {f"positional argument {n}": arg for n, arg in enumerate(args)} | dict(kwargs)
        numbers = [name for name, arg in named.items() if isinstance(arg, int | float)]
        if numbers and _wants_a_value(error):
            error.add_note(STATIC_HINT.format(names=", ".join(numbers)))
        raise


def _wants_a_value(error: Exception) -> bool:
    import jax.errors

    kinds = (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError)
    return isinstance(error, kinds) or (isinstance(error, TypeError) and "concrete" in str(error))


def _lower(traced: Any, platform: str) -> Any:
    try:
        return traced.lower(lowering_platforms=(platform,))
    except ValueError as error:
        ours = callback_error(error, traced.jaxpr, platform)
        if ours is None:
            raise
        raise ours from None


def export_publicly(call: Call, platform: str) -> Program:
    """Lower a function with `jax.export` alone."""
    import jax.export

    jitted, args, kwargs = _prepare(call)
    with mesh_context(call.mesh):
        try:
            exported = jax.export.export(jitted, platforms=[platform])(*args, **kwargs)
            return Program("exported", bytes(exported.serialize()))
        except (ValueError, NotImplementedError) as error:
            ours = callback_error(error, jitted.trace(*args, **kwargs).jaxpr, platform)
            if ours is None:
                raise
            raise ours from None


def _prepare(call: Call) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Jit what is not jitted, and hide our own frames from the source lines that JAX records."""
    import jax

    fun, args = call.fun, call.args
    if not callable(fun):
        raise NotCompilableError(
            f"compile_for needs a function and its arguments, not a {type(fun).__name__}"
        )
    _hide_own_frames()
    if inspect.ismethod(fun) and isinstance(fun.__func__, jax.stages.Wrapped):
        # A bound method hands on the attributes of its function, and would trace it without `self`.
        fun, args = fun.__func__, (fun.__self__, *args)
    jitted = jit_with_shardings(fun, call)
    args, kwargs = _as_specs((args, dict(call.kwargs)))
    return jitted, args, kwargs


@functools.cache
def _hide_own_frames() -> None:
    from jax.extend import source_info_util

    source_info_util.register_exclusion(f"{Path(__file__).parents[1]}/")


def _as_specs(tree: Any) -> Any:
    """Put specs in the place of arrays: where one lives must not decide what is compiled."""
    import jax

    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it

    def as_spec(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array):
            return leaf
        # Keys of random numbers have no weak type.
        weak_type = getattr(leaf, "weak_type", False)
        return make(leaf.shape, leaf.dtype, weak_type=weak_type)

    return jax.tree.map(as_spec, tree)


@functools.cache
def _stand_in_device() -> Any:
    """Make a CPU device of our own.

    Lowering asks for a default device, and asking JAX for one would start every backend of this
    machine: it would load libtpu into this process, or reserve a GPU's memory.
    """
    from jaxlib import xla_client

    client: Any = xla_client.make_cpu_client()
    return client.devices()[0]


def _bytecode(lowered: Any) -> bytes:
    # Not a portable artifact, which cannot hold what XLA lowers itself, such as the erf of CHLO.
    buffer = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(buffer)
    return buffer.getvalue()


def _spreads(lowered: Any) -> tuple[tuple[bool, ...], tuple[bool, ...]] | None:
    """Say which shardings are open, as `jax.jit` tells the compiler for a sharded function."""
    facts = lowered._lowering.compile_args  # noqa: SLF001 - no public name says it
    if facts["num_devices"] == 1:
        return None

    def is_open(sharding: Any) -> bool:
        return type(sharding).__name__ in {"UnspecifiedValue", "AUTO"}

    # A value for each ordered effect goes in and out before the function's own.
    own = (False,) * len(facts["ordered_effects"])
    return (
        own + tuple(map(is_open, facts["in_shardings"])),
        own + tuple(map(is_open, facts["out_shardings"])),
    )
