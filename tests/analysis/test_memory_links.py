"""From an allocation that did not fit to the op that asked for it."""

from __future__ import annotations

from hlo_widgets.analysis import MemoryAllocation, MemoryReport, asking_ops
from hlo_widgets.hlo import parse_hlo_module

MODULE = parse_hlo_module("""HloModule m

%body (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  ROOT %inner = f32[4] tanh(%q), metadata={op_name="jit(f)/tanh"}
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0), metadata={op_name="jit(f)/dot"}
  %a = f32[4] negate(%p), metadata={op_name="jit(f)/dot"}
  %b = f32[4] abs(%a), metadata={op_name="jit(f)/dot"}
  ROOT %fusion = f32[4] fusion(%b), kind=kLoop, calls=%body, metadata={op_name="jit(f)/tanh"}
}
""")


def names(*allocations):
    report = MemoryReport("vmem", None, None, None, allocations)
    return [op.name for op in asking_ops(report, MODULE)]


def test_an_op_is_found_by_the_name_that_the_program_gave_it():
    # What is inside a fusion asks for nothing: the fusion does.
    assert names(MemoryAllocation(1, op_name="jit(f)/tanh", instruction="fusion.7")) == ["fusion"]
    assert names(MemoryAllocation(1, op_name="jit(f)/dot", instruction="b")) == ["b"]
    assert names(MemoryAllocation(1, op_name="jit(f)/dot", instruction="other")) == ["a"]
    # Another op of the program that happens to be called so.
    assert names(MemoryAllocation(1, op_name="jit(f)/sin", instruction="a")) == []


def test_without_such_a_name_by_its_own():
    assert names(MemoryAllocation(1, instruction="fusion")) == ["fusion"]
    assert names(MemoryAllocation(1, instruction="p"), MemoryAllocation(1)) == []


def test_each_op_is_named_once_in_the_reports_order():
    again = MemoryAllocation(1, instruction="b")
    assert names(again, MemoryAllocation(2, op_name="jit(f)/tanh"), again) == ["b", "fusion"]
