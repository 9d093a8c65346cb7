"""Source tables: the FileNames, FunctionNames, FileLocations and StackFrames of a module.

A stack frame is a place in a file and the number of the frame that called it, so that the 30,000
instructions of a module can share their stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hlo_widgets.hlo.metadata import unquote
from hlo_widgets.hlo.scanner import STRING

TABLE_NAMES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ENTRY = re.compile(r"\s*+([0-9]{1,18})[ \t]*+")
_FIELD = re.compile(r"(\w++)\s*+=\s*+([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """One call on the stack of the user's program.

    Attributes:
        file: Path of the file as the compiler knew it.
        function: Name of the function.
        line: Line, from 1.
        column: Column, from 1; None where the table has none.
        end_line: Last line of the expression; None where the table has none.
        end_column: Column after the expression; None where the table has none.
    """

    file: str
    function: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class SourceTables:
    """The four tables of one module, by the numbers that the text gives."""

    __slots__ = ("_files", "_frames", "_functions", "_locations")

    def __init__(self, text: str) -> None:
        self._files: dict[int, str] = {}
        self._functions: dict[int, str] = {}
        self._locations: dict[int, dict[str, int]] = {}
        self._frames: dict[int, dict[str, int]] = {}
        table = ""
        for line in text.split("\n"):
            word = line.strip()
            if word in TABLE_NAMES:
                table = word
                continue
            entry = _ENTRY.match(line)
            if entry is None or not table:
                continue
            self._read(table, int(entry[1]), line[entry.end() :])

    def _read(self, table: str, number: int, value: str) -> None:
        if table in {"FileNames", "FunctionNames"}:
            string = STRING.match(value)
            names = self._files if table == "FileNames" else self._functions
            names[number] = unquote(string.group() if string else value.strip())
            return
        fields = {key: int(figure) for key, figure in _FIELD.findall(value)}
        (self._locations if table == "FileLocations" else self._frames)[number] = fields

    def frames(self, stack_frame_id: int) -> tuple[SourceFrame, ...]:
        """Return the stack of a frame number, innermost first; empty where there is none."""
        frames: list[SourceFrame] = []
        seen: set[int] = set()
        while stack_frame_id in self._frames and stack_frame_id not in seen:
            seen.add(stack_frame_id)
            frame = self._frames[stack_frame_id]
            location = self._locations.get(frame.get("file_location_id", 0))
            if location is not None:
                frames.append(self._frame(location))
            # XLA prints the number of the parent plus one: the outermost frame names itself.
            stack_frame_id = frame.get("parent_frame_id", 0) - 1
        return tuple(frames)

    def _frame(self, location: dict[str, int]) -> SourceFrame:
        return SourceFrame(
            file=self._files.get(location.get("file_name_id", 0), ""),
            function=self._functions.get(location.get("function_name_id", 0), ""),
            line=location.get("line", 0),
            column=location.get("column"),
            end_line=location.get("end_line"),
            end_column=location.get("end_column"),
        )
