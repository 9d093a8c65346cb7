"""What a front end sends, read where it arrives: nothing of it is trusted to have its type."""

from __future__ import annotations

from typing import Any

__all__ = ["Message"]


class Message:
    """One message from the browser; what is not of the type asked for is as if it were not there.

    Args:
        content: What arrived, of whatever type.

    Attributes:
        kind: Its `type`; "" where it has none.
    """

    def __init__(self, content: object) -> None:
        self._content: dict[Any, Any] = content if isinstance(content, dict) else {}
        self.kind = self.text("type")

    def text(self, name: str) -> str:
        """Return a text; "" where there is none."""
        value = self._content.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; [] where there is none, or something else is among them."""
        value = self._content.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            return []
        return value

    def number(self, name: str) -> int | None:
        """Return a whole number; None where there is none."""
        value = self._content.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, name: str) -> bool | None:
        """Return whether something is so; None where that is not said."""
        value = self._content.get(name)
        return value if isinstance(value, bool) else None
