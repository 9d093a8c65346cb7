"""Typed access to `backend_config`, whose shape is the backend's own and follows no open schema.

The text comes from protobuf's JSON printer: 64-bit numbers are strings, a field that has its
default value may be left out, and a compiler of another year prints other fields. So nothing here
raises: what is not there, or is not of the expected type, is None or empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hlo_widgets.hlo import HloInstruction

__all__ = [
    "LARGEST_INT64",
    "config_fields",
    "config_int",
    "config_list",
    "config_mapping",
    "decimal",
]

LARGEST_INT64 = 2**63 - 1
"""The largest number that protobuf and pandas can hold; a compiler's way to say "not known"."""

_EMPTY: Mapping[str, object] = MappingProxyType({})


def config_fields(instruction: HloInstruction) -> Mapping[str, object]:
    """Return the instruction's `backend_config` as a mapping.

    Args:
        instruction: Any instruction.

    Returns:
        The decoded JSON object; empty where there is no `backend_config`, where it is not JSON
        (some custom calls carry free text), and where the JSON is not an object.
    """
    return _as_mapping(instruction.backend_config)


def config_mapping(fields: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return the object under `name`; empty where there is none or it is something else."""
    return _as_mapping(fields.get(name))


def config_list(fields: Mapping[str, object], name: str) -> tuple[Mapping[str, object], ...]:
    """Return the objects in the list under `name`, leaving out entries that are not objects.

    A single object counts as a list of one: some compilers printed `reification_cost` so.
    """
    value = fields.get(name)
    entries = value if isinstance(value, list) else [value]
    return tuple(entry for entry in entries if isinstance(entry, dict))


def config_int(fields: Mapping[str, object], name: str) -> int | None:
    """Return the whole number under `name`, printed as a number or as a string.

    Returns:
        The number; None where the field is absent or is no whole number (`true`, `"NaN"`, `1.5`).
    """
    value = fields.get(name)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return decimal(value) if isinstance(value, str) else None


def decimal(text: str) -> int | None:
    """Return the whole number that the text is; None where it is none or of more than 20 digits."""
    digits = text.removeprefix("-")
    # The longest 64-bit number has 20 digits; more is no figure, and int() refuses very long ones.
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None


def _as_mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else _EMPTY
