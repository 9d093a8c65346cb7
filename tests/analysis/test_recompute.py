"""Values that several kernels compute, found by what they compute, not by names."""

from __future__ import annotations

from hlo_widgets import captures
from hlo_widgets.analysis.recompute import recomputed_ops
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import module_of


def test_the_exponential_of_a_softmax_is_computed_twice():
    module = captures.load("row_softmax", "v6e").module
    (found,) = recomputed_ops(module)
    assert [op.name for op in found.instructions] == ["exp.5", "exp.3"]
    assert [kernel.name for kernel in found.kernels] == ["fusion.1", "fusion"]
    assert found.chain_length == 2  # the subtraction before it, too
    assert found.extra_evaluations == 1024 * 512
    assert found.avoided_bytes == 2 * 1024 * 512 * 4


def test_a_gpu_softmax_is_one_kernel_and_computes_nothing_twice():
    assert recomputed_ops(module_of("row_softmax.h100")) == ()


TEXT = """HloModule m
%f (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  %q = f32[8] parameter(1)
  %e = f32[8] exponential(%p)
  ROOT %r = f32[8] add(%e, %q)
}
%g (p: f32[8], q: f32[8]) -> f32[8] {
  %p = f32[8] parameter(0)
  %q = f32[8] parameter(1)
  %e = f32[8] exponential(%FROM)
  ROOT %r = f32[8] multiply(%e, %p)
}
ENTRY %main (x: f32[8], y: f32[8]) -> (f32[8], f32[8]) {
  %x = f32[8] parameter(0)
  %y = f32[8] parameter(1)
  %copy = f32[8] copy(%x)
  %one = f32[8] fusion(%x, %y), kind=kLoop, calls=%f
  %two = f32[8] fusion(%y, %copy), kind=kLoop, calls=%g
  ROOT %t = (f32[8], f32[8]) tuple(%one, %two)
}
"""


def test_what_a_fusion_reads_is_followed_through_copies_to_the_value():
    (found,) = recomputed_ops(parse_hlo_module(TEXT.replace("FROM", "q")))
    assert [kernel.name for kernel in found.kernels] == ["one", "two"]
    assert (found.chain_length, found.extra_evaluations, found.avoided_bytes) == (1, 8, 64)


def test_the_same_op_on_another_value_is_no_recomputation():
    assert recomputed_ops(parse_hlo_module(TEXT.replace("FROM", "p"))) == ()


def test_two_calls_of_one_body_on_other_values_are_no_recomputation():
    text = TEXT.replace("FROM", "q").replace(
        "(%y, %copy), kind=kLoop, calls=%g", "(%y, %x), kind=kLoop, calls=%f"
    )
    assert recomputed_ops(parse_hlo_module(text)) == ()


def test_random_numbers_are_never_the_same_twice():
    text = TEXT.replace("FROM", "q").replace("exponential", "rng")
    assert recomputed_ops(parse_hlo_module(text)) == ()
