"""Replays of real compiles end in the kernels that the compilers dumped."""

from __future__ import annotations

import dataclasses

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import DecisionLog, DecisionSource, FusionDecision, Verdict
from hlo_widgets.analysis.decisions.queue import QueueHistory
from hlo_widgets.analysis.decisions.replay.contents import Contents
from hlo_widgets.analysis.decisions.replay.grouping import Grouping, kernel_instructions
from hlo_widgets.analysis.decisions.replay.later_passes import LaterPasses
from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import DATA, decisions_of, dump_folder, module_of, were_highest

DUMPS = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))

SMALL = """HloModule small

ENTRY main {
  p = f32[8] parameter(0)
  a = f32[8] exponential(p)
  b = f32[8] negate(a)
  c = f32[8] cosine(a)
  ROOT d = f32[8] add(b, c)
}
"""


def fused(producer, consumer, name, step=0, **more):
    consumers = () if consumer is None else (consumer,)
    return FusionDecision(
        producer, consumer, Verdict.FUSED, step=step, consumers=consumers, fusion_name=name, **more
    )


def log_of(*decisions, kind="GPU priority fusion dump", text=SMALL):
    source = DecisionSource("dump.txt", kind, decisions, module_text=text)
    return DecisionLog(decisions, (source,))


def contents(replay, number):
    return {
        name: sorted(op.name for op in kernel.ops)
        for name, kernel in replay.kernels(number).items()
    }


@pytest.mark.parametrize("name", DUMPS)
def test_the_kernels_of_a_replay_are_those_of_every_dumped_module(name):
    replay = replay_decisions(decisions_of(name))
    assert replay.unknown == {}
    assert replay.untold == ()
    assert replay.checks
    for check in replay.checks:
        assert check.different == (), check
    # The record alone, without what later passes tell, gives the fusions of its own pass.
    recorded = [step.number for step in replay.steps if step.decision is not None]
    ends = [
        check.after_step for check in replay.checks if recorded and check.after_step >= recorded[0]
    ]
    own = replay.steps[recorded[0] - 1 : ends[0]] if ends else ()
    told = [parts for step in own if step.decision is None for parts in step.merged.values()]
    # A reduction goes without a record into the kernel that broadcasts it again.
    assert len(told) == int(name.startswith("heads"))


@pytest.mark.parametrize("name", DUMPS)
def test_every_recorded_fusion_is_a_step_and_the_last_state_has_the_final_fusions(name):
    log = decisions_of(name)
    replay = replay_decisions(log)
    kind = "GPU priority fusion dump" if replay.has_queue else "TPU fusion visualisation"
    records = [d for s in log.sources if s.kind == kind for d in s.decisions]
    recorded = [d for d in records if d.verdict is Verdict.FUSED]
    assert [step.decision for step in replay.steps if step.decision is not None] == recorded
    final = [op for op in kernel_instructions(module_of(name)) if op.opcode == "fusion"]
    # Names of the end are those of the module that the Explorer shows.
    assert {op.name for op in final} <= set(replay.final)


@pytest.mark.parametrize("name", [one for one in DUMPS if one.endswith("h100")])
def test_each_popped_producer_of_a_gpu_had_the_highest_priority(name):
    checked = were_highest(replay_decisions(decisions_of(name)))
    assert checked[False] == 0


def test_the_mlp_on_a_gpu_is_replayed_step_by_step():
    replay = replay_decisions(decisions_of("mlp.h100"))
    fusions = [step for step in replay.steps if step.decision is not None]
    assert len(fusions) == 30
    assert were_highest(replay)[True] == 16
    first = replay.steps[0]
    assert (first.producer.name, first.consumer.name) == ("integer_pow.2.0", "integer_pow.3.0")
    assert first.made.name == "fusion.4"
    assert not first.lives_on
    queue = replay.queue(1)
    assert queue.was_highest
    assert queue.entries[0].producer == "integer_pow.2.0"
    assert queue.ranked.priority == pytest.approx(6.005)
    assert queue.unclear == ""
    later = replay.queue(2)
    # The consumer is now the fusion that took the producer in.
    assert set(later.left) == {"integer_pow.2.0", "integer_pow.3.0"}
    assert later.entered == ("fusion.4",)
    # What the pass that renames fusions did is the last step.
    assert replay.steps[-1].renamed == {
        "fusion.10": "loop_multiply_fusion",
        "fusion.15": "input_reduce_fusion",
    }
    assert 30 in replay.steps_of("fusion.13")
    assert replay.steps_of("fusion.13")[-1] == 30


def test_a_tpu_record_has_an_order_and_no_queue():
    replay = replay_decisions(decisions_of("mlp.v6e"))
    assert not replay.has_queue
    assert replay.queue(1) is None
    assert any("no queue" in note for note in replay.notes)
    twice = [step for step in replay.steps if step.lives_on]
    assert "convert_element_type.2" in {step.decision.producer for step in twice}
    merged = next(step for step in replay.steps if step.merged)
    assert merged.pass_name.endswith("tpu_multi_output_fusion")
    assert set(merged.merged["fusion.11"]) == {"fusion.6", "reduce"}
    # The record goes on after that pass with what it made.
    assert replay.steps[merged.number].decision.consumer == "fusion.11"


def test_states_are_the_same_from_either_end():
    replay = replay_decisions(decisions_of("train_step.v6e"))
    numbers = range(len(replay.steps) + 1)
    forwards = [contents(replay, number) for number in numbers]
    fresh = replay_decisions(decisions_of("train_step.v6e"))
    backwards = [contents(fresh, number) for number in reversed(numbers)]
    assert forwards == backwards[::-1]
    assert forwards[-1] == {
        name: sorted(op.name for op in kernel.ops) for name, kernel in replay.final.items()
    }


def test_a_producer_that_others_still_read_lives_on_and_is_computed_twice():
    log = log_of(fused("a", "b", "fusion"), fused("a", "c", "fusion.1"))
    replay = replay_decisions(log)
    first, second = replay.steps
    assert first.lives_on
    assert not second.lives_on
    assert contents(replay, 1)["fusion"] == ["a", "b"]
    assert "a" in contents(replay, 1)
    assert contents(replay, 2) == {
        "p": ["p"],
        "d": ["d"],
        "fusion": ["a", "b"],
        "fusion.1": ["a", "c"],
    }


def test_siblings_become_one_kernel_that_gives_both_values():
    replay = replay_decisions(log_of(fused("b", "c", "fusion", siblings=True)))
    kernel = replay.kernels(1)["fusion"]
    assert {op.name for op in kernel.gives} == {"b", "c"}
    assert kernel.size == 2


def test_records_of_unknown_ops_are_counted_and_change_no_known_one():
    log = log_of(
        fused("nobody", "nothing", "fusion"),
        fused("nobody", "b", "fusion.1"),
        fused("a", "who", "fusion.2"),
        fused("a", "c", "fusion.3"),
    )
    replay = replay_decisions(log)
    assert replay.unknown == {"nobody": 2, "nothing": 1, "who": 1}
    assert [step.made.name for step in replay.steps] == ["fusion.1", "fusion.2", "fusion.3"]
    assert replay.kernels(1)["fusion.1"].unknown == 1
    assert contents(replay, 3)["fusion.3"] == ["a", "c"]


def test_of_a_record_that_is_cut_the_pass_tells_the_rest():
    log = decisions_of("mlp.h100")
    source = log.sources[0]
    fusions = [d for d in source.decisions if d.verdict is Verdict.FUSED]
    kept = tuple(d for d in source.decisions if d not in (fusions[0], fusions[6], fusions[20]))
    cut = dataclasses.replace(source, decisions=kept)
    replay = replay_decisions(dataclasses.replace(log, sources=(cut, *log.sources[1:])))
    assert replay.unknown
    assert len([step for step in replay.steps if step.decision is not None]) < 30
    (last,) = (step for step in replay.steps if step.pass_name.endswith("priority-fusion"))
    assert last.merged


@pytest.mark.parametrize("text", [None, "HloModule", "no module at all {"])
def test_without_a_module_before_fusion_there_is_nothing_to_replay(text):
    replay = replay_decisions(log_of(fused("a", "b", "fusion"), text=text))
    assert replay.module is None or not replay.steps
    assert replay.notes or replay.unknown


def test_a_log_without_records_in_order_has_no_steps():
    replay = replay_decisions(log_of(fused("a", "b", "fusion"), kind="a list of fusions"))
    assert replay.steps == ()
    assert replay.notes == ("The record tells no fusion in its order.",)


@pytest.mark.parametrize("name", [one for one in DUMPS if one.endswith("v6e")])
def test_what_a_compilers_log_leaves_out_is_told_by_the_modules_around_the_passes(name):
    # As it is with a large program, of which no picture is drawn.
    log = decisions_of(name)
    sources = tuple(source for source in log.sources if source.kind == "TPU compiler log")
    replay = replay_decisions(dataclasses.replace(log, sources=sources))
    recorded = [d for s in sources for d in s.decisions if d.verdict is Verdict.FUSED]
    assert replay.checks
    for check in replay.checks:
        assert check.different == (), check
    if recorded:
        assert any("a part of its fusions" in note for note in replay.notes)
        assert any(step.decision is not None for step in replay.steps)


def test_a_fusion_into_itself_and_names_that_come_twice_do_no_harm():
    log = log_of(
        fused("a", "a", "a"), fused("b", "c", "d"), fused("d", "d", "fusion"), fused("", "d", "x")
    )
    replay = replay_decisions(log)
    for number in range(len(replay.steps) + 1):
        assert all(kernel.ops for kernel in replay.kernels(number).values())


def test_a_long_chain_of_fusions_is_replayed_quickly():
    count = 3_000
    lines = ["HloModule long", "", "ENTRY main {", "  x0 = f32[8] parameter(0)"]
    lines += [f"  x{n + 1} = f32[8] exponential(x{n})" for n in range(count)]
    lines += [f"  ROOT r = f32[8] negate(x{count})", "}"]
    steps = [fused("x1", "x2", "fusion.2")]
    steps += [fused(f"fusion.{n}", f"x{n + 1}", f"fusion.{n + 1}") for n in range(2, count)]
    replay = replay_decisions(log_of(*steps, text="\n".join(lines)))
    assert replay.unknown == {}
    assert replay.final[f"fusion.{count}"].size == count
    assert len(replay.final[f"fusion.{count}"].ops) == count


def ranked(name, priority, step, consumers=("z",)):
    return FusionDecision(
        name,
        consumers[0] if len(consumers) == 1 else None,
        Verdict.RANKED,
        step=step,
        consumers=consumers,
        unfused_cost=priority,
        fused_cost=0.0,
        cost_unit="us",
        priority=priority,
    )


def test_of_an_update_that_may_price_some_readers_only_the_order_is_not_checked():
    before = [ranked("a", 9, 0, ("b", "c")), ranked("high", 5, 1)]
    taken = fused("a", "b", "f", 3)
    # The second update names a reader that has its price: 0 may be that of the other one alone.
    history = QueueHistory([*before, ranked("a", 0, 2, ("b", "g")), taken])
    moment = history.moment(taken)
    assert moment.was_highest is None
    assert "may price the others only" in moment.unclear
    history = QueueHistory([*before, ranked("a", 0, 2, ("g", "h")), taken])
    assert history.moment(taken).was_highest is False


def test_queue_entries_tell_who_rose_and_fell():
    first, second = fused("a", "z", "f", 4), fused("c", "f", "g", 8)
    history = QueueHistory(
        [
            ranked("a", 9, 0),
            ranked("b", 5, 1),
            ranked("c", 3, 2),
            ranked("e", 1, 3),
            first,
            ranked("c", 7, 5),
            ranked("new", 2, 6),
            ranked("e", -1, 7),
            second,
        ]
    )
    assert [entry.moved for entry in history.moment(first).entries] == [None] * 4
    moment = history.moment(second)
    told = [(e.rank, e.producer, e.priority, e.previous, e.moved) for e in moment.entries]
    assert told == [(1, "c", 7, 3, 1), (2, "b", 5, 5, -1), (3, "new", 2, None, None)]
    assert moment.entered == ("new",)
    assert set(moment.left) == {"a", "e"}
    assert moment.was_highest is True


def test_the_kernels_before_the_first_step_are_the_ops_that_run():
    module = parse_hlo_module(SMALL)
    assert set(Grouping.of_module(module).kernels) == {"p", "a", "b", "c", "d"}


def test_one_file_alone_is_replayed_on_the_module_that_it_carries():
    from hlo_widgets.analysis.decisions import read_decisions

    (path,) = dump_folder("mlp.h100").glob("*priority_fusion_dump.txt")
    replay = replay_decisions(read_decisions(path))
    assert len(replay.steps) == 30
    assert replay.unknown == {}
    assert replay.checks == ()


def test_what_nothing_reads_is_taken_out_by_the_pass_that_does_so():
    dead = SMALL.replace("ROOT d = f32[8] add(b, c)", "ROOT d = f32[8] add(a, a)")
    module = parse_hlo_module(dead)
    grouping = Grouping.of_module(module)
    grouping.merge(["b", "c"], "fusion", 1)
    after = "\n".join(
        line for line in dead.splitlines() if not line.strip().startswith(("b =", "c ="))
    )
    effect = LaterPasses(module, Contents()).follow(grouping, parse_hlo_module(after), 2)
    assert effect.dropped == ("fusion",)
    assert set(grouping.kernels) == {"p", "a", "d"}


def test_priorities_that_differ_in_the_last_printed_digit_are_one():
    # Of a real dump: 42.595 - 21.5765 beside 42.6952515 - 21.6767502.
    taken = fused("a", "z", "f", 4)
    history = QueueHistory([ranked("a", 21.0185, 0), ranked("b", 21.0185013, 1), taken])
    assert history.moment(taken).was_highest is True
    history = QueueHistory([ranked("a", 21.0185, 0), ranked("b", 21.0195, 1), taken])
    assert history.moment(taken).was_highest is False


def test_a_folder_is_replayed_as_its_log_is():
    folder = dump_folder("mlp.h100")
    assert len(hw.replay_decisions(folder).steps) == len(
        hw.replay_decisions(decisions_of("mlp.h100")).steps
    )
