"""Whether the compiler of a target is installed here, and what to do where it is not.

Packages are only looked for. Nothing is imported, so that a compiler is never loaded into the
caller's process.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from hlo_widgets.compiler.targets import Target
from hlo_widgets.errors import TargetUnavailableError

__all__ = [
    "Availability",
    "availability",
    "named_library",
    "require_available",
    "versions_of",
]

_TPU_HOST = "TPU compilation needs Linux on x86-64"
_GPU_HOST = "GPU compilation needs Linux on x86-64 or Arm"
_TPU_PACKAGE = "libtpu>=0.0.45"
_PACKAGES = {
    "cpu": ("jaxlib",),
    "tpu": ("libtpu",),
    "cuda": ("jax-cuda12-plugin", "jax-cuda12-pjrt", "nvidia-cuda-nvcc-cu12"),
}


@dataclass(frozen=True)
class Availability:
    """What this machine has of the compiler of a target.

    Attributes:
        installed: Versions of the packages that are there, by name.
        reason: Why it cannot be used; `None` where it can.
        remedy: What to do about that.
        install: The pip line that brings what is missing; `None` where nothing is.
    """

    installed: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    remedy: str = ""
    install: str | None = None

    @property
    def is_available(self) -> bool:
        """Whether programs can be compiled for the target here."""
        return self.reason is None


def availability(target: Target) -> Availability:
    """Look for the packages that compile for a target."""
    # A package installed a moment ago, from a notebook cell, must be seen without a restart.
    importlib.invalidate_caches()
    if target.platform == "tpu":
        return _tpu()
    if target.platform == "cuda":
        return _cuda()
    return Availability(versions_of("cpu"))


def require_available(target: Target) -> None:
    """Check that the packages that compile for a target are installed.

    Raises:
        TargetUnavailableError: If one is missing; it names the pip line that brings it.
    """
    found = availability(target)
    if found.reason is not None:
        raise TargetUnavailableError(target.name, found.reason, found.remedy)


def versions_of(platform_name: str) -> dict[str, str]:
    """Return the versions of the installed packages that compile for a platform, by name.

    Of a libtpu.so that `TPU_LIBRARY_PATH` names, its path: no file says of what release it is.
    """
    library = named_library() if platform_name == "tpu" else None
    if library is not None:
        return {"libtpu": str(library)}
    versions = {}
    for package in _PACKAGES.get(platform_name, ()):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def named_library() -> Path | None:
    """Return the libtpu.so that `TPU_LIBRARY_PATH` names in the place of the installed package's.

    That variable is JAX's own way to name one; JAX passes over a path where there is no file. None
    also where it names the installed one, as it does once the package has been imported.
    """
    named = Path(os.environ.get("TPU_LIBRARY_PATH", ""))
    if not named.is_file():
        return None
    spec = importlib.util.find_spec("libtpu") if _can_import("libtpu") else None
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        installed = Path(folder) / "libtpu.so"
        if installed.is_file() and installed.samefile(named):
            return None
    return named


def _tpu() -> Availability:
    install = f'pip install "{_TPU_PACKAGE}"'
    installed = versions_of("tpu")
    if not (sys.platform == "linux" and platform.machine().lower() in {"x86_64", "amd64"}):
        return _wrong_machine(_TPU_HOST, install)
    if _can_import("libtpu") or named_library() is not None:
        return Availability(installed)
    return Availability(
        installed,
        "the package libtpu, which holds the TPU compiler, is not installed",
        f"Install it with: {install}\n{_TPU_HOST}; no TPU is needed.",
        install,
    )


def _cuda() -> Availability:
    install = f"pip install {' '.join(_PACKAGES['cuda'])}"
    installed = versions_of("cuda")
    if sys.platform != "linux":
        return _wrong_machine(_GPU_HOST, install)
    # The plugin of CUDA 13 brings its own tools, and compiles for the same GPUs.
    if _can_import("jax_plugins.xla_cuda13"):
        return Availability(installed)
    modules = {
        "jax-cuda12-plugin": "jax_cuda12_plugin",
        "jax-cuda12-pjrt": "jax_plugins.xla_cuda12",
        "nvidia-cuda-nvcc-cu12": "nvidia.cuda_nvcc",
    }
    missing = [package for package, module in modules.items() if not _can_import(module)]
    if not missing:
        return Availability(installed)
    verb = "is" if len(missing) == 1 else "are"
    return Availability(
        installed,
        f"{' and '.join(missing)}, of the GPU compiler, {verb} not installed",
        f"Install it with: {install}\nNo GPU, driver or CUDA toolkit is needed.",
        install,
    )


def _wrong_machine(needs: str, install: str) -> Availability:
    here = f"{platform.system()} on {platform.machine()}"
    return Availability(
        {},
        f"{needs}, and this is {here}",
        f"On such a machine (WSL, a container and a hosted notebook count): {install}\n"
        "`hlo_widgets.compiler.settings.command` compiles there for a notebook that runs here.",
        install,
    )


def _can_import(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # a finder refuses it, or a half-made module has its name
        return False
