"""Finding instructions by a part of what they are called."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlo_widgets.analysis import work_instructions
from hlo_widgets.errors import HloLookupError
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.widgets.picture.navigator import Navigator

__all__ = ["Finder", "Found", "matching"]

MOST_FOUND = 1_000
"""Ops that one search goes through; arbitrary, more than anybody steps through."""


@dataclass(frozen=True)
class Found:
    """An op that was looked for.

    Attributes:
        node_id: Its id.
        words: Which of how many it is; "" where it was called by its name.
    """

    node_id: str
    words: str = ""


class Finder:
    """Finds ops by name, else one after another by a part of what they are called.

    Args:
        navigator: Where the ops are.
    """

    def __init__(self, navigator: Navigator) -> None:
        self._navigator = navigator

    def find(self, text: str, after: str = "") -> Found:
        """Return the op of a name, else the next one that a part of it leads to, round and round.

        Args:
            text: What the user wrote.
            after: The id that was found last; the one after it comes next.

        Raises:
            HloLookupError: Nothing is called so, not even in part.
        """
        try:
            return Found(self._navigator.meant(text))
        except HloLookupError as error:
            ids = self._ids(text) if text else []
            if not ids:
                raise error from None
        place = (ids.index(after) + 1) % len(ids) if after in ids else 0
        return Found(ids[place], f"{place + 1:,} of {len(ids):,} found")

    def _ids(self, text: str) -> list[str]:
        module = self._navigator.module
        # What does work first: of a fusion and its hundred ops one looks for the fusion.
        ordered = dict.fromkeys((*work_instructions(module), *module.instructions()))
        ids = [self._navigator.id_of(found) for found in matching(ordered, text)[:MOST_FOUND]]
        return [node_id for node_id in dict.fromkeys(ids) if node_id is not None]


def matching(instructions: Iterable[HloInstruction], text: str) -> list[HloInstruction]:
    """Return the instructions whose name, opcode or op_name holds a text, the best matches first.

    Names that begin with it come first, then names that hold it, then opcodes and op_names; within
    each in the given order. Upper and lower case are the same.
    """
    wanted = text.lower().removeprefix("%")
    begins, inside, otherwise = [], [], []
    for instruction in instructions:
        name = instruction.name.lower()
        if name.startswith(wanted):
            begins.append(instruction)
        elif wanted in name:
            inside.append(instruction)
        elif wanted in instruction.opcode or wanted in (instruction.metadata.op_name or "").lower():
            otherwise.append(instruction)
    return begins + inside + otherwise
