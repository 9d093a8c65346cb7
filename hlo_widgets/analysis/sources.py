"""The user's source line behind an instruction."""

from __future__ import annotations

import re

from hlo_widgets.hlo import HloInstruction, SourceFrame

__all__ = ["source_line", "source_text"]

# The file that IPython gives a cell: named by a hash, which tells nobody anything.
_NOTEBOOK_CELL = re.compile(r"[/\\]ipykernel_\d+[/\\]\d+\.py$|^<ipython-input-[^>]*>$")


def source_line(instruction: HloInstruction) -> SourceFrame | None:
    """Return the innermost source frame that the instruction came from.

    Args:
        instruction: Any instruction.

    Returns:
        The frame that `stack_frame_id` leads to through the module's tables; else one made of the
        metadata's own `source_file` and `source_line`, as older compilers print them, with an empty
        function name; None where the text names no source.
    """
    metadata = instruction.metadata
    if metadata.stack_frame_id is not None:
        frames = instruction.parent.parent.source_frames(metadata.stack_frame_id)
        if frames:
            return frames[0]
    if not metadata.source_file or metadata.source_line is None:
        return None
    return SourceFrame(metadata.source_file, "", metadata.source_line)


def source_text(instruction: HloInstruction) -> str | None:
    """Return the source line as "file.py:12", or "cell:3" for a line of a notebook's cell.

    Where the metadata names file and line itself, they are taken from there: it is the same place,
    and a table of thousands of rows need not walk as many stacks for it.

    Args:
        instruction: Any instruction.

    Returns:
        The text; None where the text names no source.
    """
    metadata = instruction.metadata
    file, line = metadata.source_file, metadata.source_line
    if not file or line is None:
        frame = source_line(instruction)
        if frame is None:
            return None
        file, line = frame.file, frame.line
    if _NOTEBOOK_CELL.search(file):
        return f"cell:{line}"
    # Both separators: the text may come from a compile on Windows.
    name = file.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return f"{name or file}:{line}"
