"""A start that is written short is one op to tables and graphs, as the text shows it."""

from __future__ import annotations

from hlo_widgets.analysis import executed_computations, fused_computation, is_work, trivial_reducer
from hlo_widgets.graph.paths import id_of, instruction_at
from hlo_widgets.hlo import parse_hlo_module

TEXT = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

body {
  x = f32[8] parameter(0)
  ROOT y = f32[8] negate(x)
}

ENTRY e {
  p = f32[8] parameter(0)
  fs = ((f32[8]), f32[8], s32[]) fusion-start(p), kind=kLoop, calls=body
  cs = ((f32[8]), f32[8], s32[]) call-start(p), to_apply=body
  rs = ((f32[8]), f32[4], s32[]) reduce-scatter-start(p), dimensions={0}, to_apply=add
  ss = ((f32[8]), f32[4], s32[]) slice-start(p), slice={[0:4]}
  fd = f32[8] fusion-done(fs)
  cd = f32[8] call-done(cs)
  rd = f32[4] reduce-scatter-done(rs)
  sd = f32[4] slice-done(ss)
  ROOT t = (f32[8], f32[8], f32[4], f32[4]) tuple(fd, cd, rd, sd)
}
"""


def test_what_is_made_for_a_start_has_no_row():
    module = parse_hlo_module(TEXT)
    assert len(module.computations) == 7
    # The call is stepped through; `y` is also what the fusion does, and counts for the call alone.
    assert [i.name for i in module.instructions() if is_work(i)] == ["y", "fs", "rs"]
    assert [x.computation.name for x in executed_computations(module)] == ["e", "body"]


def test_a_start_has_the_body_and_the_reducer_that_it_names():
    module = parse_hlo_module(TEXT)
    assert fused_computation(module.instruction("fs")) is module.computation("body")
    assert trivial_reducer(module.instruction("rs")) == "add"


def test_ids_lead_through_the_pair_that_the_text_shows():
    module = parse_hlo_module(TEXT)
    entry, negate = module.entry_computation, module.instruction("y")
    assert id_of(entry, negate) == "fd/y"
    assert instruction_at(entry, "fd/y") is negate
    assert instruction_at(entry, "cd/y") is negate
