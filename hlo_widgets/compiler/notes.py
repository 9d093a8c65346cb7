"""What the user should know about a compiled text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlo_widgets.compiler.targets import Target

__all__ = ["notes_on"]

_NO_TPU_FIGURES = (
    "this libtpu prints no cycle and VMEM estimates, so those figures are missing; "
    'pip install "libtpu>=0.0.45" brings one that does'
)

_FROM_DUMP = (
    "the compiler is newer than this jaxlib, which cannot read its result: the text is the "
    "compiler's own dump after code generation"
)

_LEFT_OUT = "{} files of the compiler's records on fusion were too much to be sent"


_EXPORTED = (
    "the program went to the compiler by way of jax.export: the module has another name than in a "
    "compile of your own, and JAX's backends were started in this process, which may reserve GPUs"
)


def notes_on(header: Mapping[str, Any], target: Target, form: str) -> tuple[str, ...]:
    """Write the notes on a worker's reply.

    Args:
        header: The reply, of kind "compiled".
        target: What it was compiled for.
        form: In which form the program was sent, as in `Program`.
    """
    return (
        *_figures(header, target),
        *_unused_devices(header, target),
        *((_FROM_DUMP,) if header["is_from_dump"] else ()),
        *((_EXPORTED,) if form == "exported" else ()),
        *((_LEFT_OUT.format(left_out),) if (left_out := header["records_left_out"]) else ()),
        *header["notes"],
    )


def _figures(header: Mapping[str, Any], target: Target) -> tuple[str, ...]:
    if header["has_figures"] is not False:
        return ()
    if target.platform == "tpu":
        return (_NO_TPU_FIGURES,)
    note = f"the compiler has no cost model for {target.name}, so there are no estimates"
    why = header["why_no_figures"]
    return (f"{note}: it was compiled without ({why})" if why else note,)


def _unused_devices(header: Mapping[str, Any], target: Target) -> tuple[str, ...]:
    if header["devices"] == target.devices or target.chips == 1:
        return ()
    note = (
        f"the function is not sharded, so it is compiled for one of the {target.devices} devices "
        f"of {target.name}; shard its arguments over "
        f"hw.target({target.name!r}).abstract_mesh(...) to use them all"
    )
    return (note,)
