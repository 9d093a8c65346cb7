"""The laid-out pictures of a module's views: what is laid out anew, and where words stand."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict, join_decisions
from hlo_widgets.analysis.why import PairVerdicts
from hlo_widgets.drawing import PROGRAM_VARIABLE, Rectangle
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import GraphBuilder, ViewState
from hlo_widgets.graph.dot import words_size
from hlo_widgets.graph.verdict_edges import MOST_APART
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.widgets import layout_job
from hlo_widgets.widgets.picture.free_room import FreeRoom
from hlo_widgets.widgets.picture.layouts import MOST_PICTURES, MOST_WITH_ROOM, Layouts
from tests.analysis.dumps import decisions_of, module_of
from tests.graph.modules import chain, fan

PLAIN, DECIDED = ViewState(), ViewState(show_decisions=True)


def layouts_of(name):
    module = module_of(name)
    return Layouts(GraphBuilder(module, None, PairVerdicts(module, decisions_of(name))))


@pytest.fixture
def runs(monkeypatch):
    """Note what is laid out."""
    made = []
    lay_out = layout_job.lay_out

    def noted(graph, run):
        made.append(graph)
        return lay_out(graph, run=run)

    monkeypatch.setattr(layout_job, "lay_out", noted)
    return made


def words_of(graph, layout):
    """Return of each arrow with words its edge, its line, and the area of the words."""
    for edge, line in zip(graph.edges, layout.edges, strict=True):
        if edge.words:
            (x, y), (width, height) = line.middle, words_size(edge.words)
            yield edge, line, Rectangle(x - width / 2, y - height / 2, width, height)


def meet(one, other):
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@pytest.mark.parametrize("name", ["train_step.v6e", "train_step.h100"])
def test_a_large_picture_keeps_its_places_when_its_decisions_are_shown(name, runs):
    layouts = layouts_of(name)
    plain, before = layouts.picture(PLAIN)
    graph, layout = layouts.picture(DECIDED)
    assert len(runs) == 1
    assert sum(1 for _ in plain.all_nodes()) > MOST_WITH_ROOM
    assert layout.boxes == before.boxes
    assert [line.d for line in layout.edges[: len(before.edges)]] == [d.d for d in before.edges]
    assert (layout.width, layout.height) == (before.width, before.height)
    assert sum(edge.verdict is not None for edge in graph.edges) > 20
    assert all(edge.verdict is None for edge in plain.edges)


@pytest.mark.parametrize("name", ["train_step.v6e", "train_step.h100"])
def test_words_in_a_large_picture_cover_no_box_and_no_other_words(name):
    graph, layout = layouts_of(name).picture(DECIDED)
    told = list(words_of(graph, layout))
    for (*_, one), (*_, other) in itertools.combinations(told, 2):
        assert not meet(one, other)
    free = [area for _, line, area in told if line.has_room]
    assert len(free) > len(told) / 3
    inner = [replace(box, x=box.x + 4, width=box.width - 8) for box in layout.boxes.values()]
    for area, box in itertools.product(free, inner):
        assert not meet(area, replace(box, y=box.y + 4, height=box.height - 8))


def test_words_beside_a_column_of_boxes_have_room():
    module = parse_hlo_module(chain(MOST_WITH_ROOM + 10))
    pairs = itertools.pairwise(op.name for op in module.entry_computation.instructions)
    words = "operand can not be duplicated, as all its users are expensive; Not fusing"
    records = (FusionDecision(a, b, Verdict.REFUSED, words, consumers=(b,)) for a, b in pairs)
    log = join_decisions(DecisionLog(tuple(records)), module)
    layouts = Layouts(GraphBuilder(module, None, PairVerdicts(module, log)))
    assert all(line.has_room for _, line, _ in words_of(*layouts.picture(DECIDED)))


def test_words_that_stand_aside_lead_to_their_arrow():
    graph, layout = layouts_of("train_step.v6e").picture(DECIDED)
    leads = [(line.lead, line.d) for _, line, _ in words_of(graph, layout) if line.lead]
    assert leads
    for (x, y), path in leads:
        numbers = path.replace("M", " ").replace("C", " ").replace("L", " ").split()
        across, down = (np.array(numbers[at::2], float) for at in (0, 1))
        assert across.min() - 1 <= x <= across.max() + 1
        assert down.min() - 1 <= y <= down.max() + 1


def test_of_many_pairs_that_no_arrow_joins_the_nearest_get_a_line():
    module = parse_hlo_module(fan(MOST_WITH_ROOM + 6))
    names = [op.name for op in module.entry_computation.instructions if op.opcode == "negate"]
    records = (
        FusionDecision(a, b, Verdict.REFUSED, "User is connected", consumers=(b,), siblings=True)
        for a, b in itertools.combinations(names, 2)
    )
    log = join_decisions(DecisionLog(tuple(records)), module)
    graph, layout = Layouts(GraphBuilder(module, None, PairVerdicts(module, log))).picture(DECIDED)
    apart = [edge for edge in graph.edges if edge.kind == "apart"]
    assert len(apart) == MOST_APART
    boxes = layout.boxes
    nearest = min(abs(boxes[a].x - boxes[b].x) for a, b in itertools.combinations(names, 2))
    for edge, line in zip(graph.edges, layout.edges, strict=True):
        if edge.kind == "apart":
            assert abs(boxes[edge.tail].x - boxes[edge.head].x) < nearest * 1.5
            assert line.d.startswith("M")


def test_a_small_picture_is_laid_out_with_room_for_its_words(runs):
    layouts = layouts_of("mlp.v6e")
    _, before = layouts.picture(PLAIN)
    graph, layout = layouts.picture(DECIDED)
    assert len(runs) == 2
    assert layout.height > before.height
    assert all(line.has_room and line.lead is None for _, line, _ in words_of(graph, layout))


def test_without_a_record_the_mode_needs_no_layout(runs):
    layouts = Layouts(GraphBuilder(module_of("mlp.v6e")))
    assert layouts.picture(PLAIN)[1] is layouts.picture(DECIDED)[1]
    assert len(runs) == 1


def test_another_colour_needs_no_layout(runs):
    layouts = layouts_of("mlp.v6e")
    first, places = layouts.picture(PLAIN)
    other, same = layouts.picture(ViewState(color_by="cycles"))
    assert same is places
    assert len(runs) == 1
    assert {node.style for node in other.nodes} != {node.style for node in first.nodes}


def test_the_pictures_asked_for_last_are_kept(runs):
    layouts = Layouts(GraphBuilder(parse_hlo_module(chain(60))))
    views = [ViewState(focus=f"op.{n}", node_limit=10) for n in range(MOST_PICTURES + 1)]
    for view in views:
        layouts.picture(view)
    layouts.picture(views[-1])
    assert len(runs) == len(views)
    layouts.picture(views[0])
    assert len(runs) == len(views) + 1


@pytest.fixture
def endless(tmp_path, monkeypatch):
    """Put a program that never ends in the place of the layout program; return what undoes it."""
    path = tmp_path / "endless"
    path.write_text("#!/bin/sh\nexec sleep 600\n")
    path.chmod(0o755)
    monkeypatch.setenv(PROGRAM_VARIABLE, str(path))
    return lambda: monkeypatch.delenv(PROGRAM_VARIABLE)


def test_a_layout_that_nobody_waits_for_any_more_is_ended(endless):
    layouts = layouts_of("mlp.v6e")
    first = layouts.begin(PLAIN)
    assert layouts.begin(PLAIN) is first
    second = layouts.begin(ViewState(show_plumbing=True))
    with pytest.raises(DrawingError, match="called off"):
        first.future.result(30)
    assert not second.future.done()
    layouts.call_off()
    with pytest.raises(DrawingError, match="called off"):
        second.future.result(30)
    endless()
    assert layouts.picture(PLAIN)[1].boxes


def test_what_failed_is_tried_again(monkeypatch):
    layouts = layouts_of("mlp.v6e")
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    with pytest.raises(DrawingError):
        layouts.picture(PLAIN)
    monkeypatch.delenv(PROGRAM_VARIABLE)
    assert layouts.picture(PLAIN)[1].boxes


def test_words_go_where_room_is():
    box = Rectangle(0, 0, 100, 100)
    line = np.stack([np.full(50, 150.0), np.linspace(0, 196, 50)], axis=1)
    room = FreeRoom((300, 200), [box], [line], 5)
    over_box, over_line, free = (10, 10, 60, 30), (120, 10, 180, 30), (220, 10, 270, 30)
    areas = np.array([over_box, over_line, free], float)
    assert room.take(areas) == 2
    assert room.take(areas) == 1  # the free one is taken
    assert room.take(areas) is None
    assert room.take(areas, over_boxes=True) == 0
    assert room.take(areas, over_boxes=True) is None


def test_words_do_not_run_along_a_line():
    line = np.stack([np.linspace(0, 200, 60), np.full(60, 20.0)], axis=1)
    room = FreeRoom((300, 200), [], [line], 5)
    assert room.take(np.array([(20.0, 10.0, 160.0, 33.0)])) is None


def test_what_a_call_waits_for_is_not_ended_by_what_the_page_asks_for(monkeypatch):
    gate, started = threading.Event(), threading.Event()
    lay_out = layout_job.lay_out

    def held(graph, run):
        started.set()
        gate.wait(20)
        return lay_out(graph, run=run)

    monkeypatch.setattr(layout_job, "lay_out", held)
    layouts = layouts_of("mlp.v6e")
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(layouts.picture, PLAIN)
        assert started.wait(20)
        while not layouts.is_awaited:
            time.sleep(0.01)
        layouts.begin(replace(PLAIN, show_plumbing=True))
        layouts.call_off()
        gate.set()
        assert call.result(20)[1].boxes
    assert not layouts.is_awaited
