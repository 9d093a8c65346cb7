"""What is drawn: boxes, frames and arrows of a view."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hlo_widgets import captures
from hlo_widgets.errors import HloLookupError
from hlo_widgets.graph import GraphBuilder, ViewState, build_graph
from hlo_widgets.hlo import parse_hlo_module
from tests.graph.modules import BRANCHES, LOOP, chain, fan

CAPTURES = Path(__file__).parents[2] / "captures"


def graph_of(text, *expanded, **options):
    view = ViewState(expanded=frozenset(expanded), **options)
    return build_graph(parse_hlo_module(text), view)


def arrows(graph, kind="data"):
    return {(edge.tail, edge.head) for edge in graph.edges if edge.kind == kind}


def ids(nodes):
    return {node.id for node in nodes}


@pytest.fixture(scope="module")
def softmax():
    return (CAPTURES / "row_softmax.v6e.hlo.txt").read_text()


def test_softmax_is_three_work_boxes_a_copy_and_a_parameter(softmax):
    graph = graph_of(softmax)
    styles = sorted(node.style for node in graph.nodes)
    assert styles == ["kLoop", "kLoop", "movement", "parameter", "reduction"]
    copy = next(node for node in graph.nodes if node.style == "movement")
    assert copy.members == ("copy-start", "copy-done")
    assert "copy HBM -> VMEM" in copy.lines


def test_an_opened_fusion_shows_its_whole_body_and_joins_parameters_to_operands(softmax):
    module = parse_hlo_module(softmax)
    fusion = module.instruction("fusion.1")
    graph = graph_of(softmax, "fusion.1")
    (frame,) = graph.clusters
    assert frame.id == "fusion.1"
    assert ids(frame.nodes) == {
        f"fusion.1/{inner.name}" for inner in fusion.called_computations[0].instructions
    }
    assert [node.instruction.opcode for node in frame.nodes if node.is_root] == ["reduce"]
    parameters = fusion.called_computations[0].parameters
    assert arrows(graph, "binding") == {
        (operand.name, f"fusion.1/{parameter.name}")
        for operand, parameter in zip(fusion.operands, parameters, strict=True)
    }


def test_the_body_follows_calls_when_the_numbers_are_swapped(softmax):
    bodies = {
        "fused_computation.1": "fused_computation.2",
        "fused_computation.2": "fused_computation.1",
    }
    swapped = re.sub(r"fused_computation\.[12]\b", lambda found: bodies[found[0]], softmax)
    assert swapped != softmax
    before, after = graph_of(softmax, "fusion.1"), graph_of(swapped, "fusion.1")
    assert ids(after.clusters[0].nodes) == ids(before.clusters[0].nodes)
    assert arrows(after, "binding") == arrows(before, "binding")


def test_plumbing_is_folded_into_arrows():
    graph = graph_of(LOOP)
    assert ids(graph.nodes) == {"start", "y", "loop", "total"}
    assert arrows(graph) == {("start", "loop"), ("y", "loop"), ("loop", "total")}
    (out,) = (edge for edge in graph.edges if edge.head == "total")
    assert (out.element, out.via) == ("1", ("bitcast",))


def test_plumbing_is_drawn_when_asked_for():
    graph = graph_of(LOOP, show_plumbing=True)
    assert ids(graph.nodes) == {"start", "y", "init", "loop", "last", "cast", "zero", "total"}


def test_a_loop_opens_its_body_and_condition_with_each_value_joined():
    graph = graph_of(LOOP, "loop")
    (frame,) = graph.clusters
    assert {inner.id for inner in frame.clusters} == {"loop/:body", "loop/:condition"}
    assert arrows(graph, "binding") == {
        ("start", "loop/:body/i"),
        ("start", "loop/:condition/i.1"),
        ("y", "loop/:body/x"),
    }
    assert ("loop/:body/out", "total") in arrows(graph)
    assert ("loop/:condition/again", "total") not in arrows(graph)


def test_a_conditional_opens_its_branches_with_the_operand_of_each():
    graph = graph_of(BRANCHES, "pick")
    assert arrows(graph, "binding") == {("u", "pick/:left/l"), ("v", "pick/:right/r")}


def test_the_predicate_of_an_open_conditional_enters_its_frame():
    assert arrows(graph_of(BRANCHES, "pick")) == {
        ("p", "pick"),
        ("pick/:left/l", "pick/:left/up"),
        ("pick/:right/r", "pick/:right/down"),
    }


def test_one_computation_as_both_branches_is_drawn_for_each():
    graph = graph_of(BRANCHES.replace("=%right", "=%left"), "pick")
    assert arrows(graph, "binding") == {("u", "pick/l"), ("v", "pick/l~2")}


def test_a_trivial_reducer_is_written_into_its_user():
    total = next(node for node in graph_of(LOOP).nodes if node.id == "total")
    assert "reduce add" in total.lines
    assert not total.expandable


def test_a_view_keeps_its_node_limit_and_says_what_it_left_out():
    graph = graph_of(chain(400), node_limit=100)
    assert sum(node.style != "note" for node in graph.nodes) == 50
    assert graph.left_out == 350
    assert graph.focus == "op.399"
    (note,) = (node for node in graph.nodes if node.style == "note")
    assert note.leads_to == "op.349"


@pytest.mark.parametrize(
    ("name", "target", "start"),
    [
        ("mlp", "v6e", "fusion.11"),  # the most cycles
        ("mlp", "h100", "gemm_fusion_dot"),
        ("scan", "v6e", "while.2"),  # those of its body count
        ("mlp", "cpu", "convert_multiply_fusion"),  # no figures: the most bytes
    ],
)
def test_a_picture_starts_on_what_takes_the_most_time(name, target, start):
    assert build_graph(captures.load(name, target).module).start == start


def test_of_equals_a_picture_starts_on_the_one_nearest_to_the_result():
    assert graph_of(chain(9)).start == "op.8"
    assert graph_of(fan(5)).start == "n.4"


def test_where_nothing_works_a_picture_starts_on_the_root():
    text = (
        "HloModule id\n\nENTRY %main (p: f32[4]) -> f32[4] {\n  ROOT %p = f32[4] parameter(0)\n}\n"
    )
    assert graph_of(text).start == "p"


def test_a_picture_starts_on_what_it_is_built_around():
    assert graph_of(chain(400), node_limit=42, focus="op.100").start == "op.100"


def test_a_limited_view_is_built_around_its_focus():
    graph = graph_of(chain(400), node_limit=42, focus="op.100")
    drawn = {node.id for node in graph.nodes if node.style != "note"}
    assert drawn == {f"op.{number}" for number in range(90, 111)}


def test_a_busy_parameter_is_drawn_beside_each_user():
    graph = graph_of(fan(9))
    assert {f"p@n.{number}" for number in range(9)} <= ids(graph.nodes)
    assert "p" not in ids(graph.nodes)
    assert "p" in ids(graph_of(fan(5)).nodes)


def test_an_unknown_computation_is_named_in_the_error():
    with pytest.raises(HloLookupError, match="mian"):
        graph_of(LOOP, computation="mian")


def test_any_computation_can_be_drawn_alone():
    assert ids(graph_of(LOOP, computation="body").nodes) >= {"next", "twice", "out"}


def test_closing_closes_what_is_open_inside():
    view = ViewState(expanded=frozenset({"loop", "loop/fusion", "loop.1"}))
    assert view.toggled("loop").expanded == {"loop.1"}
    assert view.toggled("x").expanded == {"loop", "loop/fusion", "loop.1", "x"}


@pytest.mark.parametrize("options", [{"color_by": "size"}, {"node_limit": 0}])
def test_a_view_with_impossible_options_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ViewState(**options)


def test_names_that_repeat_in_damaged_text_keep_boxes_of_their_own():
    text = LOOP.replace(
        "%y = f32[8] parameter(1)", "%y = f32[8] parameter(1)\n  %y = f32[8] negate(%y)"
    )
    drawn = [node.id for node in graph_of(text).nodes]
    assert len(drawn) == len(set(drawn))


def test_colours_by_cycles_say_where_there_is_no_figure(softmax):
    graph = graph_of(softmax, color_by="cycles")
    shares = {node.instruction.name: node.fill_share for node in graph.nodes}
    assert shares["fusion"] == 1.0
    assert shares["copy-done"] is None
    assert [entry.fill_share for entry in graph.legend] == [0.0, 0.2, 0.4, 0.6, 0.8, None]


def test_colours_by_memory(softmax):
    graph = graph_of(softmax, color_by="memory")
    styles = {node.instruction.name: node.style for node in graph.nodes}
    assert styles["copy-done"] == "vmem"
    assert styles["fusion"] == "hbm"


def test_a_builder_gives_the_same_picture_twice(softmax):
    builder = GraphBuilder(parse_hlo_module(softmax))
    first = builder.build(ViewState())
    assert builder.build(ViewState()) == first


def test_a_send_and_its_end_are_one_box_and_an_update_belongs_to_its_pair():
    text = """HloModule pairs

%wrapped (w: f32[4]) -> f32[4] {
  %w = f32[4] parameter(0)
  ROOT %r = f32[4] negate(%w)
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %token = token[] after-all()
  %send = (f32[4], u32[], token[]) send(%p, %token), channel_id=1
  %sent = token[] send-done(%send), channel_id=1
  %start = ((f32[4]), f32[4], u32[]) async-start(%p), calls=%wrapped
  %update = ((f32[4]), f32[4], u32[]) async-update(%start)
  ROOT %done = f32[4] async-done(%update)
}
"""
    graph = graph_of(text)
    assert {node.members for node in graph.nodes} == {
        ("p",),
        ("send", "sent"),
        ("start", "update", "done"),
    }
    opened = graph_of(text, "done")
    assert arrows(opened, "binding") == {("p", "done/w")}


def test_a_fusion_without_operands_opens_to_its_body_alone():
    text = """HloModule zero

%body () -> f32[4] {
  %one = f32[] constant(1)
  ROOT %ones = f32[4] broadcast(%one), dimensions={}
}

ENTRY %main () -> f32[4] {
  %z = f32[4] fusion(), kind=kLoop, calls=%body
  ROOT %n = f32[4] negate(%z)
}
"""
    graph = graph_of(text, "z")
    assert ids(graph.clusters[0].nodes) == {"z/one", "z/ones"}
    assert ("z/ones", "n") in arrows(graph)


def test_a_parameter_that_reads_a_scalar_constant_says_its_value():
    text = """HloModule scale

%body (a: f32[4], b: f32[]) -> f32[4] {
  %a = f32[4] parameter(0)
  %b = f32[] parameter(1)
  %c = f32[4] broadcast(%b), dimensions={}
  ROOT %d = f32[4] multiply(%a, %c)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  %three = f32[] constant(3)
  ROOT %f = f32[4] fusion(%x, %three), kind=kLoop, calls=%body
}
"""
    lines = {node.id: node.lines for node in graph_of(text, "f").clusters[0].nodes}
    assert lines["f/b"][-1] == "= 3"
    assert "= 3" not in lines["f/a"]


def nested(outside, inside):
    """Return a loop of `inside` ops, one of them a fusion, among `outside` ops."""
    body = "\n".join(f"  %v.{n} = f32[4] negate(%v.{n - 1})" for n in range(1, inside))
    outer = "\n".join(f"  %o.{n} = f32[4] negate(%o.{n - 1})" for n in range(1, outside))
    return f"""HloModule nested

%fused (q: f32[4]) -> f32[4] {{
  %q = f32[4] parameter(0)
  %q1 = f32[4] exponential(%q)
  ROOT %q2 = f32[4] negate(%q1)
}}

%step (s: f32[4]) -> f32[4] {{
  %s = f32[4] parameter(0)
  %v.0 = f32[4] fusion(%s), kind=kLoop, calls=%fused
{body}
  ROOT %last = f32[4] tanh(%v.{inside - 1})
}}

%test (t: f32[4]) -> pred[] {{
  %t = f32[4] parameter(0)
  ROOT %yes = pred[] constant(true)
}}

ENTRY %main (p: f32[4]) -> f32[4] {{
  %o.0 = f32[4] parameter(0)
{outer}
  ROOT %loop = f32[4] while(%o.{outside - 1}), condition=%test, body=%step
}}
"""


def test_an_op_far_from_the_root_of_a_large_body_is_reached_by_focus():
    text = nested(10, 400)
    assert "loop/:step/v.5" not in ids(graph_of(text, "loop", node_limit=100).all_nodes())
    there = graph_of(text, "loop", node_limit=100, focus="loop/:step/v.5")
    assert {"loop/:step/v.5", "loop/:step/v.6"} <= ids(there.all_nodes())
    (step,) = (frame for frame in there.all_clusters() if frame.id == "loop/:step")
    assert re.fullmatch(r"\d+ of 402 ops shown", step.lines[-1])
    notes = [node for node in there.all_nodes() if node.style == "note"]
    assert all(note.leads_to.startswith("loop/:step/") for note in notes)


def test_a_fusion_opened_in_an_open_loop_has_room():
    graph = graph_of(nested(100, 100), "loop", "loop/:step/v.0", node_limit=100)
    inside = [i for i in ids(graph.all_nodes()) if i.startswith("loop/:step/v.0/")]
    assert len(inside) == 3


@pytest.mark.parametrize("users", [9, 60, 150, 190])
def test_copies_of_a_busy_parameter_count_for_the_limit(users):
    assert sum(1 for _ in graph_of(fan(users), node_limit=200).all_nodes()) <= 200


def test_what_waits_for_a_start_does_not_wait_for_its_end():
    text = """HloModule overlap

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %cs = (f32[4]{0:S(1)}, f32[4], u32[]) copy-start(%p)
  %n = f32[4] negate(%p), control-predecessors={%cs}
  %cd = f32[4]{0:S(1)} copy-done(%cs), control-predecessors={%n}
  ROOT %a = f32[4] add(%n, %cd)
}
"""
    assert arrows(graph_of(text), "control") == {("n", "cd")}


def test_a_memory_space_is_named_for_its_platform():
    text = LOOP.replace("%cast = f32[8] bitcast", "%cast = f32[8]{0:S(1)} negate")
    module = parse_hlo_module(text)
    view = ViewState(color_by="memory")
    styles = {
        platform: next(n.style for n in build_graph(module, view, platform).nodes if n.id == "cast")
        for platform in ("tpu", "gpu")
    }
    assert styles == {"tpu": "vmem", "gpu": "other_memory"}


def test_an_index_of_absurd_size_is_no_error():
    text = LOOP.replace("(%loop), index=1", f"(%loop), index={'9' * 5000}")
    assert {"loop", "total"} <= ids(graph_of(text).nodes)


def test_an_element_of_several_outputs_is_written_at_its_arrow():
    elements = {(edge.tail, edge.element) for edge in graph_of(LOOP).edges}
    assert elements == {("start", ""), ("y", ""), ("loop", "1")}
