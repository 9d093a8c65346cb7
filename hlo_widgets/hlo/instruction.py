"""HloInstruction: one operation of a computation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo.attributes import CALLING_ATTRIBUTES, computation_names, split_attributes
from hlo_widgets.hlo.inference import infer_shape
from hlo_widgets.hlo.metadata import OpMetadata, parse_metadata, unquote
from hlo_widgets.hlo.printer import PrintOptions, instruction_text
from hlo_widgets.hlo.scanner import shorten
from hlo_widgets.hlo.shape import Shape, parse_shape
from hlo_widgets.hlo.statement import Statement, read_statement

if TYPE_CHECKING:
    from hlo_widgets.hlo.module import HloComputation

NO_COMPUTATIONS: tuple[HloComputation, ...] = ()


class FusionKind(StrEnum):
    """What a fusion is built around, in XLA's words."""

    kLoop = "kLoop"  # noqa: N815 (XLA's spelling)
    kInput = "kInput"  # noqa: N815
    kOutput = "kOutput"  # noqa: N815
    kCustom = "kCustom"  # noqa: N815

    __repr__ = str.__repr__  # for people, who see it in lists: 'kLoop'


FUSION_KINDS: dict[str, FusionKind] = {str(kind): kind for kind in FusionKind}


class HloInstruction:
    """One operation: an opcode applied to operands, with a name, a shape and attributes.

    You can think of it as an assignment: `%name = shape opcode(operands), attributes`. What the
    graph needs is there from the start; the shape, the attributes, the metadata and the backend
    config are read from the text when they are first asked for.

    Attributes:
        name: Name without `%`; unique in its computation unless the text repeats it.
        opcode: As printed: "fusion", "copy-start", "slice-start" (which XLA's parser makes an
            "async-start" of, and its printer a "slice-start" again); "missing" for a placeholder.
        parent: The computation it stands in.
        line: Line in `HloModule.text` where it begins, from 1; 0 for a placeholder.
        operands: The instructions it reads, in order, repeated where the text repeats them.
        users: The instructions that read it, each once, in text order.
        called_computations: The computations that its attributes name, in text order; of a start
            that is written short the one that XLA makes for it: see `named_computations`.
        fusion_kind: The kind of a fusion; None for what is no fusion or names no kind we know.
    """

    __slots__ = (
        "_details",
        "called_computations",
        "fusion_kind",
        "line",
        "name",
        "opcode",
        "operands",
        "parent",
        "users",
    )

    name: str
    opcode: str
    parent: HloComputation
    line: int
    operands: tuple[HloInstruction, ...]
    users: tuple[HloInstruction, ...]
    called_computations: tuple[HloComputation, ...]
    fusion_kind: FusionKind | None
    _details: _Details | None

    def __init__(self, name: str, opcode: str, parent: HloComputation, line: int) -> None:
        self.name = name
        self.opcode = opcode
        self.parent = parent
        self.line = line
        self.operands = self.users = ()
        self.called_computations = NO_COMPUTATIONS
        self.fusion_kind = None
        self._details = None

    def __repr__(self) -> str:
        return f"<HloInstruction %{shorten(self.name)} = {shorten(self.opcode)}>"

    @property
    def text(self) -> str:
        """The instruction as the text has it, without indentation; empty for a placeholder."""
        return self.parent.parent.instruction_text(self)

    @property
    def is_root(self) -> bool:
        """Whether its value is the value of its computation."""
        return self.parent.root_instruction is self

    @property
    def is_missing(self) -> bool:
        """Whether it only stands for an operand that the text names and does not define."""
        return self.opcode == "missing"

    @property
    def shape(self) -> Shape:
        """The shape of its value.

        Raises:
            HloParseError: The text between `=` and the opcode is no shape.
        """
        details = self._read()
        if details.shape is None:
            details.shape = self.written_shape or infer_shape(self)
        return details.shape

    @property
    def written_shape(self) -> Shape | None:
        """The shape as the text gives it; None where it is left to be inferred."""
        details = self._read()
        text = details.statement.shape
        if details.shape is None and text:
            try:
                details.shape = parse_shape(text)
            except HloParseError as error:
                # The shape is read late: say where in the file it stands.
                column = self.text.find(text) + error.column
                raise HloParseError(
                    f"{error.reason}, in %{self.name}",
                    self.line,
                    column,
                    error.excerpt,
                    error.caret,
                ) from None
        return details.shape

    def keep_shape(self, shape: Shape) -> None:
        """Keep a shape that was inferred, so that it is not inferred again."""
        self._read().shape = shape

    @property
    def shape_text(self) -> str:
        """The shape as written, or as inferred where the text has none."""
        return self._read().statement.shape or self.shape.to_string()

    @property
    def operands_text(self) -> str:
        """The text between the parentheses, as written."""
        return self._read().statement.operands

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes in order, values verbatim, metadata and backend_config included."""
        details = self._read()
        if details.attributes is None:
            details.attributes = split_attributes(self.text, details.statement.end)
        return details.attributes

    @property
    def metadata(self) -> OpMetadata:
        """Where in the user's program it came from; all None where the text has no metadata."""
        details = self._read()
        if details.metadata is None:
            details.metadata = parse_metadata(self.attributes.get("metadata"))
        return details.metadata

    @property
    def backend_config(self) -> object | None:
        """The backend's notes: decoded JSON, else the string itself; None where there are none."""
        details = self._read()
        if not details.has_backend_config:
            details.backend_config = _decoded(self.attributes.get("backend_config"))
            details.has_backend_config = True
        return details.backend_config

    @property
    def async_wrapped_instruction(self) -> HloInstruction | None:
        """What an asynchronous start runs: the root of its computation; None for other opcodes."""
        if not self.opcode.endswith("-start") or not self.called_computations:
            return None
        if self.opcode == "async-start":
            return self.called_computations[0].root_instruction
        return self.parent.parent.async_wrapped.get(self)

    @property
    def named_computations(self) -> tuple[HloComputation, ...]:
        """The computations that its own attributes name, in text order.

        These are `called_computations`, but for a start that is written short: a `fusion-start`
        names the body of its fusion, and calls a computation that does one `fusion`.
        """
        wrapped = self.parent.parent.async_wrapped.get(self)
        return self.called_computations if wrapped is None else wrapped.called_computations

    @property
    def called_by_attribute(self) -> Mapping[str, tuple[HloComputation, ...]]:
        """The called computations by the attribute that names them, such as "body"."""
        inline = self.parent.parent.inline_calls.get(self, {})
        found: dict[str, tuple[HloComputation, ...]] = {}
        if not self.named_computations:
            return found
        by_name = {computation.name: computation for computation in self.named_computations}
        for key, value in self.attributes.items():
            if key in CALLING_ATTRIBUTES:
                names = inline.get(key) or computation_names(value)
                called = tuple(by_name[name] for name in names if name in by_name)
                if called:
                    found[key] = called
        return found

    @property
    def parameter_number(self) -> int | None:
        """N of `parameter(n)`; None for other opcodes."""
        if self.opcode != "parameter":
            return None
        number = self._read().statement.operands.strip()
        return int(number) if number.isdecimal() and len(number) < 10 else None

    @property
    def literal(self) -> str | None:
        """The text between the parentheses of a constant; None for other opcodes."""
        return self._read().statement.operands if self.opcode == "constant" else None

    @property
    def control_predecessors(self) -> tuple[HloInstruction, ...]:
        """The instructions that must run before it although it does not read them."""
        value = self.attributes.get("control-predecessors")
        if value is None:
            return ()
        by_name = self.parent.by_name
        return tuple(by_name[name] for name in computation_names(value) if name in by_name)

    def to_string(
        self, *, metadata: bool = True, backend_config: bool = True, operand_shapes: bool = False
    ) -> str:
        """Write the instruction on one line, normalised: names with `%`, calls by name.

        Args:
            metadata: Whether to write metadata.
            backend_config: Whether to write the backend config.
            operand_shapes: Whether to write the shape before each operand.
        """
        return instruction_text(self, PrintOptions(metadata, backend_config, operand_shapes))

    def _read(self) -> _Details:
        details = self._details
        if details is None:
            details = self._details = _Details(read_statement(self.text))
        return details


# `json.loads` makes a decoder anew for every text that is not read strictly.
_JSON = json.JSONDecoder(strict=False)


def _decoded(text: str | None) -> object | None:
    if text is None:
        return None
    inner = unquote(text)
    try:
        value: object = _JSON.decode(inner)
    except (ValueError, RecursionError):
        return inner
    return value


class _Details:
    """What has been read of an instruction's text so far."""

    __slots__ = (
        "attributes",
        "backend_config",
        "has_backend_config",
        "metadata",
        "shape",
        "statement",
    )

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.shape: Shape | None = None
        self.attributes: dict[str, str] | None = None
        self.metadata: OpMetadata | None = None
        # None is an answer, too, so that another field says whether it was asked for.
        self.backend_config: object | None = None
        self.has_backend_config = False
