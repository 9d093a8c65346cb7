"""The command and the environment variables of a worker."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from hlo_widgets.compiler.settings import CompilerSettings

__all__ = [
    "compiler_variables",
    "explain_worker",
    "platform_of",
    "toolchain_variables",
    "worker_command",
    "worker_environment",
]

_WORKER_MODULE = "hlo_widgets.compiler.worker"
_COMMON = {
    # The worker compiles for devices that are not there; those that are there are left alone.
    "JAX_PLATFORMS": "cpu",
    # Errors only: everything else that the C++ side logs would bury them.
    "TF_CPP_MIN_LOG_LEVEL": "3",
}
_TPU = {
    # Without it libtpu asks the metadata server of a cloud that this machine is not in.
    "TPU_SKIP_MDS_QUERY": "1",
    # Without it one of two processes fails at libtpu's lock file.
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    # Silences a complaint about a machine without a TPU; the topology is named with each compile.
    "TPU_ACCELERATOR_TYPE": "v6e-1",
}
# libtpu reads them once, when it loads: what makes it write down each pair that it looks at.
_TPU_EXPLAIN = {
    "TPU_VMODULE": "instruction_fusion=10,tpu_instruction_fusion=10,multi_output_fusion=10",
    "TPU_STDERR_LOG_LEVEL": "0",
    "TPU_MIN_LOG_LEVEL": "0",
}
_EXPLAIN = "+explain"


def explain_worker(platform: str) -> str:
    """Name the worker of a platform whose compiler writes down its decisions.

    Args:
        platform: "cpu", "tpu" or "cuda", which is also the name of the plain worker.
    """
    return platform + _EXPLAIN


def platform_of(toolchain: str) -> str:
    """Return the platform of a worker's name."""
    return toolchain.removesuffix(_EXPLAIN)


def worker_command(toolchain: str, settings: CompilerSettings) -> list[str]:
    """Build the command line that starts a worker.

    Args:
        toolchain: "cpu", "tpu" or "cuda", or what `explain_worker` makes of these.
        settings: Read for `command`, `idle_seconds` and `memory_limit_bytes`.

    Raises:
        ValueError: If `settings.command` is no command line.
    """
    if settings.command is None:
        # -P keeps the user's folder off the path: a notebook beside a file named types.py must
        # still compile.
        command = [sys.executable, "-P", "-m", _WORKER_MODULE]
    else:
        command = _split(settings.command)
    limit = settings.memory_limit_bytes
    options = [] if limit is None else ["--memory-bytes", str(limit)]
    if toolchain != platform_of(toolchain):
        options.append("--explain")
    idle = ["--idle-seconds", str(settings.idle_seconds)]
    return [*command, platform_of(toolchain), *idle, *options]


def _split(command: str) -> list[str]:
    try:
        parts = shlex.split(command)
    except ValueError as error:
        reason = str(error)
    else:
        if parts:
            return parts
        reason = "it is empty"
    raise ValueError(f"settings.command is no command line: {reason}: {command!r}")


def compiler_variables() -> dict[str, str]:
    """Return the environment variables that change what a compiler makes of a program."""
    names = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
    return {name: os.environ[name] for name in names if os.environ.get(name)}


def toolchain_variables(platform: str, *, explain: bool = False) -> dict[str, str]:
    """Return the environment variables that a compiler needs.

    The worker sets them itself before it loads anything: over ssh no environment comes along.

    Args:
        platform: "cpu", "tpu" or "cuda".
        explain: Whether it shall write down its decisions.
    """
    if platform != "tpu":
        return dict(_COMMON)
    return {**_COMMON, **_TPU, **(_TPU_EXPLAIN if explain else {})}


def worker_environment() -> dict[str, str]:
    """Build the environment of a worker: that of this process, and the way to this package."""
    package_parent = str(Path(__file__).parents[2])
    search_path = [part for part in (os.environ.get("PYTHONPATH"), package_parent) if part]
    return {
        **os.environ,
        # This package may have been found through a changed sys.path, which a child does not
        # inherit.
        "PYTHONPATH": os.pathsep.join(search_path),
    }
