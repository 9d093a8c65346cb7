"""The compilers, inside a worker: the only code that uses jax's internals.

A `Toolchain` compiles programs for the targets of one platform. Everything here runs in the child
process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

__all__ = ["CompiledText", "MovedInternalsError", "Toolchain"]

_MOVED = (ImportError, AttributeError, TypeError)


class MovedInternalsError(Exception):
    """This release of jax has moved what the exact way needs; the public way still works."""


@dataclass(frozen=True)
class CompiledText:
    """What a toolchain made of a program.

    Attributes:
        hlo_text: The compiled module.
        compile_seconds: Time in the compiler alone.
        has_figures: Whether this compiler prints estimates; `None` where no target of its kind
            does.
    """

    hlo_text: str
    compile_seconds: float
    has_figures: bool | None


class Toolchain:
    """The compiler of one platform, with the devices that it has compiled for so far.

    Args:
        platform: "cpu" or "tpu".
    """

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self._devices: dict[str | None, Any] = {}
        self._prints_figures: bool | None = None

    def versions(self, topology: str | None) -> dict[str, str]:
        """List the versions of what compiles, and the compiler's description of itself."""
        packages = ("jax", "jaxlib", *(("libtpu",) if self.platform == "tpu" else ()))
        versions = {}
        for package in packages:
            try:
                versions[package] = metadata.version(package)
            except metadata.PackageNotFoundError:
                versions[package] = (
                    "unknown"  # a libtpu.so that TPU_LIBRARY_PATH names has no package
                )
        description = str(self._device(topology).client.platform_version)
        return {**versions, "compiler": " ".join(description.split())}

    def compile(
        self, form: str, content: bytes, topology: str | None, flags: Mapping[str, Any]
    ) -> CompiledText:
        """Compile a program.

        Args:
            form: "bytecode" or "exported", as in `Program`.
            content: The program.
            topology: The arrangement of chips; `None` for a CPU.
            flags: Compiler options.

        Raises:
            MovedInternalsError: If `form` is "bytecode" and this jax has moved what that needs.
            jax.errors.JaxRuntimeError: If the compiler refuses.
        """
        device = self._device(topology)
        compile_one = _compile_bytecode if form == "bytecode" else _compile_exported
        text, seconds = compile_one(content, device, flags)
        return CompiledText(text, seconds, self._has_figures(text, device))

    def _device(self, topology: str | None) -> Any:
        if topology not in self._devices:
            self._devices[topology] = _cpu_device() if topology is None else _tpu_device(topology)
        return self._devices[topology]

    def _has_figures(self, text: str, device: Any) -> bool | None:
        """Say whether this compiler prints estimates: compiling shows it, a version does not."""
        if self.platform != "tpu":
            return None
        if not self._prints_figures:
            # A program may have nothing to estimate, so one that always has decides.
            self._prints_figures = _FIGURE in text or _FIGURE in _compile_probe(device)
        return self._prints_figures


_FIGURE = '"estimated_cycles"'


def _cpu_device() -> Any:
    import jax

    return jax.devices("cpu")[0]


def _tpu_device(topology: str) -> Any:
    import jax
    from jax.experimental import topologies

    try:
        described = topologies.get_topology_desc(topology, "tpu")
    except jax.errors.JaxRuntimeError:
        if not topology.endswith(("1x1", "1x1x1")):
            raise
        # Some libtpu releases take "v6e:1x1" for a host of four chips unless they are told
        # otherwise.
        described = topologies.get_topology_desc(topology, "tpu", chips_per_host_bounds=[1, 1, 1])
    return described.devices[0]


def _compile_bytecode(content: bytes, device: Any, flags: Mapping[str, Any]) -> tuple[str, float]:
    try:
        from jax._src import compiler
        from jax._src.interpreters import mlir
        from jaxlib import _jax
        from jaxlib.mlir import ir

        module = ir.Module.parse(content, context=mlir.make_ir_context())
        options = compiler.get_compile_options(
            num_replicas=1,
            num_partitions=1,
            env_options_overrides=dict(flags),
            backend=device.client,
        )
        devices = _jax.DeviceList((device,))
        start = time.perf_counter()
        executable = compiler.backend_compile_and_load(device.client, module, devices, options, [])
        seconds = time.perf_counter() - start
        return executable.hlo_modules()[0].to_string(), seconds
    except _MOVED as error:
        raise MovedInternalsError(f"{type(error).__name__}: {error}") from error


def _compile_exported(content: bytes, device: Any, flags: Mapping[str, Any]) -> tuple[str, float]:
    import jax
    import jax.export

    exported = jax.export.deserialize(bytearray(content))
    sharding = jax.sharding.SingleDeviceSharding(device)
    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
    specs = [make(aval.shape, aval.dtype) for aval in exported.in_avals]
    args, kwargs = jax.tree.unflatten(exported.in_tree, specs)
    # The program may hold 64-bit values whatever this process defaults to.
    with jax.enable_x64(True):
        jitted = jax.jit(exported.call, in_shardings=sharding, out_shardings=sharding)
        lowered = jitted.lower(*args, **kwargs)
        start = time.perf_counter()
        compiled = lowered.compile(compiler_options=dict(flags))
        seconds = time.perf_counter() - start
    return str(compiled.as_text()), seconds


def _compile_probe(device: Any) -> str:
    """Compile a small program that every TPU compiler with estimates gives one for."""
    import jax
    import jax.numpy as jnp

    sharding = jax.sharding.SingleDeviceSharding(device)
    jitted = jax.jit(
        lambda x: jnp.exp(x).sum(axis=-1), in_shardings=sharding, out_shardings=sharding
    )
    make: Any = jax.ShapeDtypeStruct  # jax declares no types for it
    lowered = jitted.lower(make((1024, 512), jnp.float32))
    return str(lowered.compile().as_text())
