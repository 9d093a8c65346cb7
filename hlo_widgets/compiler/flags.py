"""Compiler flags as a user writes them, checked before they travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hlo_widgets.errors import NotCompilableError

__all__ = ["Flags", "check_explain_flags", "plain_flags"]

Flags = Mapping[str, bool | int | float | str]

# An explain compile dumps into a folder of its worker, which may be on another machine.
_OF_EXPLAIN = (
    "xla_dump_to",
    "xla_dump_hlo_pass_re",
    "xla_dump_hlo_as_text",
    "xla_dump_fusion_visualization",
)

# The compiler takes "True" and refuses "true", which is how everybody writes it in XLA_FLAGS.
_WORDS = {"true": True, "false": False}


def plain_flags(flags: Any) -> dict[str, bool | int | float | str]:
    """Check flags and write them as XLA reads them: names without dashes, truth values as such.

    Args:
        flags: A mapping of names to values; `None` for none.

    Raises:
        NotCompilableError: If it is not a mapping, or one of them is not a name with a truth value,
            a whole number of 64 bits, a float or text.
    """
    if flags is None:
        return {}
    if not isinstance(flags, Mapping):
        raise NotCompilableError(
            f"flags are a mapping of names to values, such as "
            f'{{"xla_dump_to": "folder"}}, not a {type(flags).__name__}'
        )
    return {_name(name, value): _value(name, value) for name, value in flags.items()}


def check_explain_flags(flags: Flags) -> None:
    """Check that flags leave to an explain compile what it sets itself.

    Raises:
        NotCompilableError: If they do not.
    """
    taken = [name for name in _OF_EXPLAIN if name in flags]
    if taken:
        raise NotCompilableError(
            f"explain=True sets {', '.join(taken)} itself, for records that come back as "
            "`decisions`: leave it out of the flags, or leave out explain"
        )


def _name(name: Any, value: Any) -> str:
    if not isinstance(name, str) or not _is_text(name):
        raise NotCompilableError(
            f"flags are names with a truth value, a number or text, not "
            f"{_short(name)}: {_short(value)}"
        )
    return name.lstrip("-")


def _value(name: str, value: Any) -> bool | int | float | str:
    if not isinstance(value, (bool, int, float, str)):
        raise NotCompilableError(
            f"flags are names with a truth value, a number or text, not {name!r}: {_short(value)}"
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise NotCompilableError(f"flag {name!r}: its number does not fit into 64 bits")
    if isinstance(value, str):
        if not _is_text(value):
            raise NotCompilableError(f"flag {name!r}: its text is not valid Unicode")
        return _WORDS.get(value.strip().lower(), value)
    return value


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which the compiler cannot be sent
        return False
    return True


def _short(value: Any) -> str:
    # A number of more than 4300 digits has no repr.
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 64 bits"
    words = repr(value)
    return words if len(words) <= 80 else words[:80] + "…"
