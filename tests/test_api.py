"""The functions that notebooks call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import hlo_widgets as hw
from hlo_widgets import errors
from hlo_widgets.api import as_module
from tests.graph.modules import LOOP

CAPTURE = Path(__file__).parents[1] / "captures" / "row_softmax.v6e.hlo.txt"


def test_all_is_sorted_and_every_name_loads():
    assert hw.__all__ == sorted(hw.__all__)
    for name in hw.__all__:
        assert getattr(hw, name) is not None
    assert set(hw.__all__) <= set(dir(hw))
    assert set(errors.__all__) <= set(hw.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = hw.no_such_name


@pytest.mark.parametrize(
    "form",
    [CAPTURE, str(CAPTURE), CAPTURE.read_text(), hw.captures.load("row_softmax", "v6e")],
    ids=["path", "path as text", "HLO text", "result"],
)
def test_a_module_is_taken_in_any_form(form):
    assert as_module(form).name == "jit_row_softmax"
    assert hw.cost_table(form)["estimated_cycles"].tolist() == [5604, 6212, 8740]
    assert "reduce_max" in hw.to_dot(form)


def test_a_table_knows_its_target_where_the_result_does():
    result = hw.captures.load("row_softmax", "v6e")
    assert hw.cost_table(result).attrs["target"] == "v6e"
    assert "libtpu" in hw.cost_table(result).attrs["versions"]


@pytest.mark.parametrize("form", [LOOP, CAPTURE.read_text(), CAPTURE], ids=["bare", "text", "file"])
def test_a_target_that_is_given_is_kept(form):
    assert hw.cost_table(form, target="v5p").attrs["target"] == "v5p"
    assert hw.explore(form, target="v5p").table.attrs["target"] == "v5p"
    assert hw.cost_table(form).attrs["target"] is None
    assert hw.explore(form).table.attrs["target"] is None


def test_a_result_is_for_its_own_target_alone():
    result = hw.captures.load("row_softmax", "v6e")
    assert hw.cost_table(result, target="v6e").attrs["target"] == "v6e"
    for show in (hw.cost_table, hw.explore):
        with pytest.raises(hw.NotCompilableError, match=r"'v6e'.*'v5e'"):
            show(result, target="v5e")


def test_notes_of_a_compile_reach_the_table():
    result = replace(hw.captures.load("row_softmax", "v6e"), notes=("no figures there",))
    assert hw.cost_table(result).attrs["notes"] == ["no figures there"]


@pytest.mark.parametrize("wrong", [3, None, b"HloModule m", object()])
def test_what_is_no_module_is_refused(wrong):
    with pytest.raises(hw.NotCompilableError, match=type(wrong).__name__):
        hw.explore(wrong)


def test_arguments_without_a_function_are_refused():
    with pytest.raises(hw.NotCompilableError, match="not a function"):
        hw.explore(LOOP, 3)


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(OSError, match=r"nothing\.hlo"):
        hw.cost_table("nothing.hlo")


def test_text_that_is_not_hlo_is_refused_with_a_place():
    with pytest.raises(hw.HloParseError, match="line 1"):
        hw.cost_table("def f(x):\n    return x = 3\n")


def test_svg_with_an_instruction_opened_inside_another():
    svg = hw.render_svg(LOOP, expanded=["loop"], theme="dark")
    assert "twice" in svg
    assert "twice" not in hw.render_svg(LOOP)
    with pytest.raises(hw.HloLookupError, match="Did you mean"):
        hw.render_svg(LOOP, expanded=["lop"])
    with pytest.raises(ValueError, match="color_by"):
        hw.render_svg(LOOP, color_by="size")


def test_a_function_is_compiled_and_explored():
    explorer = hw.explore(lambda x: x + x, hw.spec("f32[8]"), target="cpu")
    assert len(explorer.table) >= 1
    assert explorer.table.attrs["target"] == "cpu"
