"""Each reader on what real compilers wrote: nothing lost, words verbatim, figures as printed."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import (
    Verdict,
    merge_sources,
    read_decision_source,
    read_decisions,
    reason_words,
)
from hlo_widgets.analysis.decisions.frames import read_frames
from hlo_widgets.analysis.decisions.log import DecisionSource
from hlo_widgets.analysis.decisions.queue import QueueHistory, queue_place
from hlo_widgets.analysis.decisions.record import FusionDecision
from tests.analysis.dumps import DATA, decisions_of, dump_folder, file_of

PLACE = "platforms/xla/service/jellyfish/hlo/transforms/tpu_instruction_fusion.cc"


def source_of(name, ending):
    return read_decision_source(file_of(name, ending))


def test_no_capture_is_large_or_tells_of_the_machine_that_made_it():
    for path in DATA.glob("*.tar.xz"):
        assert path.stat().st_size < 100_000
        for file in dump_folder(path.name.removesuffix(".tar.xz")).iterdir():
            if file.suffix != ".pyz":
                assert not re.search(r"/(home|root|tmp|work)/", file.read_text())


def test_the_visualisation_of_the_mlp_has_97_frames():
    source = source_of("mlp.v6e", "_fusion.pyz")
    assert source.records == {"About to fuse": 37, "Fused": 37, "Not fusing": 23}
    assert Counter(d.verdict for d in source.decisions) == {Verdict.FUSED: 37, Verdict.REFUSED: 23}
    assert source.unread == {}
    assert {d.module for d in source.decisions} == {"jit_mlp"}


def test_a_fusion_names_both_sides_and_what_was_made():
    first, second = source_of("mlp.v6e", "_fusion.pyz").decisions[:2]
    assert (first.producer, first.consumer) == ("integer_pow.2", "integer_pow.3")
    assert first.fusion_name == second.producer == "multiply_multiply_fusion"
    assert first.pass_name == "InstructionFusion with may_duplicate=1"
    assert (first.step, second.step) == (0, 2)


def test_a_refusal_keeps_the_words_and_a_bare_place_stays_a_place():
    refused = [d for d in source_of("mlp.v6e", "_fusion.pyz").decisions if d.verdict == "refused"]
    mixed = next(d for d in refused if d.producer == "convolution.1")
    assert mixed.reason == (
        "operand can not be duplicated at: third_party/tensorflow/compiler/xla/service/"
        f"instruction_fusion.cc:675 ; Not allowed at: {PLACE}:5555 at: third_party/tensorflow/"
        "compiler/xla/service/decision.h:119"
    )
    assert mixed.reason_words == "operand can not be duplicated"
    assert reason_words(f"Not allowed at: {PLACE}:5555") == ""


def test_the_page_of_the_gpu_has_refusals_that_the_dump_lacks():
    source = source_of("mlp.h100", "_fusion.html")
    assert source.records == {"About to fuse": 30, "Fused": 30, "Not considering fusion": 2}
    refused = [d for d in source.decisions if d.verdict is Verdict.REFUSED]
    assert [d.reason for d in refused] == [
        "consumer not eligible as multi-output fusion root.",
        "will execute slower if fused",
    ]
    assert {d.module for d in source.decisions} == {"jit_mlp"}


def test_siblings_are_told_from_producer_and_consumer():
    page = source_of("root_for_three.h100", "_fusion.html")
    fused = next(d for d in page.decisions if d.siblings)
    assert (fused.producer, fused.consumer, fused.fusion_name) == (
        "fusion.4",
        "fusion.5",
        "fusion.5",
    )
    refused = [d for d in source_of("train_step.h100", "_fusion.html").decisions if d.siblings]
    assert "fusion.13 and fusion.38 are connected" in {d.reason for d in refused}


def test_the_priority_dump_of_the_mlp_has_the_known_counts():
    source = source_of("mlp.h100", "priority_fusion_dump.txt")
    assert source.records == {"update_priority": 107, "fusion": 30, "producer_ineligible": 21}
    words = Counter(d.reason for d in source.decisions if d.verdict is Verdict.INELIGIBLE)
    assert words == {
        "the producer is not fusible": 13,
        "the consumer is not fusible": 7,
        "fusion into output of a reduce fusion would create a loop fusion": 1,
    }
    assert source.module_text.startswith("HloModule jit_mlp")


def test_an_update_has_both_times_and_one_or_several_consumers():
    source = source_of("mlp.h100", "priority_fusion_dump.txt")
    one = next(d for d in source.decisions if d.producer == "integer_pow.2.0")
    assert (one.unfused_cost, one.fused_cost, one.cost_unit) == (9.517, 3.512, "us")
    assert one.priority == one.gain == pytest.approx(6.005)
    several = next(d for d in source.decisions if d.producer == "mul.18.0")
    assert several.consumer is None
    assert several.consumers == ("bitcast.1.0", "convert_element_type.11.0")


def test_an_ineligible_producer_names_no_consumer():
    source = source_of("mlp.h100", "priority_fusion_dump.txt")
    first = source.decisions[0]
    assert (first.producer, first.consumer, first.consumers) == (
        "gemm_fusion_dot_general.2",
        None,
        (),
    )


def test_the_log_has_costs_in_cycles():
    source = source_of("mlp.v6e", "compiler.log")
    (priced,) = (d for d in source.decisions if d.priority is not None)
    assert (priced.producer, priced.consumer) == ("convolution", "add.14")
    assert (priced.unfused_cost, priced.fused_cost, priced.priority) == (33885.2, 18133.9, 15751.3)
    assert priced.gain == pytest.approx(priced.priority)
    assert priced.cost_unit == "cycles"
    assert priced.verdict is Verdict.RANKED


def test_the_log_says_the_same_refusals_as_the_visualisation():
    log, frames = source_of("mlp.v6e", "compiler.log"), source_of("mlp.v6e", "_fusion.pyz")
    told = {(d.producer, d.consumer, d.reason) for d in log.decisions}
    refused = [d for d in frames.decisions if d.verdict is Verdict.REFUSED]
    assert len(refused) == 23
    assert all((d.producer, d.consumer, d.reason) in told for d in refused)


def test_what_the_log_says_beside_the_reason_is_kept():
    log = source_of("row_softmax.v6e", "compiler.log")
    remarks = [
        remark for d in log.decisions if d.producer == "reduce_max.7" for remark in d.remarks
    ]
    expected = "producer 'reduce_max.7' is too expensive to duplicate into 'fusion.1'."
    assert f"Fusion rejected: {expected}" in remarks


def test_a_new_fusion_is_named_by_the_line_after():
    log = source_of("mlp.v6e", "compiler.log")
    first = next(d for d in log.decisions if d.verdict is Verdict.FUSED)
    assert (first.producer, first.consumer) == ("integer_pow.2", "integer_pow.3")
    assert first.fusion_name == "multiply_multiply_fusion"
    made = [d for d in source_of("wave_for_two.v6e", "compiler.log").decisions if d.fusion_name]
    assert made[-1].pass_name == "multi-output fusion"
    assert (made[-1].producer, made[-1].consumer, made[-1].fusion_name) == (
        "fusion",
        "fusion.1",
        "fusion",
    )


def test_every_message_of_every_captured_log_is_known():
    for path in DATA.glob("*.v6e.tar.xz"):
        log = decisions_of(path.name.removesuffix(".tar.xz"))
        assert log.unread == {}


def test_an_unknown_line_is_counted_and_not_lost(tmp_path):
    text = file_of("mlp.v6e", "compiler.log").read_text()
    known = next(line for line in text.splitlines() if "Evaluating fusion" in line)
    odd = known.partition("] ")[0] + "] Asking the oracle about %a = add(b)"
    path = tmp_path / "compiler.log"
    path.write_text(f"{text}\n{odd}\n{odd}\n")
    before, after = source_of("mlp.v6e", "compiler.log"), read_decision_source(path)
    assert after.unread == {"instruction_fusion.cc: Asking the oracle about": 2}
    assert len(after.decisions) == len(before.decisions)


LOOK = "I1129 10:00:00.000001   11 tpu_instruction_fusion.cc:1] Pre-considering\n"
LOOK += " producer=%a = f32[4] sine(%x)\n consumer=%b = f32[4] negate(%a)\n"


@pytest.mark.parametrize(
    "words",
    [
        "Dim collapsing bitcast is fused only in must_fuse mode.",
        "Cannot find window to lower for bitcast reduce fusion: Producer: a, Consumer: b",
        "Considering fusing a producer into a scatter",
    ],
)
def test_words_before_a_bare_refusal_are_its_words(words, tmp_path):
    head = "I1129 10:00:00.000001   11 tpu_instruction_fusion.cc:"
    path = tmp_path / "compiler.log"
    path.write_text(f"{LOOK}{head}2] {words}\n{head}3] Not allowed at: fusion.cc:2\n")
    (decision,) = read_decision_source(path).decisions
    assert decision.verdict is Verdict.REFUSED
    assert decision.reason_words == words


def test_a_message_that_its_line_cuts_short_is_counted(tmp_path):
    head = "I1129 10:00:00.000001   11 instruction_fusion.cc:653] Considering fusion of: %t = ("
    path = tmp_path / "compiler.log"
    path.write_text(f"{LOOK}{head}{'f32[4], ' * 2000}\n")
    source = read_decision_source(path)
    assert source.records["Considering fusion, cut short"] == 1
    assert source.unread == {}
    assert len(source.decisions) == 1


def test_an_unknown_caption_is_counted_and_not_lost():
    source = read_frames(["Pondering |a| with |b|", "Fused |a| into |f| inside X"], "f", "k")
    assert source.unread == {"Pondering": 1}
    assert (source.decisions[0].producer, source.decisions[0].consumer) == ("a", None)


def test_threads_of_the_compiler_do_not_mix():
    one, two = "I1129 10:00:00.000001   11 ", "I1129 10:00:00.000002   22 "
    lines = [
        one + "instruction_fusion.cc:1] Evaluating fusion: producer 'a' into consumer 'b'.",
        two + "instruction_fusion.cc:1] Evaluating fusion: producer 'c' into consumer 'd'.",
        one + "tpu_instruction_fusion.cc:2] Not allowed at: x.cc:7",
        two + "tpu_instruction_fusion.cc:2] Not allowed at: x.cc:8",
    ]
    from hlo_widgets.analysis.decisions.tpu_log import read_compiler_log

    found = read_compiler_log("\n".join(lines), "log").decisions
    assert [(d.producer, d.reason[-4:]) for d in found] == [("a", "cc:7"), ("c", "cc:8")]


def test_a_folder_is_read_as_a_whole_and_what_two_files_say_is_there_once():
    log = decisions_of("mlp.h100")
    assert [s.kind for s in log.sources] == [
        "GPU priority fusion dump",
        "fusion visualisation page",
    ]
    assert log.repeated == 30
    assert log.by_verdict[Verdict.FUSED] == 30
    assert log.by_reason["will execute slower if fused"] == 1
    assert sum(log.by_exactness.values()) == len(log) == 160


def test_two_alike_records_of_one_source_are_two():
    twice = FusionDecision("a", "b", Verdict.REFUSED, "no", consumers=("b",))
    source = DecisionSource("s", "k", (twice, twice))
    assert len(merge_sources([source])) == 2
    merged = merge_sources([source, source])
    assert (len(merged), merged.repeated) == (2, 2)


def test_the_public_names_read_the_same():
    log = hw.read_decisions(dump_folder("row_softmax.v6e"))
    assert isinstance(log, hw.DecisionLog)
    assert isinstance(log.decisions[0], hw.FusionDecision)
    assert log.between("reduce_max.7", "fusion.1")
    assert set(log.between("reduce_max.7", "fusion.1")) <= set(log.about("fusion.1"))


@pytest.mark.parametrize("ending", ["priority_fusion_dump.txt", "_fusion.html"])
def test_a_compressed_file_reads_the_same(tmp_path, ending):
    import gzip
    import lzma

    path = file_of("layer_norm.h100", ending)
    for pack, suffix in ((gzip.compress, ".gz"), (lzma.compress, ".xz")):
        packed = tmp_path / (path.name + suffix)
        packed.write_bytes(pack(path.read_bytes()))
        read = read_decisions(packed).decisions
        assert [d.producer for d in read] == [
            d.producer for d in read_decision_source(path).decisions
        ]


def test_the_binary_form_reads_as_the_text_form(tmp_path):
    text = file_of("mlp.h100", "priority_fusion_dump.txt")
    path = tmp_path / "dump.pb"
    path.write_bytes(to_wire(text.read_text()))
    a, b = read_decision_source(text), read_decision_source(path)
    assert b.module_text == a.module_text
    assert a.records == b.records
    for left, right in zip(a.decisions, b.decisions, strict=True):
        assert (left.producer, left.consumers, left.reason) == (
            right.producer,
            right.consumers,
            right.reason,
        )
        if left.priority is None:
            assert right.priority is None
        else:
            assert left.priority == pytest.approx(right.priority, rel=1e-4, abs=1e-3)


def to_wire(text):
    """Encode the text form by the field numbers of FusionProcessDumpProto; times as floats."""
    import struct

    from hlo_widgets.analysis.decisions.messages import read_text_message

    numbers = {
        "fusion": (4, {"fusion_name": 1, "producer_name": 2, "consumer_name": 3}),
        "producer_ineligible": (5, {"producer_name": 1, "reason": 2}),
        "update_priority": (
            6,
            {"producer_name": 1, "consumer_names": 2, "us_fused": 3, "us_unfused": 4},
        ),
    }

    def varint(value):
        out = b""
        while value > 0x7F:
            out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
        return out + bytes([value])

    def sized(number, data):
        return varint(number << 3 | 2) + varint(len(data)) + data

    out = b""
    for name, value in read_text_message(text):
        if name == "hlo_module_before_fusion":
            out += sized(3, value.encode())
        if name != "fusion_steps":
            continue
        ((kind, fields),) = value
        number, names = numbers[kind]
        inner = b""
        for field, item in fields:
            if field.startswith("us_"):
                inner += varint(names[field] << 3 | 5) + struct.pack("<f", float(item))
            else:
                inner += sized(names[field], item.encode())
        out += sized(1, sized(number, inner))
    return out


def test_each_pair_that_was_taken_had_the_highest_priority_where_that_can_be_checked():
    checked = Counter()
    for name in ("mlp", "attention", "layer_norm", "train_step", "row_softmax"):
        source = source_of(f"{name}.h100", "priority_fusion_dump.txt")
        queue = QueueHistory(source.decisions)
        fused = (d for d in source.decisions if d.verdict is Verdict.FUSED)
        checked.update(queue.moment(decision).was_highest for decision in fused)
    assert checked[False] == 0
    assert checked[True] > 35


def test_the_order_of_a_queue_can_be_found_wrong():
    ranked = [
        FusionDecision(n, "x", Verdict.RANKED, step=i, consumers=("x",), priority=p)
        for i, (n, p) in enumerate((("a", 1.0), ("b", 2.0), ("c", -1.0)))
    ]
    taken = FusionDecision("a", "x", Verdict.FUSED, step=3, consumers=("x",), fusion_name="f")
    moment = QueueHistory([*ranked, taken]).moment(taken)
    assert moment.was_highest is False
    assert [(one.producer, one.priority) for one in moment.entries] == [("b", 2.0), ("a", 1.0)]


def test_a_place_in_the_queue_and_none_for_a_negative_priority():
    source = source_of("mlp.h100", "priority_fusion_dump.txt")
    first = next(d for d in source.decisions if d.verdict is Verdict.RANKED)
    place = queue_place(source.decisions, first)
    # 30 producers are ranked at a priority of 0 or more before the first is taken.
    assert (place.rank, place.length) == (1, 30)
    assert place.highest == (first.producer, first.priority)
    low = next(d for d in source.decisions if d.priority is not None and d.priority < 0)
    assert queue_place(source.decisions, low).rank is None


def test_frames_of_the_visualisation_are_those_of_its_json():
    import zipfile

    with zipfile.ZipFile(file_of("mlp.v6e", "_fusion.pyz")) as archive:
        frames = json.loads(archive.read("metadata.json"))["frames"]
    assert len(frames) == 97
