"""What the tables of an Explorer share, as the options that their widget gets."""

from __future__ import annotations

import pandas as pd
import pytest

from hlo_widgets.analysis.decisions import FusionDecision, Verdict
from hlo_widgets.tables import cost_table
from hlo_widgets.widgets.cost.view import cost_options, cost_view
from hlo_widgets.widgets.data_table import PAGE, Column, data_table, table_options
from hlo_widgets.widgets.decisions.table import (
    LONGEST_CELL,
    decision_frame,
    decision_options,
    decision_view,
)
from tests.analysis.dumps import decisions_of, module_of

COLUMNS = {
    "name": Column(3),
    "gain": Column(1, "none", places=2),
    "unit": Column(1, is_folded=True),
    "not there": Column(5),
}


def frame(rows=3):
    return pd.DataFrame({"name": ["a"] * rows, "gain": [1.0] * rows, "unit": ["us"] * rows})


def test_shares_are_of_the_columns_that_are_there():
    definitions = table_options(frame(), COLUMNS)["columnDefs"]
    assert [one["width"] for one in definitions] == ["60%", "20%", "20%"]
    assert [one["className"] for one in definitions] == ["", "dt-right", "hw-folded"]


def test_what_is_missing_sorts_below_every_number():
    _, number, text = table_options(frame(), COLUMNS)["columnDefs"]
    assert "-Infinity" in number["render"]
    assert '"none"' in number["render"]
    assert "render" not in text


def test_the_tooltip_of_a_cell_tells_what_is_folded_away():
    name, *_ = table_options(frame(), COLUMNS)["columnDefs"]
    assert '[[2, "unit"]]' in name["createdCell"]
    assert "hw-keeps-2" in table_options(frame(), COLUMNS)["classes"]
    assert "hw-folds" not in table_options(frame()[["name"]], COLUMNS)["classes"]


@pytest.mark.parametrize(("rows", "paging", "start"), [(PAGE, False, None), (11, True, "search")])
def test_what_does_not_fit_a_screen_has_pages_and_a_search(rows, paging, start):
    options = table_options(frame(rows), COLUMNS, [("gain", "desc")])
    assert (options["paging"], options["layout"]["topStart"]) == (paging, start)
    assert options["order"] == [[1, "desc"]]
    assert table_options(frame(rows), COLUMNS, most_unpaged=11)["paging"] is False


def test_both_tables_of_an_explorer_are_made_in_one_way():
    table, log = cost_table(module_of("mlp.h100")), decisions_of("mlp.h100")
    for widget, options in (
        (cost_view(table), cost_options(table)[1]),
        (decision_view(log.decisions), decision_options(log.decisions)[1]),
    ):
        assert widget.classes == options["classes"]
        numbers = [one for one in options["columnDefs"] if "render" in one]
        assert numbers
        assert all("-Infinity" in one["render"] for one in numbers)
        assert widget.selected_rows == []
        widget.close()


def test_markup_stays_text():
    widget = data_table(frame().assign(name="<b>x</b>"), table_options(frame(), COLUMNS))
    assert widget._dt_args["data_json"].count("&lt;b&gt;") == 3
    widget.close()


def test_a_cell_that_is_cut_says_so():
    decision = FusionDecision("p", "c", Verdict.REFUSED, "x" * 2_000, consumers=("c",))
    (reason,) = decision_frame([decision])["reason"]
    assert reason.endswith("\u2026 (2,000 characters)")
    assert len(reason) < LONGEST_CELL + 30


def test_an_update_sends_all_rows():
    names = [f"column {number}" for number in range(12)]
    small = pd.DataFrame({name: ["one"] for name in names})
    large = pd.DataFrame({name: [f"row {number}" for number in range(2000)] for name in names})
    columns = {name: Column(1) for name in names}
    table = data_table(small, table_options(small, columns))
    table.update(large, selected_rows=[], **table_options(large, columns))
    sent = str(table.get_state())
    assert all(f"row {number}" in sent for number in (0, 999, 1999))
    assert "downsampled" not in sent
