"""Calls back into Python, which no compiler can place on a device that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hlo_widgets.errors import NotCompilableError

__all__ = ["callback_error", "equations"]

_CALLBACKS = frozenset({"debug_callback", "debug_print", "io_callback", "pure_callback"})
# JAX makes a callback for a client of the target, of which there is none; and it cannot serialize
# one for a CPU.
_WORDS = ("specified backend", "host_callbacks")


def callback_error(error: Exception, jaxpr: Any, platform: str) -> NotCompilableError | None:
    """Say in words of our own that a program could not be lowered for its host callbacks.

    Args:
        error: What JAX raised.
        jaxpr: The traced program.
        platform: JAX's name of the platform it was lowered for.

    Returns:
        The error to raise instead; `None` where the reason is another one.
    """
    found = {str(equation.primitive) for equation in equations(jaxpr)}
    names = sorted(found & _CALLBACKS)
    if not names or not any(words in str(error) for words in _WORDS):
        return None
    does = f"the function calls back into Python ({', '.join(names)})"
    if platform == "cpu":
        return NotCompilableError(
            f"{does}, which JAX cannot send to a compiler process: take it out"
        )
    return NotCompilableError(
        f"{does}, and a host callback needs a real device of the target, here {platform!r}: "
        f'take it out, or compile for "cpu"'
    )


def equations(jaxpr: Any) -> Iterator[Any]:
    """Yield the equations of a jaxpr and of those inside it."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)  # a ClosedJaxpr holds one
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for part in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(getattr(part, "jaxpr", part), "eqns"):
                    yield from equations(part)
