"""Opcodes in the classes that a drawing and a table ask for.

Sets of opcodes as HLO text prints them. An opcode that is in no set is not an error: compilers
bring new ones before anybody else knows them.
"""

from __future__ import annotations

ELEMENTWISE_UNARY = frozenset(
    "abs acos acosh asin asinh atanh bitcast-convert cbrt ceil convert cosine cosh"
    " count-leading-zeros erf exponential exponential-minus-one floor imag is-finite log"
    " log-plus-one logistic negate not popcnt real reduce-precision round-nearest-afz"
    " round-nearest-even rsqrt sign sine sinh sqrt stochastic-convert tan tanh".split()
)
ELEMENTWISE_BINARY = frozenset(
    "add and atan2 compare complex divide maximum minimum multiply or power remainder shift-left"
    " shift-right-arithmetic shift-right-logical subtract xor".split()
)
ELEMENTWISE = ELEMENTWISE_UNARY | ELEMENTWISE_BINARY | {"clamp", "select", "map"}

# Moves or relabels elements and computes nothing.
DATA_MOVEMENT = frozenset(
    "bitcast broadcast concatenate copy copy-done copy-start dynamic-reshape dynamic-slice"
    " dynamic-update-slice pad reshape reverse slice transpose".split()
)
MATRIX = frozenset("cholesky convolution dot fft ragged-dot scaled-dot triangular-solve".split())
REDUCTIONS = frozenset(
    "batch-norm-grad batch-norm-inference batch-norm-training gather reduce reduce-window scatter"
    " select-and-scatter sort topk".split()
)
SOURCES = frozenset("constant iota parameter partition-id replica-id rng".split()) | {
    "rng-bit-generator",
    "rng-get-and-update-state",
}
COLLECTIVES = frozenset(
    "all-gather all-gather-done all-gather-start all-reduce all-reduce-done all-reduce-start"
    " all-to-all collective-broadcast collective-permute collective-permute-done"
    " collective-permute-start ragged-all-to-all reduce-scatter".split()
)
COMMUNICATION = COLLECTIVES | frozenset(
    "infeed outfeed partition-id recv recv-done replica-id send send-done".split()
)
CONTROL_FLOW = frozenset("call conditional while".split())
ASYNC_WRAPPERS = frozenset("async-done async-start async-update".split())
# Carries values from place to place in the text; no instruction of the machine comes from it.
PLUMBING = frozenset(
    "add-dependency after-all bitcast constant domain get-tuple-element opt-barrier parameter"
    " tuple".split()
)
# Gives a value, or a part of one, another name or shape: no kernel runs for it.
RELABELS = frozenset({"bitcast", "get-tuple-element", "tuple"})
# Asynchronous operations that XLA has opcodes of their own for. Of any other, `slice-start` is how
# XLA writes an `async-start` of a computation that does one slice.
_OWN_PAIRS = frozenset("all-gather all-reduce collective-permute copy recv send".split())
# Opcodes whose only called computation is named by `to_apply=`.
APPLIES = frozenset(
    "all-reduce all-reduce-start call map reduce reduce-scatter reduce-window scatter sort".split()
)
# Opcodes that XLA knows and on which no attribute names a computation: the reader need not look.
NEVER_CALLS = (
    ELEMENTWISE_UNARY
    | ELEMENTWISE_BINARY
    | DATA_MOVEMENT
    | MATRIX
    | PLUMBING
    | COMMUNICATION
    | SOURCES
    | {"clamp", "select", "gather", "topk", "set-dimension-size", "get-dimension-size"}
) - frozenset("all-reduce all-reduce-start reduce-scatter collective-broadcast rng".split())


_KNOWN = (
    ELEMENTWISE
    | DATA_MOVEMENT
    | MATRIX
    | REDUCTIONS
    | SOURCES
    | COMMUNICATION
    | CONTROL_FLOW
    | PLUMBING
    | {"custom-call", "fusion", "get-dimension-size", "set-dimension-size", "scan"}
)
SUGARED_STARTS = frozenset(
    f"{name}-start"
    for name in _KNOWN - _OWN_PAIRS
    if not name.endswith(("-start", "-done", "-update"))
)

# What XLA lets call nothing: the start alone runs a computation.
ENDS_OF_PAIRS = frozenset(
    f"{start.removesuffix('-start')}-{ending}"
    for start in (*SUGARED_STARTS, "async-start")
    for ending in ("update", "done")
)


def async_base(opcode: str) -> str | None:
    """Return what an asynchronous pair does: "copy" of "copy-start"; None for other opcodes.

    `async-start` and its like give "async": what they wrap stands in the computation that they
    call. `send-done` and `recv-done` end a `send` and a `recv` and give these.
    """
    for ending in ("-start", "-update", "-done"):
        if opcode.endswith(ending):
            return opcode.removesuffix(ending)
    return None


def is_async_start(opcode: str) -> bool:
    """Return whether the opcode begins an asynchronous operation."""
    return opcode.endswith("-start") or opcode in {"send", "recv"}


def is_async_done(opcode: str) -> bool:
    """Return whether the opcode waits for an asynchronous operation's end."""
    return opcode.endswith("-done")
