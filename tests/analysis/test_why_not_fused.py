"""Why two ops are not one kernel: kind and evidence, on programs that real compilers compiled."""

from __future__ import annotations

import pytest

import hlo_widgets as hw
from hlo_widgets import captures
from hlo_widgets.analysis.decisions import (
    DecisionJoin,
    DecisionLog,
    Exactness,
    FusionDecision,
    Verdict,
)
from hlo_widgets.analysis.why import why_not_fused
from hlo_widgets.analysis.why.quotes import final_words
from hlo_widgets.errors import HloLookupError
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import ask, decisions_of, dump_folder, module_of
from tests.analysis.why_cases import (
    BETWEEN,
    BY_WORDS,
    EXPENSIVE_ON_TPU,
    PRICED,
    PRICED_ON_TPU,
    SLOWER_ON_GPU,
    STRUCTURAL,
    check_price_on_tpu,
)


def texts(answer, mark):
    return [item.text for item in answer.evidence if item.mark == mark]


@pytest.fixture(scope="module")
def softmax():
    return captures.load("row_softmax", "v6e").module


# The softmax of the captures, by the graph alone.


@pytest.mark.parametrize(
    ("a", "b"), [("x.1", "fusion.1"), ("x", "fusion.1"), ("fusion.1", "x.1"), ("x.1", "exp.5")]
)
def test_the_input_and_the_sum_are_blocked_by_the_copy_into_vmem(softmax, a, b):
    answer = why_not_fused(softmax, a, b)
    assert answer.kind == "blocked"
    assert answer.blockers == ("copy-start", "copy-done")
    assert answer.connection == ("x.1", "copy-start", "copy-done", "fusion.1")
    assert texts(answer, "inferred") == [
        "copy-start/copy-done, an asynchronous copy from HBM into VMEM, S(1)"
    ]
    assert texts(answer, "compiler") == []


@pytest.mark.parametrize("half", ["copy-start", "copy-done"])
def test_the_copy_itself_is_blocked_as_a_pair(softmax, half):
    answer = why_not_fused(softmax, half, "fusion.1")
    assert answer.kind == "blocked"
    assert "copy-done" in answer.blockers
    assert "copy-start/copy-done, an asynchronous copy from HBM into VMEM, S(1)" in answer.headline


@pytest.mark.parametrize("b", ["fusion.1", "reduce.1"])
def test_the_maximum_and_the_sum_are_structural(softmax, b):
    answer = why_not_fused(softmax, "reduce_max.7", b)
    assert answer.kind == "structural"
    assert "One pass over the data cannot hold both" in answer.headline
    folds, spreads = texts(answer, "inferred")
    assert folds.startswith("reduce_max.7 folds 512 elements into each of its results (dimension 1")
    assert "its first element needs the last one that reduce_max.7 reads" in spreads
    assert "on chip" in answer.needed_fusion


def test_the_exponential_in_both_fusions_is_told_with_its_cost(softmax):
    answer = why_not_fused(softmax, "fusion.1", "fusion")
    (told,) = (item for item in answer.evidence if "is computed in" in item.text)
    assert told.mark == "inferred"
    assert told.instructions == ("exp.5", "exp.3")
    assert "524,288 evaluations more, instead of 4,194,304 bytes written and read" in told.text
    assert "fusion.1 6,212 cycles, fusion 8,740 cycles" in told.text


def test_two_ops_of_one_kernel_are_fused_already(softmax):
    answer = why_not_fused(softmax, "exp.5", "sub.8")
    assert (answer.kind, answer.producer) == ("fused already", "fusion.1")


def test_an_input_is_no_op_to_fuse(softmax):
    assert why_not_fused(softmax, "x.1", "reduce_max.7").kind == "structural"


@pytest.mark.parametrize(("name", "a", "b", "words"), STRUCTURAL)
@pytest.mark.parametrize("by_graph_alone", [True, False])
def test_structural(name, a, b, words, by_graph_alone):
    answer = ask(name, a, b, by_graph_alone=by_graph_alone)
    assert answer.kind == "structural"
    assert any(words in text for text in texts(answer, "inferred")), answer
    assert answer.needed_fusion
    assert answer.gain is None


@pytest.mark.parametrize(("name", "a", "b", "words"), BETWEEN)
@pytest.mark.parametrize("by_graph_alone", [True, False])
def test_blocked_by_what_stands_between(name, a, b, words, by_graph_alone):
    answer = ask(name, a, b, by_graph_alone=by_graph_alone)
    assert answer.kind == "blocked"
    assert answer.blockers
    assert words in texts(answer, "inferred")[0]
    assert words in answer.headline


@pytest.mark.parametrize(("name", "a", "b", "words"), BY_WORDS)
def test_blocked_in_the_compilers_words(name, a, b, words):
    answer = ask(name, a, b)
    assert answer.kind == "blocked"
    assert f"{words}”" in answer.headline
    first = answer.evidence[0]
    assert first.mark == "compiler"
    # Verbatim: the words stand in the record that the evidence points to.
    assert words in first.text
    assert words in "\n".join((first.decision.reason, *first.decision.remarks))


@pytest.mark.parametrize(("name", "a", "b", "words"), BY_WORDS)
def test_without_the_record_the_words_are_not_made_up(name, a, b, words):
    answer = ask(name, a, b, by_graph_alone=True)
    assert answer.kind == "not known"
    assert texts(answer, "compiler") == []
    assert "no compiler record was given" in answer.headline


@pytest.mark.parametrize(("name", "a", "b", "gain"), PRICED)
def test_unprofitable_by_the_compilers_price(name, a, b, gain):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    assert answer.unit == "us"
    assert answer.gain == pytest.approx(gain, abs=1e-3)
    assert answer.queue.rank is None
    first = answer.evidence[0]
    assert first.mark == "compiler"
    assert first.decision.unfused_cost - first.decision.fused_cost == answer.gain
    assert f"unfused {first.decision.unfused_cost:g} us" in first.text
    assert f"{-answer.gain:.6g} us longer" in answer.headline


@pytest.mark.parametrize(("name", "a", "b", "gain"), PRICED_ON_TPU)
def test_unprofitable_by_the_tpu_compilers_price(name, a, b, gain):
    check_price_on_tpu(ask(name, a, b), gain)


@pytest.mark.parametrize(("name", "a", "b"), SLOWER_ON_GPU)
def test_unprofitable_in_the_gpu_compilers_words(name, a, b):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    assert "will execute slower if fused" in answer.evidence[0].text


@pytest.mark.parametrize(("name", "a", "b"), EXPENSIVE_ON_TPU)
def test_unprofitable_in_the_tpu_compilers_words(name, a, b):
    answer = ask(name, a, b)
    assert answer.kind == "unprofitable"
    assert "“No fusing: producer is duplicated and expensive.”" in answer.headline
    first = answer.evidence[0]
    assert first.mark == "compiler"
    assert "No fusing: producer is duplicated and expensive." in first.decision.remarks
    assert answer.gain is None
    assert ask(name, a, b, by_graph_alone=True).kind != "unprofitable"


# What is not known, and what is asked for.


def test_a_refusal_that_names_only_a_place_is_no_cause():
    module = parse_hlo_module(
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  b = f32[4] sine(a)\n"
        "  ROOT c = f32[4] sort(b), dimensions={0}\n}\n"
    )
    record = FusionDecision(
        "b", "c", Verdict.REFUSED, "Not allowed at: x.cc:5572", consumers=("c",)
    )
    answer = why_not_fused(module, "b", "c", DecisionLog((record,)))
    assert answer.kind == "not known"
    assert "names only a place in its source" in answer.headline
    assert texts(answer, "compiler") == ["b into c: Not allowed at: x.cc:5572"]


def test_fused_already_quotes_the_fusions():
    answer = ask("mlp.v6e", "tanh.1", "add.16")
    assert answer.kind == "fused already"
    assert "fused fusion.3 into add.16, as fusion.4" in texts(answer, "compiler")


def test_an_earlier_name_is_followed_only_with_decisions():
    with pytest.raises(HloLookupError):
        ask("mlp.v6e", "tanh.1", "fusion.8", by_graph_alone=True)
    with pytest.raises(HloLookupError):
        ask("mlp.v6e", "nobody", "fusion.8")


def test_ops_in_a_loop_and_outside_run_in_different_computations():
    module = module_of("loop_between.v6e")
    loop = next(op for op in module.instructions() if op.opcode == "while")
    body = loop.called_by_attribute["body"][0]
    inside = body.root_instruction.operands[0]
    answer = why_not_fused(module, inside.name, "exp.1")
    assert answer.kind == "structural"
    where, instead = texts(answer, "inferred")
    assert f"{inside.name} in {body.name}, the body of {loop.name}" in where
    assert "no kernel reaches over both" in where
    assert instead.endswith(f"runs {loop.name}, which holds {inside.name}: ask about those")
    for pair in ((inside.name, loop.name), (loop.name, inside.name)):
        answer = why_not_fused(module, *pair)
        assert answer.headline == (
            f"{loop.name} is control flow (while) and runs {inside.name} inside: it is no kernel"
            " itself."
        )


def test_the_input_of_a_loops_body_is_not_called_an_input_of_the_program():
    module = module_of("loop_between.h100")
    loop = next(op for op in module.instructions() if op.opcode == "while")
    body = loop.called_by_attribute["body"][0]
    (parameter,) = body.parameters
    user = next(op for op in parameter.users[0].users if op.opcode == "fusion")
    answer = why_not_fused(module, parameter.name, user.name)
    assert f"what {body.name}, the body of {loop.name}, is called with" in answer.headline


def test_the_public_function_takes_paths_and_results():
    folder = dump_folder("row_softmax.v6e")
    answer = hw.why_not_fused(folder, "reduce_max.7", "fusion", folder)
    assert isinstance(answer, hw.Explanation)
    assert texts(answer, "compiler")
    result = captures.load("row_softmax", "v6e")
    assert hw.why_not_fused(result, "x.1", "fusion.1").kind == "blocked"
    log = hw.read_decisions(folder)
    assert isinstance(log, DecisionLog)
    assert hw.why_not_fused(result, "reduce_max.7", "fusion", log).kind == "structural"


def test_the_answer_as_text_marks_each_piece_of_evidence():
    text = str(ask("mlp.h100", "loop_multiply_fusion", "input_reduce_fusion"))
    assert text.startswith("loop_multiply_fusion and input_reduce_fusion: unprofitable. ")
    assert "\n  [compiler] fusion.10 (now in loop_multiply_fusion) into " in text
    assert "\n  This is from the compiler's record.\n" in text
    # The words of a refusal are among the prices of the pair, of which there is one a look.
    assert "fusion.15 (now in input_reduce_fusion): will execute slower if fused" in text
    assert "into bitcast.1.0, fusion.15 (now in input_reduce_fusion): unfused" in text
    assert repr(ask("mlp.h100", "loop_multiply_fusion", "input_reduce_fusion")) == text
    inferred = str(ask("row_softmax.v6e", "reduce_max.7", "fusion.1"))
    assert "\n  This is inferred from the graph, not the compiler's words.\n" in inferred
    assert "\n  The compiler refused it, too: “Fusion rejected: producer 'reduce_max.7'" in inferred
    assert "\n  [ours] to duplicate: to compute an op again" in inferred


@pytest.mark.parametrize(
    ("names", "final", "exactness", "words"),
    [
        ("a", "a", "exact", ""),
        ("a", "b", "exact", "now in b"),
        ("a", "b", "inexact", "now in b, joined inexactly"),
        ("a", "b", "not joined", "now in b"),
        ("a", "", "not joined", "not found in the final module"),
        ("a", "a b", "exact", "now in a, b"),
        ("a", "b c d e f", "exact", "now in b, c, d and 2 more"),
        ("a b", "a c", "exact", "now in c"),
        ("a b", "b a", "exact", ""),
        ("a b", "a", "not joined", ""),
    ],
)
def test_where_names_of_a_record_are_now(names, final, exactness, words):
    names, final = tuple(names.split()), tuple(final.split())
    assert final_words(names, DecisionJoin(Exactness(exactness), final), final) == words
    assert final_words(names, None, ()) == ""


@pytest.mark.parametrize(
    ("name", "a", "b", "mark", "refusal"),
    [
        ("row_softmax.v6e", "fusion.1", "fusion", "inferred", "No fusing: Should not fuse with"),
        ("row_softmax.v6e", "x.1", "fusion", "inferred", "is not fusible"),
        ("mlp.v6e", "fusion.8", "fusion.10", "compiler", ""),
        ("mlp.h100", "loop_multiply_fusion", "input_reduce_fusion", "compiler", ""),
        ("two_sums.v6e", "sine_reduce_fusion", "cosine_reduce_fusion", "inferred", ""),
        ("mlp.v6e", "tanh.1", "add.16", "inferred", ""),
    ],
)
def test_whose_the_answer_is_and_what_the_compiler_said_against_an_inferred_one(
    name, a, b, mark, refusal
):
    answer = ask(name, a, b)
    assert answer.mark == mark
    assert "; ".join(answer.refusal).startswith(refusal)
    assert bool(answer.refusal) == bool(refusal)
    # An answer in the compiler's words quotes them verbatim.
    told = "\n".join(item.text for item in answer.evidence)
    assert all(words in told for words in (*answer.says, *answer.refusal))
    assert bool(answer.says) <= (mark == "compiler")


def test_an_answer_that_nobody_knows_is_marked_as_that():
    answer = ask("mlp.v6e", "fusion.8", "fusion.10", by_graph_alone=True)
    assert (answer.kind, answer.mark, answer.says, answer.refusal) == ("not known",) * 2 + ((),) * 2


def test_records_that_say_the_same_from_other_places_are_one_piece_of_evidence():
    answer = ask("row_softmax.v6e", "reduce_max.7", "fusion.1")
    told = [item for item in answer.evidence if item.mark == "compiler"]
    assert len({str(item).partition("\n")[0] for item in told}) == len(told)
    first = told[0]
    assert len(first.records) == 6
    assert "tpu_instruction_fusion.cc" in first.text
    words, _, places = str(first).partition("\n")
    assert ".cc:" not in words
    assert places.strip().startswith("6 records; in its source: tpu_instruction_fusion.cc:")


# Names that are no pair of kernels.


def test_one_op_twice_is_answered_with_what_to_do(softmax):
    for name in ("fusion.1", "x.1", "exp.5"):
        answer = why_not_fused(softmax, name, f"%{name}")
        assert answer.kind == "fused already"
        assert answer.headline == f"{name} is one op: name another one to ask about the two."


def test_the_halves_of_an_asynchronous_op_are_one_op(softmax):
    for pair in (("copy-start", "copy-done"), ("copy-done", "copy-start")):
        answer = why_not_fused(softmax, *pair)
        assert answer.kind == "fused already"
        assert answer.headline.startswith("They are one op, copy-start, in 2 parts")


@pytest.mark.parametrize(
    ("a", "note"),
    [
        ("exp.5", "exp.5 is an op inside of the kernel fusion.1."),
        ("constant.5", "constant.5 is an op inside of the kernel fusion.1."),
        ("param_0.9", "param_0.9 is what the body of fusion.1 calls its operand copy-done."),
        ("x", "x is the argument x.1."),
    ],
)
def test_it_is_said_what_a_name_stands_for_that_is_no_kernels_own(softmax, a, note):
    answer = why_not_fused(softmax, a, "reduce_max.7")
    assert answer.notes == (note,)
    assert f"\n  {note}\n" in str(answer)
    assert why_not_fused(softmax, "fusion.1", "reduce_max.7").notes == ()


def test_an_earlier_name_is_told_with_where_it_is_now():
    (note,) = ask("mlp.v6e", "tanh.1", "fusion.8").notes
    assert note.startswith("tanh.1 is an earlier name, now in ")


def test_a_part_of_a_kernel_and_that_kernel(softmax):
    answer = why_not_fused(softmax, "fusion.1", "exp.5")
    assert texts(answer, "inferred") == ["exp.5 is a part of what fusion.1 runs"]


def test_an_instruction_can_be_given_for_its_name(softmax):
    answer = why_not_fused(softmax, softmax.instruction("reduce_max.7"), "fusion.1")
    assert answer.kind == "structural"


@pytest.mark.parametrize("wrong", ["", "  ", None, 7])
def test_what_is_no_name_is_told(softmax, wrong):
    with pytest.raises(HloLookupError, match="Give the name of an op as text"):
        why_not_fused(softmax, wrong, "fusion.1")


def test_a_name_that_nothing_has_brings_what_is_known_of_it(softmax):
    with pytest.raises(HloLookupError, match=r"It is a computation: name .* its root 'fusion'"):
        why_not_fused(softmax, softmax.entry_computation.name, "fusion.1")
    with pytest.raises(HloLookupError, match=r"Did you mean 'fusion\.1'"):
        why_not_fused(softmax, "fusio.1", "fusion")
    with pytest.raises(HloLookupError, match=r"`hw\.cost_table` lists the ops that do work"):
        hw.why_not_fused(softmax, "nobody", "fusion")
    lost = FusionDecision("gone", "c", Verdict.REFUSED, "no", consumers=("c",))
    with pytest.raises(
        HloLookupError, match="The compiler wrote 1 record about it, and nothing tells"
    ):
        why_not_fused(softmax, "gone", "fusion", DecisionLog((lost,)))


def test_inputs_and_constants_are_no_ops_to_fuse():
    module = parse_hlo_module(
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  k = f32[4] constant({1,2,3,4})\n"
        "  b = f32[4] sine(a)\n  ROOT c = f32[4] cosine(k)\n}\n"
    )
    for a, b, what in [("a", "c", "a is an input"), ("k", "c", "k is a const"), ("k", "b", "k is")]:
        answer = why_not_fused(module, a, b)
        assert answer.kind == "structural"
        assert answer.headline.startswith(f"There is no op to fuse: {what}")
        assert answer.needed_fusion is None


def test_a_result_that_the_consumer_does_not_spread_does_not_count():
    # The reduction is one result of the fusion, and what is spread is the other.
    text = """HloModule m
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
%two (p: f32[8,4], q: f32[8]) -> (f32[8], f32[8]) {
  %p = f32[8,4] parameter(0)
  %q = f32[8] parameter(1)
  %zero = f32[] constant(0)
  %r = f32[8] reduce(%p, %zero), dimensions={1}, to_apply=%add
  %n = f32[8] negate(%q)
  ROOT %t = (f32[8], f32[8]) tuple(%r, %n)
}
%spread (p: f32[8]) -> f32[8,4] {
  %p = f32[8] parameter(0)
  %c = f32[8,4] broadcast(%p), dimensions={0}
  ROOT %e = f32[8,4] exponential(%c)
}
ENTRY %e (x: f32[8,4], y: f32[8]) -> f32[8,4] {
  %x = f32[8,4] parameter(0)
  %y = f32[8] parameter(1)
  %one = (f32[8], f32[8]) fusion(%x, %y), kind=kLoop, calls=%two
  %g = f32[8] get-tuple-element(%one), index=INDEX
  ROOT %other = f32[8,4] fusion(%g), kind=kLoop, calls=%spread
}
"""
    kinds = [
        why_not_fused(parse_hlo_module(text.replace("INDEX", index)), "one", "other").kind
        for index in "01"
    ]
    assert kinds == ["structural", "not known"]


def test_decisions_that_were_never_joined_are_joined_with_the_module():
    log = decisions_of("mlp.h100")
    assert (
        why_not_fused(module_of("mlp.h100"), "gemm_fusion_dot", "fusion.13", log).kind == "blocked"
    )


def test_a_price_of_all_readers_together_is_not_told_as_that_of_one():
    module = parse_hlo_module(
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  b = f32[4] sine(a)\n"
        "  c = f32[4] cosine(b)\n  d = f32[4] tan(b)\n  ROOT e = f32[4] add(c, d)\n}\n"
    )
    price = {"unfused_cost": 2.0, "fused_cost": 5.0, "cost_unit": "us", "priority": -3.0}
    both = FusionDecision("b", None, Verdict.RANKED, consumers=("c", "d"), **price)
    answer = why_not_fused(module, "b", "c", DecisionLog((both,)))
    assert answer.kind == "unprofitable"
    assert "into 2 ops that read it" in answer.headline
    assert "b and c alone have no price" in answer.headline
    one = FusionDecision("b", "c", Verdict.RANKED, consumers=("c",), **price)
    assert "2 ops" not in why_not_fused(module, "b", "c", DecisionLog((one,))).headline
