"""Lines of a TPU compiler's log: which message each belongs to, and what is known about them.

The log has no promised format. Messages are told by their words, never by line numbers of the
compiler's source, which move with every version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = [
    "COMPUTATION",
    "DETAILS",
    "PATTERNS",
    "LogMessage",
    "condensed",
    "is_compiler_log",
    "messages",
]

_PREFIX = re.compile(
    r"[IWEF]\d{4} [\d:.]+\s+(?P<thread>\d+) (?P<file>[\w./-]+):(?P<line>\d+)\] ?(?P<text>.*)"
)
_FUSION_FILES = frozenset(
    {"instruction_fusion.cc", "tpu_instruction_fusion.cc", "multi_output_fusion.cc"}
)

_NAME = r"%?(?P<{0}>[^\s=,()|']+)"
_P, _C = _NAME.format("p"), _NAME.format("c")
# How a message is told, by the word that its count is kept under.
PATTERNS: dict[str, re.Pattern[str]] = {
    "Pre-considering": re.compile(
        rf"Pre-considering\s+producer={_P} = [^\n]*\n\s*consumer={_C} = "
    ),
    "Evaluating fusion": re.compile(rf"Evaluating fusion: producer '{_P}' into consumer '{_C}'"),
    "Considering fusion": re.compile(
        rf"Considering fusion of: {_C} = .* with operand {_P}\s*$", re.DOTALL
    ),
    # Of a tuple of hundreds: its line ends before the operand is named.
    "Considering fusion, cut short": re.compile(
        r"Considering fusion of: (?!.* with operand )", re.DOTALL
    ),
    "JFF": re.compile(
        r"JFF current_model_priority.*? new_model_priority: (?P<priority>\S+)"
        r" total_unfused_cycles: (?P<unfused>\S+) total_fused_cycles: (?P<fused>\S+)"
    ),
    "Fusing": re.compile(rf"Fusing {_P} = .*? into {_C} = ", re.DOTALL),
    "created new fusion": re.compile(r"\s*created new fusion: %?(?P<f>[^\s=]+)"),
    # Each `(?>...)` ends at the first of its words: two lazy dots try every pair of places.
    "Not fusing": re.compile(
        rf"Not fusing {_P} = (?>.*?\| into \|){_C} = (?>.*?\| as )(?P<why>.*)", re.DOTALL
    ),
    "not fusing operand": re.compile(r"not fusing operand "),
    "Operand is not fusible": re.compile(
        rf"Operand \({_P} = .*\) (?P<why>is not fusible)\s*$", re.DOTALL
    ),
    "Not allowed": re.compile(r"(?P<why>Not allowed at: \S+)\s*$"),
    "Fusion rejected": re.compile(r"(?P<remark>Fusion rejected: .*)", re.DOTALL),
    "No fusing": re.compile(r"(?P<remark>No fusing[:;].*)", re.DOTALL),
    # Stands before a "Not allowed" that has no words of its own.
    "Remark": re.compile(
        r"(?P<remark>(?:Cannot find window to lower|Dim collapsing bitcast is fused only"
        r"|Considering fusing a producer into a scatter).*)",
        re.DOTALL,
    ),
    "Did fuse": re.compile(r"(?P<remark>Did fuse[:;].*)", re.DOTALL),
    "Considering candidate": re.compile(
        rf"Considering candidate \S+\s+instr1 = {_P} = [^\n]*\n\s*instr2 = {_C} = "
    ),
    "After fusion": re.compile(r"After fusion,\s+this: %?(?P<f>\S+)"),
    "Fuse!": re.compile(r"Fuse!\s*$"),
    "Looking at instruction": re.compile(rf"Looking at instruction: {_C}\s*$"),
    "Operand not profitable": re.compile(rf"(?P<why>Operand not profitable): {_P}\s*$"),
    "Operand profitable": re.compile(rf"Operand profitable: {_P}\s*$"),
    "User": re.compile(rf"User: {_P}\s*$"),
    "User refused": re.compile(
        r"(?P<why>User is not fusible, or is the instruction itself|User is connected"
        rf"|User not legal to fuse): {_P}\s*$"
    ),
}
# Messages of the fusion passes that are read and decide nothing.
DETAILS = re.compile(
    r"JFF |AnalyzeCopyBitcastChain|\s*Skipped: |Candidate Reduce and broadcast|producer_can_be_"
    r"|Producer computation:|consumer computation:|Producer: %.* produces an effective scalar"
    r"|User ID for user|Running TpuInstructionFusion|module (?:un)?changed|Fusion count:"
    r"|next: |Module (?:before|after) |FuseWithNestedLoopFusion|deduplication info"
    r"|(?:in|out)\w+_fusion_users"
    r"|Entered |Completed |Inside |Merging two fusion nodes|User added to candidate|\s*$|\s*%"
    r"|(?:Before|After) multi_output_fusion:|instr[12]: |in/out pair: |Found producer that uses"
    r"|entry computation:|creating loop fusion:|Fusing conv |multi_level_loop_fusion_changed"
    r"|RWB fusion returned|RWBFusionHelper|Type \d candidate|created reduce-window"
    r"|candidate (?:Reduce|Broadcast):|reduce-broadcast-convert is not "
)
# A detail that quotes a computation; `text` is all of it where the message is whole.
COMPUTATION = re.compile(
    r"(?P<head>(?:Producer|consumer) computation:) *(?P<text>%(?P<name>[\w.-]+) (?:.*\n\})?)",
    re.DOTALL,
)
# An instruction that is looked at, in a message of several lines.
_SIDE = re.compile(r"\s*(?:producer|consumer)=%?[^\s=]+ = ")
# What is kept of a message that its line cuts short. Arbitrary.
_CUT_TO = 200
_CUT_SHORT = PATTERNS["Considering fusion, cut short"]
_MODULE = re.compile(r"(?:, module: |HLO optimizing module: )(?P<module>\S+)")


@dataclass(frozen=True)
class LogMessage:
    """One message, with the lines that continue it.

    Attributes:
        thread: Number of the thread that wrote it: compiles in parallel mix their lines.
        place: File and line of the compiler's source.
        text: The message.
        module: The module whose compile was announced last before it.
    """

    thread: str
    place: str
    text: str
    module: str | None


def is_compiler_log(text: str) -> bool:
    """Return whether the text holds a line of a TPU compiler's fusion passes."""
    return re.search(r"\b(?:tpu_)?(?:instruction|multi_output)_fusion\.cc:\d+\] ", text) is not None


def messages(text: str) -> Iterator[LogMessage]:
    """Yield the messages of the fusion passes, in order."""
    module: str | None = None
    head: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        match = _PREFIX.match(line)
        if match is None:
            # Text without a prefix goes on with the message before it.
            if head is not None:
                lines.append(line)
            continue
        if head is not None:
            yield _message(head, lines, module)
        head, lines = None, [match["text"]]
        if match["file"] in _FUSION_FILES:
            head = match
        elif named := _MODULE.search(match["text"]):
            module = named["module"]
    if head is not None:
        yield _message(head, lines, module)


def condensed(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that tell something: a hundredth of some logs.

    Lines of other passes are left out. Of a message that decides nothing its first line is kept.
    Of computations and instructions, which are quoted each time that an op is looked at, the first
    quote is kept, and of a message that is cut, because it has more than a log line holds, what
    tells its kind.

    Args:
        lines: The lines of a log, with their ends.
    """
    is_inside = False
    # Hashes of instructions: all of their text would be as much as the log.
    quoted: set[str | int] = set()
    for line in lines:
        match = _PREFIX.match(line)
        if match is None:
            side = _SIDE.match(line) if is_inside else None
            if side is not None:
                is_new = hash(line) not in quoted
                quoted.add(hash(line))
                yield line if is_new else side[0] + "\n"
            elif is_inside:
                yield line
            continue
        text = match["text"]
        is_inside = match["file"] in _FUSION_FILES
        if not is_inside:
            if _MODULE.search(text):
                yield line
        elif (computation := COMPUTATION.match(text)) is not None:
            is_inside = computation["name"] not in quoted
            quoted.add(computation["name"])
            yield line if is_inside else line[: match.start("text")] + computation["head"] + "\n"
        elif _CUT_SHORT.match(text):
            yield line[:_CUT_TO] + "\n"
        else:
            is_inside = DETAILS.match(text) is None
            yield line


def _message(head: re.Match[str], lines: list[str], module: str | None) -> LogMessage:
    place = f"{head['file']}:{head['line']}"
    return LogMessage(head["thread"], place, "\n".join(lines), module)
