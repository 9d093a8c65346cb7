"""Widgets are closed, and modules let go of, when they are not shown any more."""

from __future__ import annotations

import gc
import weakref

import jax.numpy as jnp
import pytest

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import read_decisions
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.widgets.cost.part import CostPart
from hlo_widgets.widgets.decisions.part import DecisionsPart
from hlo_widgets.widgets.decisions.passes_part import PassesPart
from hlo_widgets.widgets.replay.part import ReplayPart
from hlo_widgets.widgets.shown import Shown
from hlo_widgets.widgets.text.part import TextPart
from tests.analysis.dumps import decisions_of, dump_folder, module_of

PARTS = {
    "cost": lambda: CostPart(print),
    "text": lambda: TextPart(print),
    "decisions": lambda: DecisionsPart(print, print),
    "passes": lambda: PassesPart(print),
    "replay": lambda: ReplayPart(print),
}


def explained():
    return hw.explore(module_of("mlp.h100"), decisions=decisions_of("mlp.h100"))


def open_all(explorer):
    for part in explorer._tabs.parts:
        explorer._tabs.open(part)


def test_a_closed_explorer_leaves_no_widget(left_open):
    explorer = explained()
    open_all(explorer)
    assert left_open()["Button"] == 5
    explorer.show_result(hw.captures.load("row_softmax", "v6e"))
    open_all(explorer)
    explorer.close()
    assert left_open() == {}
    explorer.close()
    assert left_open() == {}


def test_one_with_controls_leaves_none_either(left_open):
    explorer = hw.explore(jnp.tanh, hw.spec("f32[8]"), target="cpu")
    explorer.close()
    assert left_open() == {}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_shows_one_module_after_another_keeps_no_widgets(left_open, name):
    part = PARTS[name]()
    shown = Shown.of_module(module_of("mlp.h100"), decisions=decisions_of("mlp.h100"))
    part.show(shown)
    first = left_open()
    for _ in range(3):
        part.show(Shown.of_module(module_of("mlp.h100"), decisions=shown.decisions))
    assert left_open() == first
    part.forget()
    part.close()
    assert left_open() == {}


def test_hidden_tabs_let_go_of_what_was_shown_before(left_open):
    # Of its own, as others keep theirs.
    text = module_of("mlp.h100").text
    log = read_decisions(dump_folder("mlp.h100"))
    explorer = hw.explore(parse_hlo_module(text), decisions=log)
    open_all(explorer)
    explorer._tabs.open(explorer._tabs.parts[0])
    explorer.select("loop_multiply_fusion")
    kept = [weakref.ref(explorer.module), weakref.ref(explorer._shown.decisions)]
    player = weakref.ref(explorer._tabs.parts[-1].player)
    del log
    explorer.show_result(hw.captures.load("row_softmax", "v6e"))
    gc.collect()
    assert [ref() for ref in kept] == [None, None]
    assert player() is None
    assert left_open()["IntSlider"] == 0
    for part in explorer._tabs.parts[1:]:
        explorer._tabs.open(part)
    text_part = next(part for part in explorer._tabs.parts if isinstance(part, TextPart))
    assert text_part.widget.document["count"] == len(explorer.module.text.splitlines())
