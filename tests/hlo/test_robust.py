"""Time and memory grow with the text and with nothing else, and nesting is no danger."""

from __future__ import annotations

import contextlib
import gc
import time
import tracemalloc

import pytest

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import parse_hlo_module
from tests.hlo.fuzz import problem, run

DEPTH = 10_000
ENTRY = "ENTRY e {{\n  p = f32[2] parameter(0)\n  ROOT q = {}\n}}\n"


def test_mutations() -> None:
    found = run(count=1_500, seed=20)
    assert found is None, found


@pytest.mark.slow
def test_many_mutations() -> None:
    found = run(count=20_000, seed=21)
    assert found is None, found


@pytest.mark.parametrize(
    "text",
    [
        ENTRY.format("(" * DEPTH + "f32[2]" + ")" * DEPTH + " foo(p)"),
        ENTRY.format("(" * DEPTH + "f32[2]"),
        ENTRY.format("f32[2] " + "add(" * DEPTH + "p" + ")" * DEPTH),
        ENTRY.format("f32[2] " + "add(" * DEPTH),
        ENTRY.format("f32[2] call(p), to_apply=" + "{ a = f32[2] call(), to_apply=" * DEPTH),
        ENTRY.format("f32[2] foo(p), x=" + "{" * DEPTH + "}" * DEPTH),
        ENTRY.format("f32[2] foo(p), x=" + "[" * DEPTH + "]" * DEPTH),
        ENTRY.format("f32[2] foo(p), backend_config=" + '{"a":' * DEPTH + "1" + "}" * DEPTH),
        ENTRY.format("f32[2] foo(p), metadata=" + "{op_name=" * DEPTH + "1" + "}" * DEPTH),
        ENTRY.format("f32[2] constant(" + "{" * DEPTH + "1" + "}" * DEPTH + ")"),
        ENTRY.format("f32[2]{0:P(" + "(" * DEPTH + ")" * DEPTH + ")} foo(p)"),
        ENTRY.format("f32[2] negate(%p" + "#0" * DEPTH + ")"),
        "e {" * DEPTH,
        "HloModule m, x=" + "(" * DEPTH,
    ],
    ids=lambda text: text[len(ENTRY) - 8 :][:40].replace("\n", " "),
)
def test_deep_nesting(text: str) -> None:
    assert problem(text) is None


def usual(count: int) -> str:
    lines = "".join(
        f"  %add.{n + 1} = f32[8,128]{{1,0:T(8,128)}} add(%add.{n}, %add.{n // 2}),"
        f' metadata={{op_name="jit(f)/add" stack_frame_id={n}}},'
        ' backend_config={"flag_configs":[],"window_config":{"estimated_cycles":"12"}}\n'
        for n in range(count)
    )
    header = "HloModule m\n\nENTRY %e (p: f32[8,128]) -> f32[8,128] {\n"
    return f"{header}  %add.0 = f32[8,128]{{1,0}} parameter(0)\n{lines}}}\n"


HOSTILE = {
    "usual": usual,
    "spread": lambda n: usual(n).replace(" add(", "\n add("),
    "one line": lambda n: usual(n // 4).replace("\n", " "),
    "unclosed parentheses": lambda n: "x = f32[2] add(\n" * n,
    "unclosed signatures": lambda n: "foo (a\n" * n,
    "unclosed comments": lambda n: "/*\n" * n,
    "comments in brackets": lambda n: "e {\n p = f32[] foo(" + "/*/" * n,
    "quotes": lambda n: "e {\n p = f32[] foo(), x={" + '"\\' * n,
    "apostrophes": lambda n: "e {\n p = f32[] foo(), x={" + "'\\" * n,
    "arrows": lambda n: "e (" + ") -> " * n + "{\n",
    "junk": lambda n: "not HLO at all\n" * n,
    "headers": lambda n: "e { p = f32[] parameter(0) }\n" * n,
    "one name": lambda n: "e {\n" + " p = f32[] negate(p)\n" * n + "}\n",
    "one operand": lambda n: (
        "e {\n p = f32[] parameter(0)\n"
        + "".join(f" q{i} = f32[] negate(p)\n" for i in range(n))
        + "}\n"
    ),
    "missing": lambda n: (
        "e {\n" + "".join(f" q{i} = f32[] negate(r{i})\n" for i in range(n)) + "}\n"
    ),
    "empty modules": lambda n: "HloModule m\ne {\n p = f32[] parameter(0)\n}\n" * n,
    "fences": lambda n: "```\n" * n,
    "log": lambda n: "I0603 07:41:11.1 1 a.cc:30] x = f32[] foo(\n" * n,
    "spaces": lambda n: "e {\n" + " " * 20 * n + "\n p = f32[] foo( " + " " * 20 * n,
    "long name": lambda n: "e {\n " + "a." * 10 * n + " = f32[] foo(" + "b" * 10 * n + ")\n}\n",
    "attributes": lambda n: "e {\n p = f32[] foo(), " + "a=b, " * n + "c=d\n}\n",
    "tuple": lambda n: (
        "e {\n p = (" + "f32[8,128]{1,0:T(8,128)(2,1)S(1)}, " * n + "f32[]) foo()\n}\n"
    ),
}


def seconds(text: str) -> float:
    best = 1e9
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(HloParseError):
            parse_hlo_module(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_is_linear(kind: str) -> None:
    make = HOSTILE[kind]
    small = seconds(make(2_000))
    large = seconds(make(16_000))
    # Eight times the text: a quadratic reader takes 64 times as long. Below a twentieth of a
    # second the clock and the machine's other work say more than the text.
    assert large < max(24 * small, 0.05), f"{small:.4f} s, then {large:.4f} s"


def test_memory_is_bounded() -> None:
    text = usual(4_000)
    gc.collect()
    tracemalloc.start()
    module = parse_hlo_module(text)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(module.entry_computation.instructions) == 4_001
    assert peak < 12 * len(text)
    assert kept < 8 * len(text)


def test_memory_is_bounded_on_short_lines() -> None:
    text = (
        "e {\n a0 = f32[] parameter(0)\n"
        + "".join(f" a{n + 1} = f32[] negate(a{n})\n" for n in range(20_000))
        + "}\n"
    )
    tracemalloc.start()
    module = parse_hlo_module(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert module.entry_computation.root_instruction.name == "a20000"
    # Lines of thirty characters: the objects outweigh the text more than anywhere else.
    assert peak < 12 * len(text), peak / len(text)
