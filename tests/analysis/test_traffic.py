"""What a program moves, counted by hand beside it."""

from __future__ import annotations

from hlo_widgets.analysis.figures import program_figures
from hlo_widgets.analysis.traffic import MemoryTraffic, memory_traffic
from hlo_widgets.hlo import parse_hlo_module

PLAIN = """HloModule m, is_scheduled=true
ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %s = f32[4]{0} sine(%x)
  %p = f32[4]{0} multiply(%s, %s)
  ROOT %b = f32[4]{0} add(%p, %x)
}
"""

# The copy brings 400 of 400 bytes into VMEM; the sine stays there; the sum goes back.
THROUGH_VMEM = """HloModule m, is_scheduled=true
ENTRY %e (x: f32[100]) -> f32[100] {
  %x = f32[100]{0} parameter(0)
  %start = (f32[100]{0:S(1)}, f32[100]{0}, u32[]{:S(2)}) copy-start(%x)
  %done = f32[100]{0:S(1)} copy-done(%start)
  %s = f32[100]{0:S(1)} sine(%done)
  ROOT %b = f32[100]{0} add(%s, %x)
}
"""

LOOP = """HloModule m
%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %v = f32[8] get-tuple-element(%p), index=1
  %w = f32[8] sine(%v)
  ROOT %t = (s32[], f32[8]) tuple(%i, %w)
}
%cond (p: (s32[], f32[8])) -> pred[] {
  %p = (s32[], f32[8]) parameter(0)
  ROOT %c = pred[] constant(true)
}
ENTRY %e (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %p = (s32[], f32[8]) parameter(0)
  ROOT %w = (s32[], f32[8]) while(%p), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"5"}}
}
"""  # noqa: E501 - a line of HLO


def traffic(text, space=0):
    return memory_traffic(parse_hlo_module(text), space)


def test_an_operand_that_stands_twice_is_read_once():
    assert traffic(PLAIN) == MemoryTraffic(16 + 16 + 32, 3 * 16, 3, 3)


def test_a_value_in_vmem_counts_there_and_the_copy_on_both_sides():
    assert traffic(THROUGH_VMEM) == MemoryTraffic(400 + 0 + 400, 0 + 0 + 400, 3, 3)
    assert traffic(THROUGH_VMEM, 1) == MemoryTraffic(0 + 400 + 400, 400 + 400 + 0, 3, 3)


def test_a_loop_counts_as_often_as_it_runs():
    assert traffic(LOOP).total_bytes == 5 * (32 + 32)


def test_a_loop_that_runs_nobody_knows_how_often_is_not_known():
    unknown = traffic(LOOP.replace("known_trip_count", "other"))
    assert unknown == MemoryTraffic(None, None, 0, 1)
    assert unknown.total_bytes is None


def test_figures_of_a_program_without_estimates():
    figures = program_figures(parse_hlo_module(PLAIN))
    assert (figures.kernels, figures.fusions) == (3, 0)
    assert (figures.estimated_cycles, figures.known_kernels) == (None, 0)
    assert not figures.has_all_cycles
