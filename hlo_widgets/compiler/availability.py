"""Whether the compiler of a target is installed here, and what to do where it is not."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from pathlib import Path

from hlo_widgets.compiler.targets import Target
from hlo_widgets.errors import TargetUnavailableError

__all__ = ["require_available"]

_TPU_HOST = "TPU compilation needs Linux on x86-64"


def require_available(target: Target) -> None:
    """Check that the packages that compile for a target are installed.

    Only looks for them: nothing is imported, so that a compiler is never loaded into the caller's
    process.

    Raises:
        TargetUnavailableError: If one is missing; it names the pip line that brings it.
    """
    if target.platform == "tpu":
        _require_libtpu(target)


def _require_libtpu(target: Target) -> None:
    install = f'pip install "{target.needs}"'
    if not _is_tpu_host():
        here = f"{platform.system()} on {platform.machine()}"
        raise TargetUnavailableError(
            target.name,
            f"{_TPU_HOST}, and this is {here}",
            f"On a Linux x86-64 machine (WSL, a container and a hosted notebook count): {install}",
        )
    # The variable is JAX's own way to name a libtpu.so that pip did not install.
    named = os.environ.get("TPU_LIBRARY_PATH")
    if (named and Path(named).is_file()) or _is_installed("libtpu"):
        return
    raise TargetUnavailableError(
        target.name,
        "the package libtpu, which holds the TPU compiler, is not installed",
        f"Install it with: {install}\n{_TPU_HOST}; no TPU is needed.",
    )


def _is_tpu_host() -> bool:
    return sys.platform == "linux" and platform.machine().lower() in {"x86_64", "amd64"}


def _is_installed(package: str) -> bool:
    # A package installed a moment ago, from a notebook cell, must be seen without a restart.
    importlib.invalidate_caches()
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a finder refuses it, or a half-made module has its name
        return False
