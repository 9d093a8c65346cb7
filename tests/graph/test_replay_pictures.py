"""Pictures of the moments of a replay: what is drawn, and that boxes keep their places."""

from __future__ import annotations

import dataclasses
import itertools
import re

import pytest

from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from hlo_widgets.drawing import lay_out
from hlo_widgets.graph.replay import ReplayPictures
from hlo_widgets.widgets.replay.layout import moment_layout
from tests.analysis.dumps import DATA, decisions_of

# Each third one: TPU and GPU, loops and branches are among them.
DUMPS = sorted(path.name.removesuffix(".tar.xz") for path in DATA.glob("*.tar.xz"))[::3]


def pictures_of(name, **options):
    replay = replay_decisions(decisions_of(name))
    return replay, ReplayPictures(replay, replay.module, **options)


def moments(name, **options):
    """Yield each picture of a replay with its layout, and the key of the layout's region."""
    replay, pictures = pictures_of(name, **options)
    bases = {}
    for number in range(len(replay.steps) + 1):
        region = pictures.region(number)
        if region.key not in bases:
            base = pictures.base(region)
            bases[region.key] = (base, lay_out(base))
        graph = pictures.build(number)
        yield number, region, graph, moment_layout(graph, *bases[region.key])


@pytest.mark.parametrize("name", DUMPS)
def test_every_picture_has_a_box_for_each_kernel_and_arrows_between_boxes(name):
    replay, _ = pictures_of(name)
    for number, region, graph, layout in moments(name):
        ids = [node.id for node in graph.nodes]
        assert len(ids) == len(set(ids))
        assert set(ids) == set(layout.boxes)
        names = {node.kernel.name for node in graph.nodes}
        kernels = replay.kernels(number).values()
        formed = {k.name for k in kernels if k.op is None and k.computation is region.computation}
        assert formed <= names
        assert all({edge.tail, edge.head} <= set(ids) for edge in graph.edges)
        assert all(edge.tail != edge.head for edge in graph.edges)


@pytest.mark.parametrize("name", DUMPS)
def test_what_is_fused_in_a_step_is_lit_and_nothing_else(name):
    replay, pictures = pictures_of(name)
    for step in replay.steps:
        graph = pictures.build(step.number)
        lit = {node.kernel.name for node in graph.nodes if node.style == "joined"}
        if step.made is not None:
            # Where one alone becomes a kernel, that stands in its place.
            drawn = (step.producer, step.made)[len(step.made.parts) == 1 :]
            known = {k.name for k in drawn if k is not None}
            assert lit == known
            assert [edge.kind for edge in graph.edges].count("joined") == len(known) - 1
        else:
            assert bool(lit) == bool(step.merged)


@pytest.mark.parametrize("name", ["mlp.h100", "mlp.v6e", "train_step.v6e", "factor_between.v6e"])
def test_boxes_never_change_their_order_across_or_down(name):
    last = {}
    for _, region, _, layout in moments(name):
        boxes = layout.boxes
        key, before = last.get("key"), last.get("boxes")
        if key == region.key:
            common = sorted(set(boxes) & set(before))
            for one, other in itertools.combinations(common, 2):
                for was, now in ((before, boxes), (boxes, before)):
                    assert not (was[one].x < was[other].x and now[one].x > now[other].x)
                    assert not (was[one].y < was[other].y and now[one].y > now[other].y)
        last = {"key": region.key, "boxes": boxes}


@pytest.mark.parametrize("name", ["mlp.h100", "train_step.h100"])
def test_no_boxes_lie_on_one_another(name):
    for _, _, _, layout in moments(name):
        for one, other in itertools.combinations(layout.boxes.values(), 2):
            apart = (
                one.x + one.width <= other.x + 0.1
                or other.x + other.width <= one.x + 0.1
                or one.y + one.height <= other.y + 0.1
                or other.y + other.height <= one.y + 0.1
            )
            assert apart


def test_before_the_first_step_nothing_is_formed_and_at_the_end_the_fusions_of_the_module():
    replay, pictures = pictures_of("mlp.v6e")
    first = pictures.build(0)
    assert {node.style for node in first.nodes} & {"formed", "joined"} == set()
    last = pictures.build(len(replay.steps))
    formed = {node.kernel.name for node in last.nodes if node.kernel.op is None}
    final = {name for name, kernel in replay.final.items() if kernel.op is None}
    # The last step of this program is one more constant: the fusion that took it in is lit.
    assert formed == final
    sizes = {node.lines[0]: node.lines[1] for node in last.nodes}
    assert sizes["fusion.11"] == "22 ops"


def test_a_large_program_is_drawn_around_the_kernel_of_the_step():
    replay, _ = pictures_of("train_step.h100")
    seen = set()
    for number, region, graph, layout in moments("train_step.h100", node_limit=24):
        assert len(graph.nodes) <= 24
        assert graph.left_out > 0
        seen.add(region.key)
        step = replay.steps[number - 1] if number else None
        if step is not None and step.made is not None:
            assert step.made.name in {node.kernel.name for node in graph.nodes}
        assert set(layout.boxes) == {node.id for node in graph.nodes}
    assert len(seen) > 3


def test_rows_that_nothing_stands_in_are_taken_out_and_lines_run_past_boxes():
    drawn = list(moments("mlp.h100"))
    first, last = drawn[0][3], drawn[-1][3]
    assert last.height < first.height / 3
    for _, _, graph, layout in drawn:
        for edge, line in zip(graph.edges, layout.edges, strict=True):
            numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", line.d)]
            # Each begins at its tail's box and ends at its head's, wherever these have gone.
            for node_id, x, y in ((edge.tail, *numbers[:2]), (edge.head, *numbers[-2:])):
                box = layout.boxes[node_id]
                assert box.x - 2 <= x <= box.x + box.width + 2
                assert box.y - 2 <= y <= box.y + box.height + 2


def test_a_damaged_record_that_fuses_across_computations_is_drawn_where_it_is():
    log = decisions_of("branch_between.v6e")
    *_, one, other = log.sources  # a file for each of the two branches
    first, *rest = (d for d in one.decisions if d.fusion_name)
    elsewhere = next(d for d in other.decisions if d.fusion_name)
    crossed = dataclasses.replace(first, producer=elsewhere.producer)
    source = dataclasses.replace(one, decisions=(crossed, *rest))
    damaged = replay_decisions(dataclasses.replace(log, sources=(source,)))
    assert damaged.steps[0].producer.computation is not damaged.steps[0].consumer.computation
    pictures = ReplayPictures(damaged, damaged.module)
    for number in range(len(damaged.steps) + 1):
        region = pictures.region(number)
        base, graph = pictures.base(region), pictures.build(number)
        assert {node.id for node in graph.nodes} <= {node.id for node in base.nodes}
