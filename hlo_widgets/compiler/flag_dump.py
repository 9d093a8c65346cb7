"""Asking a compiler for its flags, inside a worker."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hlo_widgets.compiler.devices import describe_devices
from hlo_widgets.compiler.flag_records import (
    CompilerFlag,
    merge_flags,
    read_flagfile,
    read_options,
    read_usage,
)

__all__ = ["dump_flags"]

# Arbitrary; it takes about a second.
_USAGE_SECONDS = 30.0
# Asking for the usage ends the process that asks.
_ASK_USAGE = "from jaxlib import xla_client; xla_client.CompileOptions()"
# Flags of the other back ends; they are in the list of every one.
_OTHERS = {
    "cpu": ("xla_gpu_",),
    "tpu": ("xla_gpu_", "xla_cpu_", "xla_llvm_"),
    "cuda": ("xla_cpu_",),
}


def dump_flags(
    platform: str, topology: str | None, topology_options: Mapping[str, str]
) -> list[CompilerFlag]:
    """List the flags of the compiler of a target, with the values that they have now.

    Args:
        platform: "cpu", "tpu" or "cuda".
        topology: The arrangement of chips; `None` for a CPU.
        topology_options: What describes it beside its name.

    Raises:
        jax.errors.JaxRuntimeError: If the compiler has no such topology.
    """
    listed = [read_options(_debug_options()), read_usage(_usage())]
    if platform == "tpu":
        listed.insert(0, read_flagfile(_flagfile(topology, topology_options)))
    others = _OTHERS[platform]
    return [flag for flag in merge_flags(listed) if not flag.name.startswith(others)]


def _debug_options() -> str:
    from jaxlib import xla_client

    options = xla_client.CompileOptions()
    return repr(options.executable_build_options.debug_options)


def _usage() -> str:
    """Return what XLA prints for `--help`, in a process of its own; empty where that fails."""
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-c", _ASK_USAGE],
            env={**os.environ, "XLA_FLAGS": "--help"},
            capture_output=True,
            timeout=_USAGE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stderr.decode(errors="replace")


def _flagfile(topology: str | None, topology_options: Mapping[str, str]) -> str:
    """Return the flags that a TPU's compiler dumps with a program; empty where it dumps none."""
    import jax
    import jax.numpy as jnp

    device = describe_devices("tpu", topology, topology_options)[0]
    sharding = jax.sharding.SingleDeviceSharding(device)
    jitted = jax.jit(lambda x: x + 1, in_shardings=sharding, out_shardings=sharding)
    make = jax.ShapeDtypeStruct
    with tempfile.TemporaryDirectory() as folder:
        jitted.lower(make((8,), jnp.float32)).compile(compiler_options={"xla_dump_to": folder})
        files = sorted(Path(folder).glob("*.flagfile"))
        return files[0].read_text(errors="replace") if files else ""
