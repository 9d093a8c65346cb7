"""Numbers and sizes as a person reads them."""

from __future__ import annotations

__all__ = ["bytes_in_words", "counted"]

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def bytes_in_words(count: int) -> str:
    """Return a byte count in the largest binary unit of which it has at least one: `1.09 MiB`."""
    if count < 1024:
        return f"{count} byte{'s' if count != 1 else ''}"
    # A damaged shape can have more bytes than a float can say.
    power = min((count.bit_length() - 1) // 10, len(_UNITS))
    if count >= 1 << 200:
        return f"about 2^{count.bit_length() - 1} bytes"
    return f"{count / (1 << 10 * power):.4g} {_UNITS[power - 1]}"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: `1 cycle`, `5,604 cycles`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
