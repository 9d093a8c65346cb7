"""How each class of instruction looks, in the light and the dark theme.

The op classes and their light colours follow XLA's own graph dumper, so that people who know its
pictures read ours. XLA gives every fusion one grey; here a fusion is coloured by its kind, with
four hues of the Okabe-Ito palette, which stay apart for the common kinds of colour blindness.
"""

from __future__ import annotations

from dataclasses import dataclass

from hlo_widgets.analysis import collectives_in, is_memory_move, pair_members, wrapped_opcode
from hlo_widgets.analysis.collectives import COLLECTIVE_KINDS
from hlo_widgets.hlo import HloInstruction
from hlo_widgets.hlo import opcode as opcodes

__all__ = ["SCALE_COLORS", "STYLES", "Style", "fusion_kind", "style_key"]


@dataclass(frozen=True)
class Style:
    """Colours of one class of node.

    Attributes:
        meaning: What the class is, for the legend.
        light: Fill, stroke and text colour on a light page.
        dark: The same on a dark page.
    """

    meaning: str
    light: tuple[str, str, str]
    dark: tuple[str, str, str]


# In the order of the legend.
STYLES: dict[str, Style] = {
    "kLoop": Style(
        "kLoop fusion", ("#9fd3f5", "#2f7fb0", "#10222e"), ("#1d5b84", "#6db7e4", "#f2f8fc")
    ),
    "kInput": Style(
        "kInput fusion", ("#f8cb7a", "#b57b13", "#2b1d02"), ("#80560a", "#e5ae4c", "#fff8ea")
    ),
    "kOutput": Style(
        "kOutput fusion", ("#86d9bc", "#14805f", "#04261b"), ("#0d6249", "#4cc49d", "#effcf7")
    ),
    "kCustom": Style(
        "kCustom fusion", ("#eeb0d3", "#a8487f", "#2f0c20"), ("#7d2f5c", "#dd86b8", "#fff2f9")
    ),
    "fusion": Style(
        "fusion of no stated kind",
        ("#cfd8dc", "#78909c", "#000000"),
        ("#44545c", "#90a4ae", "#ffffff"),
    ),
    "matrix": Style(
        "dot, convolution, FFT",
        ("#1565c0", "#003c8f", "#ffffff"),
        ("#1565c0", "#8ab8f2", "#ffffff"),
    ),
    "reduction": Style(
        "reduce, scatter, gather",
        ("#e1bee7", "#9d78a6", "#000000"),
        ("#5c3a66", "#b78cc2", "#ffffff"),
    ),
    "collective": Style(
        "collective: devices exchange data",
        ("#6d4c41", "#3b241c", "#ffffff"),
        ("#6d4c41", "#d0b0a3", "#ffffff"),
    ),
    "collective_fusion": Style(
        "fusion with a collective inside",
        ("#e3a48c", "#8a4327", "#2b0f05"),
        ("#8a4a33", "#eab29c", "#fff4ef"),
    ),
    "transfer": Style(
        "send, receive, infeed, outfeed",
        ("#d7ccc8", "#8c7b75", "#000000"),
        ("#4e423d", "#a8968e", "#ffffff"),
    ),
    "call": Style(
        "call, loop, custom call",
        ("#2e7d32", "#005005", "#ffffff"),
        ("#2e7d32", "#7fc583", "#ffffff"),
    ),
    "movement": Style(
        "copy, transpose, reshape",
        ("#c8e6c9", "#7fa581", "#000000"),
        ("#2c4d2e", "#84b386", "#ffffff"),
    ),
    "broadcast": Style(
        "broadcast, update slice",
        ("#fff9c4", "#b3ad72", "#000000"),
        ("#55501f", "#b3ad72", "#ffffff"),
    ),
    "elementwise": Style(
        "elementwise and other ops",
        ("#ffffff", "#9e9e9e", "#000000"),
        ("#33373b", "#8b9096", "#ffffff"),
    ),
    "parameter": Style(
        "parameter", ("#ffe0b2", "#c59b56", "#000000"), ("#5a431f", "#c59b56", "#ffffff")
    ),
    "constant": Style(
        "constant", ("#f5f5f5", "#bdbdbd", "#424242"), ("#26292c", "#6d7277", "#d8dadc")
    ),
    "missing": Style(
        "operand that the text does not define",
        ("#ffffff", "#d32f2f", "#b71c1c"),
        ("#33373b", "#ef5350", "#ff8a80"),
    ),
    "note": Style(
        "left out of this view",
        ("#ffffff", "#9e9e9e", "#616161"),
        ("#1f2225", "#8b9096", "#b8bcc0"),
    ),
    "unknown": Style(
        "no figure", ("#f5f5f5", "#bdbdbd", "#424242"), ("#26292c", "#6d7277", "#d8dadc")
    ),
    "scale": Style(
        "share of the costliest op's cycles",
        ("#fdd49e", "#b5601f", "#000000"),
        ("#8c3b10", "#f0a06a", "#ffffff"),
    ),
    "formed": Style(
        "kernel formed so far", ("#b9d7f0", "#2f6ea5", "#0e2233"), ("#27567f", "#79b1e3", "#f2f8fc")
    ),
    "joined": Style(
        "fused in this step", ("#ffd166", "#b5651d", "#2b1d02"), ("#8a5a00", "#ffc94d", "#fff8ea")
    ),
    "not_fused": Style(
        "op that is not fused yet",
        ("#ffffff", "#9e9e9e", "#000000"),
        ("#33373b", "#8b9096", "#ffffff"),
    ),
    "hbm": Style(
        "output in HBM or main memory",
        ("#d9e2ec", "#6b7d90", "#000000"),
        ("#3a4753", "#93a7bb", "#ffffff"),
    ),
    "vmem": Style(
        "output in VMEM", ("#9fd3f5", "#2f7fb0", "#10222e"), ("#1d5b84", "#6db7e4", "#f2f8fc")
    ),
    "inside": Style(
        "value inside a kernel, in no memory",
        ("#ffffff", "#9e9e9e", "#000000"),
        ("#33373b", "#8b9096", "#ffffff"),
    ),
    "several_memories": Style(
        "outputs in several memory spaces",
        ("#e1bee7", "#9d78a6", "#000000"),
        ("#5c3a66", "#b78cc2", "#ffffff"),
    ),
    "other_memory": Style(
        "output in another memory space",
        ("#f8cb7a", "#b57b13", "#2b1d02"),
        ("#80560a", "#e5ae4c", "#fff8ea"),
    ),
}

SCALE_COLORS = {
    "light": (
        ("#fff7ec", "#000000"),
        ("#fee0b6", "#000000"),
        ("#fdb863", "#000000"),
        ("#e08214", "#000000"),
        ("#b35806", "#ffffff"),
    ),
    "dark": (
        ("#3b2f22", "#ffffff"),
        ("#5c4220", "#ffffff"),
        ("#8a5a14", "#ffffff"),
        ("#c0741a", "#ffffff"),
        ("#f09a3a", "#000000"),
    ),
}
"""Fill and text of five equal steps of the cycles scale, up to the module's costliest op."""

_CLASSES = {
    "matrix": opcodes.MATRIX,
    "reduction": opcodes.REDUCTIONS - {"sort", "topk"},
    "collective": COLLECTIVE_KINDS,
    "transfer": frozenset({"infeed", "outfeed", "recv", "send"}),
    "call": opcodes.CONTROL_FLOW | {"async", "custom-call"},
    "broadcast": frozenset({"broadcast", "dynamic-update-slice"}),
    "movement": frozenset(
        {"bitcast", "concatenate", "copy", "dynamic-slice", "reshape", "reverse", "transpose"}
    ),
    "parameter": frozenset({"parameter"}),
    "constant": frozenset({"constant"}),
    "missing": frozenset({"missing"}),
}
_STYLE_OF_OPCODE = {op: key for key, members in _CLASSES.items() for op in members}


def style_key(instruction: HloInstruction) -> str:
    """Return the key in `STYLES` for an instruction, by fusion kind, else by class of opcode.

    A pair takes the class of what it does, an asynchronous call that of what it wraps, and what
    moves between memories is movement. A fusion with a collective inside has a class of its own,
    whatever its kind: it is where chips wait for one another. An opcode nobody has told us of is
    drawn as an elementwise op: white.
    """
    opcode = wrapped_opcode(instruction)
    if opcode == "fusion":
        if collectives_in(instruction):
            return "collective_fusion"
        kind = fusion_kind(instruction)
        return kind if kind in STYLES else "fusion"
    if is_memory_move(instruction):
        return "movement"
    if opcode == "custom-call" and collectives_in(instruction):
        return "collective"
    return _STYLE_OF_OPCODE.get(opcode, "elementwise")


def fusion_kind(instruction: HloInstruction) -> str:
    """Return the kind of a fusion, or of a pair that is one, as printed; "" where there is none."""
    return pair_members(instruction)[0].attributes.get("kind", "")
