"""Which columns of the cost table are shown, and that nothing is left out without a word."""

from __future__ import annotations

import pandas as pd
import pytest

import hlo_widgets as hw
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.tables import COLUMNS, cost_table
from hlo_widgets.widgets.cost.part import CostPart
from hlo_widgets.widgets.cost.view import cost_options, left_out_words, readable_table
from hlo_widgets.widgets.static import static_html
from tests.graph.modules import LOOP, chain


def columns(table):
    return list(readable_table(table).columns)


def test_a_gpu_has_no_column_of_scoped_vmem_and_the_frame_keeps_it():
    table = cost_table(hw.captures.load("mlp", "h100").module)
    assert "scoped VMEM" not in columns(table)
    assert {"cycles", "share %", "root", "ops"} <= set(columns(table))
    assert left_out_words(table) == "Not known of any row, so not shown: scoped VMEM."
    assert list(table.columns) == list(COLUMNS)


def test_a_tpu_has_all_of_them():
    table = cost_table(hw.captures.load("mlp", "v6e").module)
    assert {"cycles", "share %", "scoped VMEM"} <= set(columns(table))
    assert left_out_words(table) == ""


def test_what_no_compiler_estimated_has_no_column_of_cycles_in_a_long_table_too():
    table = cost_table(parse_hlo_module(chain(30)))
    assert not {"cycles", "share %", "scoped VMEM", "root", "ops"} & set(columns(table))
    # Where there is no fusion, nothing is unknown of one.
    assert left_out_words(table).endswith("not shown: cycles, share %, scoped VMEM, source.")
    assert cost_options(table)[1]["order"] == []


def test_a_value_in_one_row_is_enough():
    table = cost_table(hw.captures.load("mlp", "h100").module)
    table.loc[2, "vmem_bytes"] = 5
    assert "scoped VMEM" in columns(table)
    assert left_out_words(table) == ""


def test_how_often_a_loop_runs_stays_where_nobody_knows_it():
    table = cost_table(parse_hlo_module(LOOP))
    table["trip_count"] = pd.array([pd.NA] * len(table), dtype="Int64")
    assert "runs" in columns(table)
    table["trip_count"] = 1
    assert "runs" not in columns(table)


@pytest.mark.parametrize(("target", "is_told"), [("h100", True), ("v6e", False)])
def test_the_part_and_the_saved_picture_say_which(target, is_told):
    explorer = hw.explore(hw.captures.load("mlp", target))
    (part,) = (one for one in explorer._tabs.parts if isinstance(one, CostPart))
    words = (
        "Not known of any row, so not shown: scoped VMEM. The Explorer's `table` has everything."
    )
    assert part._note.value == (words if is_told else "")
    assert part._note.layout.display == (None if is_told else "none")
    html = static_html("m", explorer._picture.navigator.graph, explorer.table)
    assert ("so not shown: scoped VMEM" in html) == is_told
    assert ("<th>scoped VMEM</th>" in html) != is_told
    explorer.close()
