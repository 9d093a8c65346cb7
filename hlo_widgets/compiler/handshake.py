"""What a worker says of itself at its start, and whether this side can work with it."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from hlo_widgets.compiler.availability import availability, named_library, versions_of
from hlo_widgets.compiler.targets import list_targets

__all__ = ["PROTOCOL", "check_hello", "installed_versions", "own_versions", "worker_hello"]

PROTOCOL = 5
"""Number of the message format; both sides must have the same."""


def installed_versions(toolchain: str) -> dict[str, str]:
    """Return the installed versions of everything that a compiled text depends on, by package."""
    versions = {"python": platform.python_version()}
    for package in ("hlo-widgets", "jax", "jaxlib"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "unknown"
    found = versions_of(toolchain)
    library = named_library() if toolchain == "tpu" else None
    if library is not None:
        # For want of a version, what tells one file from the next one in its place.
        facts = library.stat()
        found = {"libtpu": f"{library} of {facts.st_size} bytes, {facts.st_mtime_ns}"}
    return {**versions, **found}


def worker_hello(toolchain: str) -> dict[str, Any]:
    """Write the first message of a worker."""
    target = next(target for target in list_targets() if target.platform == toolchain)
    found = availability(target)
    return {
        "kind": "hello",
        "protocol": PROTOCOL,
        "versions": installed_versions(toolchain),
        "reason": found.reason,
        "install": found.install,
    }


@functools.cache
def own_versions() -> dict[str, str]:
    """Return the versions that this process has loaded, which an upgrade does not change."""
    import jax
    import jaxlib

    return {**installed_versions("cpu"), "jax": jax.__version__, "jaxlib": jaxlib.__version__}


def check_hello(hello: Mapping[str, Any]) -> str | None:
    """Check that this side can work with a worker.

    Args:
        hello: The worker's first message.

    Returns:
        What is wrong and what to install where; `None` where nothing is.
    """
    if hello.get("protocol") != PROTOCOL:
        theirs = hello.get("versions", {}).get("hlo-widgets", "of another release")
        ours = own_versions()["hlo-widgets"]
        return (
            f"its compiler process runs hlo-widgets {theirs} and this one {ours}, whose messages "
            f'differ; install the same on both sides: pip install "hlo-widgets=={ours}"'
        )
    if hello["reason"] is not None:
        there = f", on the compiler's machine: {hello['install']}" if hello["install"] else ""
        return f"{hello['reason']}{there}"
    return None
