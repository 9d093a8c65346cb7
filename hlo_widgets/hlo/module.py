"""HloModule and HloComputation: a program and its functions."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property

from hlo_widgets.errors import HloLookupError
from hlo_widgets.hlo.attribute_notes import attribute_notes
from hlo_widgets.hlo.attributes import split_attributes
from hlo_widgets.hlo.instruction import HloInstruction
from hlo_widgets.hlo.printer import PrintOptions, computation_text, module_text
from hlo_widgets.hlo.scanner import shorten
from hlo_widgets.hlo.source_tables import SourceFrame, SourceTables

_LINE_END = re.compile("\n")


class HloComputation:
    """A named list of instructions.

    You can think of it as a function: the parameters are its arguments, the root is what it
    returns, and the instructions in between are assignments, each name assigned once.

    Attributes:
        name: Name without `%`.
        parent: The module it stands in.
        instructions: All instructions in text order, which is the schedule when the module is
            scheduled.
        root_instruction: The instruction whose value is returned: the one marked ROOT, else the
            last.
        is_entry_computation: Whether the program starts here.
        line: Line in `HloModule.text` where it begins, from 1.
    """

    __slots__ = (
        "_by_name",
        "_parameters",
        "header",
        "instructions",
        "is_entry_computation",
        "line",
        "name",
        "parent",
        "root_instruction",
        "trailer",
    )

    name: str
    parent: HloModule
    instructions: tuple[HloInstruction, ...]
    root_instruction: HloInstruction
    is_entry_computation: bool
    line: int
    header: str
    trailer: str

    def __init__(self, name: str, parent: HloModule, line: int, header: str = "") -> None:
        self.name = name
        self.parent = parent
        self.line = line
        self.header = header
        self.trailer = ""
        self.instructions = ()
        self.is_entry_computation = False
        self._by_name: dict[str, HloInstruction] | None = None
        self._parameters: tuple[HloInstruction, ...] | None = None

    def __repr__(self) -> str:
        return f"<HloComputation %{shorten(self.name)}: {len(self.instructions)} instructions>"

    @property
    def by_name(self) -> Mapping[str, HloInstruction]:
        """Its instructions by name; of a name that the text repeats, the first."""
        if self._by_name is None:
            self._by_name = {item.name: item for item in reversed(self.instructions)}
        return self._by_name

    @property
    def parameters(self) -> tuple[HloInstruction, ...]:
        """Its parameter instructions by parameter number."""
        if self._parameters is None:
            found = [item for item in self.instructions if item.opcode == "parameter"]
            found.sort(key=lambda item: item.parameter_number or 0)
            self._parameters = tuple(found)
        return self._parameters

    @property
    def callers(self) -> tuple[HloInstruction, ...]:
        """The instructions that call it, in text order."""
        return self.parent.callers_of(self)

    @property
    def named_by(self) -> tuple[HloInstruction, ...]:
        """The instructions of the text whose attributes name it.

        These are its `callers`, but for what a start that is written short names: a `fusion-start`
        names the body of a fusion that the text does not show.
        """
        shown = []
        for caller in self.callers:
            above = caller.parent.callers
            is_hidden = above and self.parent.async_wrapped.get(above[0]) is caller
            shown.append(above[0] if is_hidden else caller)
        return tuple(shown)

    @property
    def is_fusion_computation(self) -> bool:
        """Whether a fusion calls it: then it is the body of one kernel."""
        return any(caller.opcode == "fusion" for caller in self.callers)

    def to_string(
        self, *, metadata: bool = True, backend_config: bool = True, operand_shapes: bool = False
    ) -> str:
        """Write the computation; the arguments are those of `HloModule.to_string`."""
        return computation_text(self, PrintOptions(metadata, backend_config, operand_shapes))


class HloModule:
    """One program as the compiler wrote it.

    Attributes:
        name: Name of the module; empty where the text has no header.
        text: The text that was read.
        computations: All computations in text order.
        entry_computation: The computation marked ENTRY, else the last.
    """

    name: str
    text: str
    computations: tuple[HloComputation, ...]
    entry_computation: HloComputation

    def __init__(self, text: str, source: str | None = None) -> None:
        self.name = ""
        self.text = text
        # The text that lines are counted in: `text`, or what mending made of it.
        self.source = text if source is None else source
        self.header = ""
        self.tables_text = ""
        self.computations = ()
        self._warnings: tuple[str, ...] = ()
        self._with_notes: tuple[str, ...] | None = None
        # Where an instruction that is not one whole line begins and ends in `source`.
        self.spans: dict[HloInstruction, tuple[int, int]] = {}
        # The text of instructions that the source implies and does not write out.
        # Some are made when they are asked for.
        self.texts: dict[HloInstruction, str | Callable[[], str]] = {}
        # Starts written short, such as `slice-start`, and what they run: the root of a computation
        # that is in the model and not in the text.
        self.async_wrapped: dict[HloInstruction, HloInstruction] = {}
        # The names that the reader gave to computations written inside an attribute.
        self.inline_calls: dict[HloInstruction, dict[str, list[str]]] = {}

    def __repr__(self) -> str:
        return f"<HloModule {shorten(self.name)}: {len(self.computations)} computations>"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader mended, did not know or could not read, each once.

        Asked for the first time it looks at every attribute: a fortieth of a second for each
        megabyte of text.
        """
        if self._with_notes is None:
            self._with_notes = (*self._warnings, *attribute_notes(self))
        return self._with_notes

    def warn(self, *texts: str) -> None:
        """Add warnings."""
        self._warnings += texts
        self._with_notes = None

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """The header's attributes in order, values verbatim, `is_scheduled` included."""
        return split_attributes(self.header)

    @property
    def is_scheduled(self) -> bool:
        """Whether the order of the instructions is the order in which they run."""
        return self.attributes.get("is_scheduled") == "true"

    def computation(self, name: str) -> HloComputation:
        """Return the computation of this name, with or without its `%`.

        Raises:
            HloLookupError: There is none.
        """
        wanted = name.removeprefix("%")
        found = self._computations_by_name.get(wanted)
        if found is None:
            close = get_close_matches(wanted, self._computations_by_name, n=3)
            raise HloLookupError("computation", wanted, close)
        return found

    def instruction(self, name: str) -> HloInstruction:
        """Return the instruction of this name: the entry's, else the first in text order.

        Raises:
            HloLookupError: There is none.
        """
        wanted = name.removeprefix("%")
        found = self.entry_computation.by_name.get(wanted) or self._instructions_by_name.get(wanted)
        if found is None:
            close = get_close_matches(wanted, self._instructions_by_name, n=3)
            raise HloLookupError("instruction", wanted, close)
        return found

    def instructions(self) -> Iterator[HloInstruction]:
        """Yield every instruction of every computation, in text order."""
        for computation in self.computations:
            yield from computation.instructions

    def source_frames(self, stack_frame_id: int) -> tuple[SourceFrame, ...]:
        """Return the stack of a frame number, innermost first; empty where there is none."""
        return self._source_tables.frames(stack_frame_id)

    def to_string(
        self, *, metadata: bool = True, backend_config: bool = True, operand_shapes: bool = False
    ) -> str:
        """Write the module as text that reads as the same module.

        Args:
            metadata: Whether to write metadata and the source tables. True by default.
            backend_config: Whether to write backend configs. True by default.
            operand_shapes: Whether to write the shape before each operand. False by default.
        """
        return module_text(self, PrintOptions(metadata, backend_config, operand_shapes))

    def callers_of(self, computation: HloComputation) -> tuple[HloInstruction, ...]:
        """Return the instructions that call a computation, in text order."""
        return self._callers.get(computation, ())

    def instruction_text(self, instruction: HloInstruction) -> str:
        """Return the text of one instruction, without indentation."""
        span = self.spans.get(instruction)
        if span is not None:
            return self.source[span[0] : span[1]]
        text = self.texts.get(instruction)
        if text is not None:
            return text if isinstance(text, str) else text()
        line = instruction.line
        starts = self.line_starts
        end = starts[line] - 1 if line < len(starts) else len(self.source)
        return self.source[starts[line - 1] : end].strip()

    def line_at(self, position: int) -> int:
        """Return the line, from 1, of a position in `source`."""
        return bisect_right(self.line_starts, position)

    @cached_property
    def line_starts(self) -> array[int]:
        """Where each line of `source` begins."""
        # An array holds the numbers in a fifth of the memory of a list.
        return array("q", [0, *[match.end() for match in _LINE_END.finditer(self.source)]])

    @cached_property
    def _source_tables(self) -> SourceTables:
        return SourceTables(self.tables_text)

    @cached_property
    def _computations_by_name(self) -> dict[str, HloComputation]:
        return {item.name: item for item in reversed(self.computations)}

    @cached_property
    def _instructions_by_name(self) -> dict[str, HloInstruction]:
        names: dict[str, HloInstruction] = {}
        for item in self.instructions():
            names.setdefault(item.name, item)
        return names

    @cached_property
    def _callers(self) -> dict[HloComputation, tuple[HloInstruction, ...]]:
        callers: dict[HloComputation, list[HloInstruction]] = {}
        for item in self.instructions():
            for called in dict.fromkeys(item.called_computations):
                callers.setdefault(called, []).append(item)
        return {computation: tuple(items) for computation, items in callers.items()}
