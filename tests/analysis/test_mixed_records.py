"""Records of another compile, of another module, and of modules that go in circles."""

from __future__ import annotations

import shutil

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import (
    DecisionLog,
    FusionDecision,
    Verdict,
    join_decisions,
    joined,
    read_decisions,
)
from hlo_widgets.analysis.decisions.final_names import FinalNames
from hlo_widgets.analysis.decisions.passes import DumpedModule, pass_chain
from hlo_widgets.analysis.decisions.priority_dump import read_priority_dump
from hlo_widgets.analysis.decisions.replay.contents import Contents
from hlo_widgets.analysis.decisions.replay.grouping import Kernel
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import decisions_of, dump_folder, module_of


def copied(name, folder, number, module):
    """Copy a dump into a folder, under another number and another name of the module."""
    for path in dump_folder(name).iterdir():
        renamed = path.name.replace("module_", f"module_9{number}", 1).replace(module, "jit_same")
        data = path.read_bytes()
        if path.suffix in (".txt", ".log"):
            data = data.replace(module.encode(), b"jit_same")
        (folder / renamed).write_bytes(data)


def test_of_two_compiles_of_one_name_the_one_is_read_that_the_module_is_of(tmp_path):
    alone, both = tmp_path / "alone", tmp_path / "both"
    alone.mkdir()
    copied("train_step.h100", alone, 1, "jit_train_step")
    shutil.copytree(alone, both)
    copied("mlp.h100", both, 2, "jit_mlp")
    one, two = read_decisions(alone), read_decisions(both)
    assert two.by_exactness == one.by_exactness
    assert [(p.number, p.name, str(p.changes)) for p in two.passes] == [
        (p.number, p.name, str(p.changes)) for p in one.passes
    ]
    assert len(hw.replay_decisions(two).steps) == len(hw.replay_decisions(one).steps)
    assert any("2 compiles of jit_same" in note for note in two.notes)


def test_a_priority_dump_without_a_module_is_of_the_one_that_its_name_tells():
    text = b'fusion_steps { fusion { fusion_name: "f" producer_name: "a" consumer_name: "b" } }'
    source = read_priority_dump(text, "module_0002.jit_g.priority_fusion_dump.txt", "jit_g")
    assert [decision.module for decision in source.decisions] == ["jit_g"]


def test_a_log_that_was_joined_with_another_module_says_nothing_of_this_one():
    other = decisions_of("train_step.h100")
    module = module_of("mlp.h100")
    assert joined(other, module_of("train_step.h100")) is other
    anew = joined(other, module)
    assert {str(decision.join.exactness) for decision in anew.decisions} == {"not joined"}
    assert anew.passes == ()
    answer = hw.why_not_fused(module, "gemm_fusion_dot", "fusion.13", other)
    assert "compiler" not in {item.mark for item in answer.evidence}


def test_final_names_are_those_of_the_join():
    log, module = decisions_of("heads.v6e"), module_of("heads.v6e")
    finals = FinalNames(log, module)
    for decision in log.decisions:
        found = finals.of([decision.producer])[decision.producer]
        assert found.producers == decision.join.producers


CIRCLE = """HloModule m
%one (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  ROOT %a = f32[4] fusion(%p), kind=kLoop, calls=%two
}
%two (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  ROOT %b = f32[4] fusion(%q), kind=kLoop, calls=%CALLED
}
ENTRY %e (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %f = f32[4] fusion(%x), kind=kLoop, calls=%one
}
"""


@pytest.mark.parametrize("called", ["one", "two", "nothing"])
def test_bodies_that_call_each_other_in_a_circle_come_to_an_end(called):
    module = parse_hlo_module(CIRCLE.replace("CALLED", called))
    before = parse_hlo_module(CIRCLE[CIRCLE.index("ENTRY") :].replace("calls=%one", "calls=%no"))
    chain = pass_chain([DumpedModule(0, "", before), DumpedModule(1, "x.after_y", module)])
    assert len(chain.passes) == 1
    assert sum(Contents().of((module.instruction("f"),)).values()) == 0
    record = FusionDecision("x", "f", Verdict.FUSED, consumers=("f",), fusion_name="f")
    log = join_decisions(DecisionLog((record,)), module, chain)
    assert len(log) == 1


def test_a_part_of_many_kernels_is_looked_at_once():
    # A ladder: each rung is made of both ends of the one below, 2 to the power of 200 ways down.
    module = parse_hlo_module(CIRCLE.replace("CALLED", "nothing"))
    kernel = Kernel.of_op(module.instruction("x"))
    for rung in range(200):
        kernel = Kernel(f"k{rung}", None, (kernel, kernel), step=rung)
    assert [op.name for op in kernel.ops] == ["x"]
    assert kernel.steps == tuple(range(200))
    assert sum(Contents().of_kernel(kernel).values()) == 0
