"""Hypothesis strategies for well-formed HLO modules, and ways to write each of them.

A module is drawn as a small plan; its text is written from the plan, so that the same module can
be written in every style that people and compilers use: with and without `%`, with and without
types before operands, with comments, on long and on short lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st

ELEMENT_TYPES = ("f32", "bf16", "s32", "pred", "u8", "f8e4m3fn", "c64", "s4")
UNARY = ("negate", "abs", "copy", "sign")
BINARY = ("add", "multiply", "subtract", "maximum")
# Text that tries to look like structure from inside a string.
STRINGS = (
    "jit(f)/reduce_sum",
    "a = f32[] add(b, c)",
    "} // {",
    "calls=%fused, to_apply=%x",
    "/* ( */ [",
    'say \\"hi\\"',
    "tab\\tnewline\\n",
    "<script>alert(1)</script>",
    "100% {%}",
    "it's",
)


@dataclass
class Instruction:
    """One planned instruction."""

    name: str
    shape: str
    opcode: str
    operands: list[str] = field(default_factory=list)
    inside: str = ""
    attributes: list[str] = field(default_factory=list)
    is_root: bool = False


@dataclass
class Computation:
    """One planned computation."""

    name: str
    instructions: list[Instruction]
    is_entry: bool = False


@dataclass
class Style:
    """How a plan is written."""

    percent: bool = True
    types: bool = False
    index_comments: bool = True
    comments: bool = False
    spread: bool = False
    signature: bool = True
    newline: str = "\n"
    indent: str = "  "


styles = st.builds(
    Style,
    percent=st.booleans(),
    types=st.booleans(),
    index_comments=st.booleans(),
    comments=st.booleans(),
    spread=st.booleans(),
    signature=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n"]),
    indent=st.sampled_from(["", "  ", "\t"]),
)


@st.composite
def layouts(draw, rank: int) -> str:
    """A layout for an array of this rank, or none."""
    kind = draw(st.sampled_from(["none", "plain", "tiled", "space"]))
    if kind == "none" or rank == 0:
        return ""
    order = ",".join(map(str, draw(st.permutations(range(rank)))))
    if kind == "plain":
        return f"{{{order}}}"
    tail = draw(
        st.sampled_from(["T(8,128)", "T(8,128)(2,1)", "T(256)S(1)", "S(2)", "T(2,128)E(4)S(1)"])
    )
    return f"{{{order}:{tail if kind == 'tiled' else 'S(1)'}}}"


@st.composite
def array_shapes(draw) -> str:
    """An array's shape with a layout."""
    sizes = draw(st.lists(st.integers(0, 300), max_size=3))
    return f"{draw(st.sampled_from(ELEMENT_TYPES))}[{','.join(map(str, sizes))}]" + draw(
        layouts(len(sizes))
    )


# XLA renames what is called like a type and what begins with two underscores.
RESERVED = {
    *"true false inf nan maximal replicated manual unknown unreduced pred token opaque".split(),
    "tuple",
    *(f"{sign}{bits}" for sign in "suf" for bits in (1, 2, 4, 8, 16, 32, 64)),
    *"bf16 c64 c128".split(),
}
names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}([.-][a-z0-9_]{1,3}){0,2}", fullmatch=True).filter(
    lambda name: (
        name not in RESERVED
        and not name.startswith("__")
        # XLA counts on from a number at the end: `a.0` is `a` to it, and `a.01` is `a.1`.
        and not re.search(r"\.0[0-9]*$", name)
    )
)


@st.composite
def metadata(draw) -> list[str]:
    """Attributes that any instruction may have."""
    found = []
    if draw(st.booleans()):
        text = draw(st.sampled_from(STRINGS))
        line = draw(st.integers(1, 9999))
        found.append(f'metadata={{op_name="{text}" source_file="a b.py" source_line={line}}}')
    if draw(st.integers(0, 3)) == 0:
        text = draw(st.sampled_from(STRINGS))
        found.append(f'backend_config={{"key":"{text}","list":[{{"n":"1"}},{{}}]}}')
    if draw(st.integers(0, 5)) == 0:
        found.append('frontend_attributes={_a="b, c={",_d="e"}')
    return found


@st.composite
def computations(draw, name: str, callees: list[str], shape: str, is_entry: bool) -> Computation:
    """A computation of one array type: parameters, elementwise operations, calls."""
    unique = draw(st.lists(names, min_size=3, max_size=14, unique=True))
    count = draw(st.integers(1, 2)) if is_entry else 1
    planned = [
        Instruction(unique[number], shape, "parameter", inside=str(number))
        for number in range(count)
    ]
    for item in unique[count:]:
        known = [other.name for other in planned]
        kind = draw(st.sampled_from(["unary", "binary", "fusion", "call", "binary"]))
        if kind in {"fusion", "call"} and not callees:
            kind = "unary"
        operands = [draw(st.sampled_from(known))]
        made = Instruction(item, shape, "negate", operands)
        if kind == "unary":
            made.opcode = draw(st.sampled_from(UNARY))
        elif kind == "binary":
            made.opcode = draw(st.sampled_from(BINARY))
            operands.append(draw(st.sampled_from(known)))
        elif kind == "fusion":
            made.opcode = "fusion"
            fusion_kind = draw(st.sampled_from(["kLoop", "kInput", "kOutput", "kCustom"]))
            made.attributes = [f"kind={fusion_kind}", f"calls={draw(st.sampled_from(callees))}"]
        else:
            made.opcode = "call"
            made.attributes = [f"to_apply={draw(st.sampled_from(callees))}"]
        made.attributes += draw(metadata())
        planned.append(made)
    root = len(planned) - 1 if draw(st.booleans()) else draw(st.integers(0, len(planned) - 1))
    planned[root].is_root = True
    return Computation(name, planned, is_entry)


@st.composite
def plans(draw) -> list[Computation]:
    """A module: some computations that may call those before them, then the entry."""
    shape = draw(array_shapes())
    unique = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    made: list[Computation] = []
    for name in unique[:-1]:
        made.append(draw(computations(name, [item.name for item in made], shape, is_entry=False)))
    made.append(draw(computations(unique[-1], [item.name for item in made], shape, is_entry=True)))
    return made


def write(plan: list[Computation], style: Style) -> str:
    """Write a plan in a style."""
    end = style.newline
    parts = [f"HloModule generated{end}{end}"]
    for computation in plan:
        entry = "ENTRY " if computation.is_entry else ""
        shape = computation.instructions[0].shape.split("{", maxsplit=1)[0]
        signature = ""
        if style.signature:
            parameters = ", ".join(
                f"{item.name}: {shape}"
                for item in computation.instructions
                if item.opcode == "parameter"
            )
            signature = f"({parameters}) -> {shape} "
        parts.append(f"{entry}{_name(computation.name, style)} {signature}{{{end}")
        parts += [_line(item, style) for item in computation.instructions]
        tail = f" // {computation.name}" if style.comments else ""
        parts.append(f"}}{tail}{end}{end}")
    return "".join(parts)


def _name(name: str, style: Style) -> str:
    return f"%{name}" if style.percent else name


def _line(item: Instruction, style: Style) -> str:
    gap = f"{style.newline}      " if style.spread else " "
    operands = []
    for number, operand in enumerate(item.operands):
        typed = f"{item.shape} " if style.types else ""
        comment = "/*index=1*/" if style.index_comments and number == 1 and style.comments else ""
        operands.append(f"{comment}{typed}{_name(operand, style)}")
    inside = item.inside or f",{gap}".join(operands)
    attributes = ""
    for attribute in item.attributes:
        key, value = attribute.split("=", 1)
        if key in {"calls", "to_apply"}:
            value = _name(value, style)
        attributes += f",{gap}{key}={value}"
    root = "ROOT " if item.is_root else ""
    comment = " // note = { " if style.comments and style.spread else ""
    return (
        f"{style.indent}{root}{_name(item.name, style)} = {item.shape}{gap}"
        f"{item.opcode}({inside}){attributes}{comment}{style.newline}"
    )
