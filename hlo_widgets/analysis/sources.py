"""The user's source line behind an instruction."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from hlo_widgets.hlo import HloInstruction, SourceFrame

__all__ = ["source_line", "source_text"]


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
    return SourceFrame(
        file=metadata.source_file,
        function="",
        line=metadata.source_line,
        column=None,
        end_line=None,
        end_column=None,
    )


def source_text(frame: SourceFrame | None) -> str | None:
    """Return a frame as "file.py:12", with the last part of the path alone; None for None."""
    if frame is None:
        return None
    name = (
        PureWindowsPath(frame.file).name if "\\" in frame.file else PurePosixPath(frame.file).name
    )
    return f"{name or frame.file}:{frame.line}"
