"""Collectives have a look and words of their own."""

from __future__ import annotations

from itertools import combinations

from hlo_widgets.graph import ViewState, build_graph
from hlo_widgets.graph.style import STYLES
from hlo_widgets.hlo import parse_hlo_module
from tests.analysis.test_collectives import FUSED, PAIR


def nodes(text, **view):
    graph = build_graph(parse_hlo_module(text), ViewState(**view))
    return {node.id: node for node in graph.all_nodes()}, graph


def test_the_box_of_a_pair_says_who_takes_part_and_what_reaches_each_device():
    boxes, graph = nodes(PAIR)
    assert boxes["a-done"].style == boxes["b-done"].style == "collective"
    assert boxes["a-done"].lines == (
        "a-done",
        "all-gather (start to done)",
        "f32[4000]",
        "2 groups of 4 devices",
        "11.72 KiB into each device",
    )
    # The opcode of the pair does not say it here.
    assert boxes["b-done"].lines[-2:] == ("2 groups of 4 devices", "2.93 KiB into each device")
    legend = {entry.style: entry.label for entry in graph.legend}
    assert legend["collective"] == "collective: devices exchange data"


def test_a_fusion_says_which_collective_runs_inside():
    boxes, _ = nodes(FUSED)
    lines = {name: boxes[name].lines for name in ("scatter", "first", "between", "last")}
    assert {boxes[name].style for name in lines} == {"collective_fusion"}
    assert "all-reduce-scatter: 2 groups of 4 devices" in lines["scatter"]
    assert "all-gather starts: 2 groups of 4 devices" in lines["first"]
    assert lines["between"][-1] == "all-gather goes on"
    assert lines["last"][-1] == "all-gather ends"
    inside, graph = nodes(FUSED, expanded=frozenset({"scatter"}))
    assert inside["scatter/r"].style == "collective"
    assert "all-reduce-scatter: 2 groups of 4 devices" in graph.clusters[0].lines


def test_sends_and_receives_are_another_class():
    boxes, _ = nodes("""HloModule m

ENTRY %main (p: f32[4], t: token[]) -> token[] {
  %p = f32[4] parameter(0)
  %t = token[] parameter(1)
  %s = (f32[4], u32[], token[]) send(%p, %t), channel_id=1
  ROOT %d = token[] send-done(%s), channel_id=1
}
""")
    assert boxes["d"].style == "transfer"


def test_no_two_classes_of_ops_have_one_colour():
    # The colours of other modes repeat those of the kinds: the two are never in one picture.
    of_ops = list(STYLES)[: list(STYLES).index("missing")]
    for one, other in combinations(of_ops, 2):
        for theme in ("light", "dark"):
            fills = getattr(STYLES[one], theme)[0], getattr(STYLES[other], theme)[0]
            assert fills[0] != fills[1], (one, other, theme)
