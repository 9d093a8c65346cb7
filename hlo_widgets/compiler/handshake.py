"""What a worker says of itself at its start, and whether this side can work with it."""

from __future__ import annotations

import functools
import platform
from collections.abc import Mapping
from importlib import metadata
from types import NoneType
from typing import Any

from hlo_widgets.compiler.availability import availability, named_library, versions_of
from hlo_widgets.compiler.targets import list_targets

__all__ = [
    "PROTOCOL",
    "check_hello",
    "check_reply",
    "installed_versions",
    "is_complete",
    "own_versions",
    "worker_hello",
]

PROTOCOL = 7
"""Number of the message format; both sides must have the same."""

# What this side reads of a worker's messages, by their kind.
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "hello": {"versions": dict, "reason": (str, NoneType), "install": (str, NoneType)},
    "compiled": {
        "compile_seconds": (int, float),
        "devices": int,
        "is_from_dump": bool,
        "has_figures": (bool, NoneType),
        "why_no_figures": str,
        "versions": dict,
        "records_bytes": int,
        "records_left_out": int,
        "notes": list,
        "can_draw": bool,
        "is_whole": bool,
    },
    "drawn": {"records_left_out": int, "notes": list, "is_whole": bool},
    "flags": {},
    "moved": {"reason": str},
    "refused": {"reason": str},
}


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
        return _differ(hello, "whose messages differ")
    wrong = _wrong_fields(hello)
    if wrong is not None:
        return _differ(hello, f"and its first message {wrong}")
    if hello["reason"] is not None:
        there = f", on the compiler's machine: {hello['install']}" if hello["install"] else ""
        return f"{hello['reason']}{there}"
    return None


def check_reply(reply: Mapping[str, Any], hello: Mapping[str, Any]) -> str | None:
    """Check that a worker's answer has what this side reads.

    Args:
        reply: The answer's header.
        hello: The worker's first message.

    Returns:
        What is wrong and what to install where; `None` where nothing is.
    """
    wrong = _wrong_fields(reply)
    return None if wrong is None else _differ(hello, f"and its answer {wrong}")


def is_complete(reply: Mapping[str, Any]) -> bool:
    """Whether an answer that was kept has what this side reads."""
    return _wrong_fields(reply) is None


def _wrong_fields(message: Mapping[str, Any]) -> str | None:
    kind = message.get("kind")
    fields = _FIELDS.get(str(kind))
    if fields is None:
        return f"is of a kind that this one does not know: {str(kind)[:40]!r}"
    for name, types in fields.items():
        if name not in message:
            return f"lacks {name!r}"
        if not isinstance(message[name], types):
            return f"has no {name!r} that can be read"
    return None


def _differ(hello: Mapping[str, Any], how: str) -> str:
    versions = hello.get("versions")
    theirs = versions.get("hlo-widgets") if isinstance(versions, dict) else None
    ours = own_versions()["hlo-widgets"]
    return (
        f"its compiler process runs hlo-widgets {theirs or 'of another release'} and this one "
        f'{ours}, {how}; install the same on both sides: pip install "hlo-widgets=={ours}"'
    )
