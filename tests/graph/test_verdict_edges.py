"""The decisions mode: what is on record about the kernels at the ends of each arrow."""

from __future__ import annotations

import html
import itertools
import re

import pytest

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict, join_decisions
from hlo_widgets.analysis.why import PairVerdicts, WhyKind
from hlo_widgets.drawing import lay_out, render_dot
from hlo_widgets.graph import GraphBuilder, ViewState, graph_to_dot
from hlo_widgets.graph.verdict_edges import MOST_APART, verdict_lines
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.dumps import decisions_of, module_of
from tests.graph.modules import chain, fan

DECISIONS = ViewState(show_decisions=True)


def picture(name, view=DECISIONS):
    module = module_of(name)
    verdicts = PairVerdicts(module, decisions_of(name))
    return GraphBuilder(module, None, verdicts).build(view)


def log_of(module, *decisions):
    return join_decisions(DecisionLog(decisions), module)


def refusal(producer, consumer, reason="Not fusing MOF", **more):
    return FusionDecision(
        producer, consumer, Verdict.REFUSED, reason, consumers=(consumer,), **more
    )


def test_every_arrow_between_kernels_on_record_has_its_verdict():
    told = {
        (edge.tail, edge.head): (edge.verdict.kind, edge.verdict.words, edge.verdict.mark)
        for edge in picture("mlp.h100").edges
        if edge.verdict is not None
    }
    blocked, unprofitable = WhyKind.BLOCKED, WhyKind.UNPROFITABLE
    priced = (unprofitable, "fused it takes 126.8 us longer", "compiler")
    kept = (blocked, "the producer is not fusible", "compiler")
    assert told["loop_multiply_fusion", "input_reduce_fusion"] == priced
    assert told["loop_multiply_fusion", "gemm_fusion_dot"] == priced
    assert told["gemm_fusion_dot", "fusion.13"] == kept
    in_memory = "The result of fusion.13 has to be in memory"
    assert told["fusion.13", "tuple.1.0"] == (blocked, in_memory, "inferred")
    assert ("x.1", "gemm_fusion_dot_general.2") not in told  # nothing is on record


def test_a_bare_place_in_the_source_is_no_reason():
    module = parse_hlo_module(chain(3))
    log = log_of(module, refusal("op.1", "op.2", "Not allowed at: a/b.cc:17"))
    first, second = (module.instruction(name) for name in ("op.1", "op.2"))
    verdict = PairVerdicts(module, log).of(first, second)
    assert (verdict.kind, verdict.words) == (WhyKind.NOT_KNOWN, "refused, no words given")
    assert PairVerdicts(module, log).of(module.instruction("op.0"), first) is None


def test_a_pair_with_hundreds_of_records_has_them_in_the_order_of_the_log(monkeypatch):
    module = parse_hlo_module(chain(3))
    # The same words twice: records that are equal are two all the same.
    log = log_of(module, *(refusal("op.1", "op.2", f"reason {n % 150}") for n in range(300)))
    compared = []
    same = FusionDecision.__eq__
    monkeypatch.setattr(FusionDecision, "__eq__", lambda a, b: compared.append(a) or same(a, b))
    first, second = (module.instruction(name) for name in ("op.1", "op.2"))
    verdict = PairVerdicts(module, log).of(first, second)
    assert [id(one) for one in verdict.decisions] == [id(one) for one in log.decisions]
    assert len(compared) < 300


def test_without_the_mode_nothing_of_the_picture_changes():
    module = module_of("mlp.v6e")
    plain = GraphBuilder(module).build(ViewState())
    knowing = picture("mlp.v6e", ViewState())
    assert knowing == plain
    assert graph_to_dot(knowing) == graph_to_dot(plain)
    decided = picture("mlp.v6e")
    assert [(e.tail, e.head, e.kind, e.label) for e in decided.edges] == [
        (e.tail, e.head, e.kind, e.label) for e in plain.edges
    ]


def test_arrows_into_an_opened_fusion_are_those_of_its_kernel():
    opened = picture("row_softmax.v6e", ViewState(expanded={"fusion"}, show_decisions=True))
    entering = [e for e in opened.edges if e.head.startswith("fusion/") and "/" not in e.tail]
    assert {edge.tail for edge in entering} == {"copy-done", "reduce_max.7", "fusion.1"}
    by_tail = {edge.tail: edge.verdict for edge in entering}
    assert by_tail["fusion.1"].consumer == "fusion"
    assert by_tail["fusion.1"].kind is WhyKind.STRUCTURAL
    assert by_tail["copy-done"] is None
    inside = [e for e in opened.edges if e.tail.startswith("fusion/")]
    assert inside
    assert all(edge.verdict is None for edge in inside)


def test_the_words_stand_once_a_pair():
    edges = [
        e for e in picture("attention.v6e").edges if (e.tail, e.head) == ("fusion.3", "fusion")
    ]
    assert len(edges) == 2
    assert all(edge.verdict is not None for edge in edges)
    assert [bool(edge.words) for edge in edges] == [True, False]


def test_siblings_that_no_arrow_joins_get_a_line_of_their_own():
    module = parse_hlo_module(fan(MOST_APART + 3))
    names = [op.name for op in module.entry_computation.root_instruction.operands]
    pairs = list(itertools.pairwise(names))
    log = log_of(module, *(refusal(a, b, "User is connected", siblings=True) for a, b in pairs))
    graph = GraphBuilder(module, None, PairVerdicts(module, log)).build(DECISIONS)
    apart = [(edge.tail, edge.head) for edge in graph.edges if edge.kind == "apart"]
    assert apart == pairs[:MOST_APART]
    assert graph.apart_left_out == len(pairs) - MOST_APART
    assert {edge.verdict.words for edge in graph.edges if edge.verdict} == {"User is connected"}
    layout = lay_out(graph)
    assert all(line.middle for e, line in zip(graph.edges, layout.edges, strict=True) if e.words)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_of_a_record_are_text_in_dot(theme):
    module = parse_hlo_module(chain(3))
    bad = '\\G <b>"; } evil [label=<x>] \\E </b>'
    log = log_of(module, refusal("op.1", "op.2", bad))
    graph = GraphBuilder(module, None, PairVerdicts(module, log)).build(DECISIONS)
    texts = re.findall("<text[^>]*>([^<]*)</text>", render_dot(graph_to_dot(graph, theme)))
    words = " ".join(html.unescape(" ".join(texts)).split())
    assert 'blocked: \\G <b>"; } evil [label=<x>] \\E </b>' in words


def test_words_are_cut_to_three_short_lines():
    module = parse_hlo_module(chain(3))
    log = log_of(module, refusal("op.1", "op.2", "never " * 4_000 + "x" * 9_000))
    verdict = PairVerdicts(module, log).of(*(module.instruction(f"op.{n}") for n in (1, 2)))
    lines = verdict_lines(verdict)
    assert len(lines) == 3
    assert all(len(line) <= 28 for line in lines)
    assert lines[-1].endswith("…")
