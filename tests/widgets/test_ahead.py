"""The layouts under a replay: each made once, a bounded number kept, no interrupt loses one."""

from __future__ import annotations

import dataclasses
import signal
import threading

import pytest

from hlo_widgets.analysis.decisions.replay.replay import replay_decisions
from hlo_widgets.drawing import lay_out
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph.replay import ReplayPictures
from hlo_widgets.widgets import layout_job
from hlo_widgets.widgets.replay.ahead import MOST_LAYOUTS, BaseLayouts
from tests.analysis.dumps import decisions_of


@pytest.fixture
def pictures():
    replay = replay_decisions(decisions_of("row_softmax.h100"))
    return ReplayPictures(replay, replay.module)


@pytest.fixture
def runs(monkeypatch):
    """Note each run of the layout program; none begins before the gate is open."""
    made, gate = [], threading.Event()
    gate.set()

    def noted(graph, run):
        made.append(graph)
        gate.wait(30)
        return lay_out(graph, run=run)

    monkeypatch.setattr(layout_job, "lay_out", noted)
    return made, gate


def test_a_region_is_laid_out_once_also_when_it_was_prepared(pictures, runs):
    layouts, region = BaseLayouts(pictures), pictures.region(0)
    layouts.prepare(region)
    assert layouts.of(region) == layouts.of(region)
    assert len(runs[0]) == 1


def test_no_more_layouts_are_kept_than_a_bound_and_those_asked_for_last_stay(pictures, runs):
    layouts, region = BaseLayouts(pictures), pictures.region(0)
    others = [dataclasses.replace(region, key=f"other {n}") for n in range(MOST_LAYOUTS)]
    _, first = layouts.of(region)
    for other in others[:-1]:
        layouts.of(other)
    assert layouts.of(region)[1] is first
    layouts.of(others[-1])
    assert len(runs[0]) == MOST_LAYOUTS + 1
    assert layouts.of(region)[1] is first
    layouts.of(others[0])  # the one that was asked for longest ago is gone
    assert len(runs[0]) == MOST_LAYOUTS + 2


def test_an_interrupt_leaves_a_layout_on_its_way(pictures, runs):
    made, gate = runs
    gate.clear()
    layouts, region = BaseLayouts(pictures), pictures.region(0)
    main = threading.main_thread().ident
    threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        layouts.of(region)
    gate.set()
    layouts.of(region)
    assert len(made) == 1


def test_what_cannot_be_laid_out_is_tried_again(pictures, monkeypatch):
    layouts, region = BaseLayouts(pictures), pictures.region(0)
    with monkeypatch.context() as broken:
        broken.setenv("HLO_WIDGETS_DOT", "/nowhere/dot")
        with pytest.raises(DrawingError):
            layouts.of(region)
    assert layouts.of(region)[1].boxes
