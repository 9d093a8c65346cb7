"""Compile a lowered program for devices that are not there, inside a worker."""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hlo_widgets.compiler.devices import arrange

__all__ = [
    "Made",
    "MovedInternalsError",
    "WrongDeviceCountError",
    "compile_bytecode",
    "compile_exported",
]

_MOVED = (ImportError, AttributeError, TypeError)
# As in `sdy.mesh @mesh = <["data"=4, "model"=2]>`.
_MESH = re.compile(r"sdy\.mesh @\S+ = <\[([^\]]*)\]")
_AXIS = re.compile(r'"([^"]*)"=(\d+)')

Spreads = tuple[tuple[bool, ...], tuple[bool, ...]]


@dataclass(frozen=True)
class Made:
    """What a compiler made of a program.

    Attributes:
        hlo_text: The compiled module.
        compile_seconds: Time in the compiler alone.
        devices: Number of devices that it is for.
        is_from_dump: Whether jaxlib could not read what the compiler gave, so that the text is the
            compiler's own dump.
        records: What the compiler wrote down about its decisions, packed; empty where nobody asked
            for it.
        records_left_out: How many files of them were too much.
        notes: What else the user should know about these.
        can_draw: Whether a request that draws brings more of them.
        is_whole: Whether the compiler had room to write all of them down.
    """

    hlo_text: str
    compile_seconds: float
    devices: int
    is_from_dump: bool = False
    records: bytes = b""
    records_left_out: int = 0
    notes: tuple[str, ...] = ()
    can_draw: bool = False
    is_whole: bool = True


class MovedInternalsError(Exception):
    """This release of jax has moved what the exact way needs; the public way still works."""


class WrongDeviceCountError(Exception):
    """A program is sharded over another number of devices than the target has.

    Attributes:
        wanted: Devices that the program is sharded over.
        there: Devices of the target.
    """

    def __init__(self, wanted: int, there: int) -> None:
        super().__init__(wanted, there)
        self.wanted = wanted
        self.there = there

    def __str__(self) -> str:
        return (
            f"the function is sharded over {self.wanted} devices, and this target has {self.there}"
        )


def compile_bytecode(
    content: bytes, devices: Sequence[Any], flags: Mapping[str, Any], spreads: Spreads | None
) -> Made:
    """Compile MLIR that the same release of jaxlib has written.

    Args:
        content: The program as MLIR bytecode.
        devices: The devices of the target.
        flags: Compiler options.
        spreads: For each input and output, whether the compiler may choose its sharding.

    Returns:
        The compiled module and what is known of it.

    Raises:
        MovedInternalsError: If this jax has moved what that needs.
        WrongDeviceCountError: If the program is sharded over another number of devices.
        jax.errors.JaxRuntimeError: If the compiler refuses.
    """
    try:
        return _compile_bytecode(content, devices, flags, spreads)
    except _MOVED as error:
        raise MovedInternalsError(f"{type(error).__name__}: {error}") from error


def _compile_bytecode(
    content: bytes, devices: Sequence[Any], flags: Mapping[str, Any], spreads: Spreads | None
) -> Made:
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir

    module = ir.Module.parse(content, context=mlir.make_ir_context())
    chosen = _choose(devices, *_partitions(module))
    device_list = _jax.DeviceList(tuple(chosen))

    def compile_with(flags: Mapping[str, Any]) -> Any:
        options = _options(compiler, chosen, flags, spreads)
        return compiler.backend_compile_and_load(chosen[0].client, module, device_list, options, [])

    def print_text() -> Any:
        return executable.hlo_modules()[0].to_string()

    start = time.perf_counter()
    executable = compile_with(flags)
    seconds = time.perf_counter() - start
    text, is_from_dump = _text(print_text, compile_with, flags)
    return Made(text, seconds, len(chosen), is_from_dump)


def _text(
    print_text: Callable[[], Any],
    compile_with: Callable[[Mapping[str, Any]], Any],
    flags: Mapping[str, Any],
) -> tuple[str, bool]:
    """Print a compiled program; say whether that took a dump.

    A libtpu that is newer than jaxlib may use HLO that jaxlib cannot read, such as an asynchronous
    update of several operands. The compiler itself can print it.
    """
    from jax.errors import JaxRuntimeError

    try:
        return str(print_text()), False
    except JaxRuntimeError:
        # An explain compile has dumped already, and a second one would mix its records.
        text = _dumped_text(flags["xla_dump_to"]) if "xla_dump_to" in flags else None
        if text is None:
            with tempfile.TemporaryDirectory(prefix="hlo_widgets_") as folder:
                compile_with({**flags, "xla_dump_to": folder, "xla_dump_hlo_as_text": True})
                text = _dumped_text(folder)
        if text is None:
            raise
        return text, True


def _dumped_text(folder: str) -> str | None:
    # The text after code generation is the one that has the estimates.
    dumps = sorted(Path(folder).glob("*.after_codegen.txt"))
    return dumps[-1].read_text(encoding="utf-8") if dumps else None


def _options(
    compiler: Any, devices: Sequence[Any], flags: Mapping[str, Any], spreads: Spreads | None
) -> Any:
    import numpy as np

    ids = None if len(devices) == 1 else np.array([[device.id for device in devices]])
    options = compiler.get_compile_options(
        num_replicas=1,
        num_partitions=len(devices),
        device_assignment=ids,
        env_options_overrides=dict(flags),
        backend=devices[0].client,
    )
    if spreads is not None:
        build = options.executable_build_options
        build.allow_spmd_sharding_propagation_to_parameters = list(spreads[0])
        build.allow_spmd_sharding_propagation_to_output = list(spreads[1])
    return options


def _partitions(module: Any) -> tuple[int, Sequence[int]]:
    """Return the number of devices that a program is for, and the sizes of its mesh."""
    attributes = module.operation.attributes
    name = "mhlo.num_partitions"
    count = int(attributes[name].value) if name in attributes else 1
    meshes = [str(op) for op in module.body if op.operation.name == "sdy.mesh"]
    return count, _mesh_axes("\n".join(meshes), count)[1]


def _mesh_axes(text: str, count: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Read names and sizes of the axes of a program's mesh of all devices from its MLIR."""
    for mesh in _MESH.findall(text):
        axes = [(name, int(size)) for name, size in _AXIS.findall(mesh)]
        if math.prod(size for _, size in axes) == count and axes:
            return tuple(name for name, _ in axes), tuple(size for _, size in axes)
    return ("devices",), (count,)


def _choose(devices: Sequence[Any], count: int, sizes: Sequence[int]) -> list[Any]:
    # A function that is not sharded runs on one device, whatever the others do.
    if count == 1:
        return list(devices[:1])
    if count != len(devices):
        raise WrongDeviceCountError(count, len(devices))
    return arrange(devices, sizes)


def compile_exported(content: bytes, devices: Sequence[Any], flags: Mapping[str, Any]) -> Made:
    """Compile a program that `jax.export` has serialized, with documented functions alone.

    Returns:
        The compiled module and what is known of it.

    Raises:
        WrongDeviceCountError: If the program is sharded over another number of devices.
        jax.errors.JaxRuntimeError: If the compiler refuses.
    """
    import jax
    import jax.export
    import numpy as np

    exported = jax.export.deserialize(bytearray(content))
    count = exported.nr_devices
    names, sizes = _mesh_axes(exported.mlir_module(), count)
    chosen = _choose(devices, count, sizes)
    mesh = jax.sharding.Mesh(np.array(chosen).reshape(sizes), names)
    single = jax.sharding.SingleDeviceSharding(chosen[0])
    options = {"in_shardings": single, "out_shardings": single} if count == 1 else {}
    args, kwargs = _specs(exported, mesh, is_sharded=count > 1)
    # The program may hold 64-bit values whatever this process defaults to.
    with jax.enable_x64(True):
        lowered = jax.jit(exported.call, **options).lower(*args, **kwargs)
        start = time.perf_counter()
        compiled = lowered.compile(compiler_options=dict(flags))
        seconds = time.perf_counter() - start
        text, is_from_dump = _text(
            compiled.as_text,
            lambda flags: lowered.compile(compiler_options=dict(flags)),
            flags,
        )
    return Made(text, seconds, count, is_from_dump)


def _specs(exported: Any, mesh: Any, *, is_sharded: bool) -> Any:
    """Make the arguments of an exported function: its own specs, on the devices of a mesh."""
    import jax

    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    shardings = exported.in_shardings_jax(mesh)
    specs = [
        make(aval.shape, aval.dtype, sharding=(sharding or everywhere) if is_sharded else None)
        for aval, sharding in zip(exported.in_avals, shardings, strict=True)
    ]
    return jax.tree.unflatten(exported.in_tree, specs)
