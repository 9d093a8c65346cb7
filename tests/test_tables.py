"""The cost table: the compiler's figures by row, missing ones as <NA>."""

import json
from pathlib import Path

import pandas as pd
import pytest

from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.tables import COLUMNS, UNITS, cost_table

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
OWN_SOFTMAX = ROOT / "captures" / "row_softmax.v6e.hlo.txt"
OTHER_SOFTMAX = SHARED / "captures" / "row_softmax.v6e.hlo.txt"
MAXTEXT = SHARED / "cases" / "maxtext_train_step.gpu.after_optimizations.hlo.txt"


def needs(path):
    return pytest.mark.skipif(not path.exists(), reason=f"{path.name} is not beside this checkout")


@pytest.fixture(
    params=[OWN_SOFTMAX, pytest.param(OTHER_SOFTMAX, marks=needs(OTHER_SOFTMAX))],
    ids=["own", "made elsewhere"],
)
def softmax(request):
    return parse_hlo_module(request.param.read_text(encoding="utf-8"))


def entry(body, head=""):
    text = f"HloModule m\n\n{head}\nENTRY %e (p: f32[4]) -> f32[4] {{\n"
    text += f"  %p = f32[4]{{0}} parameter(0)\n{body}\n}}\n"
    return parse_hlo_module(text)


def config(cycles):
    return f"backend_config={json.dumps({'window_config': {'estimated_cycles': str(cycles)}})}"


def test_a_capture_gives_the_compilers_figures(softmax):
    table = cost_table(softmax)
    assert list(table["name"]) == ["reduce_max.7", "fusion.1", "fusion"]
    assert list(table["estimated_cycles"]) == [5604, 6212, 8740]
    assert list(table["vmem_bytes"]) == [1052672, 1146880, 1196032]
    assert list(table["window_vmem_bytes"]) == [0, 0, 0]
    assert table["vmem_limit_bytes"].isna().all()
    assert list(table["opcode"]) == ["reduce", "fusion", "fusion"]
    assert list(table["fusion_kind"].fillna("-")) == ["-", "kLoop", "kLoop"]
    body = {"fusion.1": "fused_computation.2", "fusion": "fused_computation.1"}
    assert table.set_index("name")["calls"].dropna().to_dict() == body
    assert list(table["root_opcode"].fillna("-")) == ["-", "reduce", "convert"]
    assert list(table["instruction_count"].fillna(-1)) == [-1, 10, 12]
    assert list(table["output_memory_space"]) == ["VMEM", "VMEM", "HBM"]
    assert list(table["bytes_out"]) == [2048, 2048, 1048576]
    assert list(table["bytes_in"]) == [1048578, 1050624, 1052672]
    assert table["parameters"][1] == "copy-done bf16[1024,512], reduce_max.7 bf16[1024]"
    assert table["op_name"][2] == "jit(row_softmax)/div"
    assert set(table["cost_source"]) == {"TPU window_config"}
    assert set(table["computation"]) == {"main.3"}
    assert table["cycles_share"].sum() == pytest.approx(1)
    assert table["cycles_share"][0] == pytest.approx(5604 / 20556)
    assert table.attrs["total_estimated_cycles"] == 20556
    assert table.attrs["total"] == "20,556 estimated cycles, 3 of 3 rows known"


def test_the_body_is_found_by_calls_and_not_by_number(softmax):
    swapped = softmax.text.replace("fused_computation.1", "fused_computation.X")
    swapped = swapped.replace("fused_computation.2", "fused_computation.1")
    swapped = swapped.replace("fused_computation.X", "fused_computation.2")
    table = cost_table(parse_hlo_module(swapped)).set_index("name")
    assert table.loc["fusion.1", "calls"] == "fused_computation.1"
    assert table.loc["fusion.1", "root_opcode"] == "reduce"
    assert table.loc["fusion", "instruction_count"] == 12


def test_columns_and_types_do_not_depend_on_the_rows():
    empty = cost_table(
        parse_hlo_module(
            "HloModule m\nENTRY %e (p: s32[]) -> s32[] {\n  ROOT %p = s32[] parameter(0)\n}\n"
        )
    )
    assert len(empty) == 0
    for table in (empty, cost_table(entry("  ROOT %n = f32[4]{0} negate(%p)"))):
        assert {name: str(kind) for name, kind in table.dtypes.items()} == dict(COLUMNS)
        assert list(table.columns) == list(COLUMNS)


def test_what_the_compiler_did_not_say_is_na():
    row = cost_table(entry("  ROOT %n = f32[4]{0} negate(%p)")).iloc[0]
    missing = {name for name in COLUMNS if row[name] is pd.NA}
    assert missing == {
        "fusion_kind", "calls", "root_opcode", "instruction_count", "estimated_cycles",
        "cycles_share", "vmem_bytes", "vmem_limit_bytes", "window_vmem_bytes", "op_name", "source",
        "collective", "collective_bytes",
    }  # fmt: skip
    assert row["cost_source"] == "none"


def test_shares_are_over_the_rows_with_both_numbers():
    table = cost_table(
        entry(
            f"  %a = f32[4]{{0}} negate(%p), {config(30)}\n"
            f"  %b = f32[4]{{0}} negate(%a), {config(0)}\n"
            f"  ROOT %c = f32[4]{{0}} negate(%b), {config(10)}"
        )
    )
    assert table["cycles_share"].tolist() == [0.75, pd.NA, 0.25]
    assert table.attrs["total"] == "40 estimated cycles, 2 of 3 rows known"
    assert (table.attrs["known_rows"], table.attrs["rows"]) == (2, 3)
    assert table.attrs["cost_sources"] == {"TPU window_config": 2, "none": 1}


def gpu_config(**models):
    costs = [{"name": k.replace("_", "-"), "end_to_end_cycles": v} for k, v in models.items()]
    return f"backend_config={json.dumps({'reification_cost': costs})}"


def test_figures_of_different_models_are_not_added_up():
    indexing = {"indexing_cost_model": 100.0}
    table = cost_table(
        entry(
            f"  %a = f32[4]{{0}} negate(%p), {gpu_config(experimental_gemm_cost_model=9e9)}\n"
            f"  %b = f32[4]{{0}} negate(%a), {gpu_config(**indexing)}\n"
            f"  %c = f32[4]{{0}} negate(%b), {gpu_config(**indexing)}\n"
            "  ROOT %d = f32[4]{0} negate(%c)"
        )
    )
    assert table["estimated_cycles"].tolist() == [9_000_000_000, 100, 100, pd.NA]
    assert table["cycles_share"].tolist() == [pd.NA, 0.5, 0.5, pd.NA]
    assert table.attrs["total_estimated_cycles"] == 200
    assert table.attrs["total_source"] == "GPU cost model: indexing-cost-model"
    assert table.attrs["total"] == (
        "200 estimated cycles, 2 of 4 rows, all by GPU cost model: indexing-cost-model; 1 with "
        "figures of other cost models, which do not compare, are left out"
    )


def test_an_asynchronous_pair_has_the_result_of_its_done():
    both = "(f32[4]{0:T(128)}, f32[16]{0:T(128)S(1)})"
    table = cost_table(
        entry(
            f"  %s = {both} all-gather-start(%p), dimensions={{0}}\n"
            "  ROOT %d = f32[16]{0:T(128)S(1)} all-gather-done(%s)"
        ),
        target="v6e",
    )
    row = table.iloc[0]
    assert (row["name"], row["opcode"], len(table)) == ("s", "all-gather-start", 1)
    assert (row["bytes_in"], row["bytes_out"]) == (16, 64)
    assert row["output_memory_space"] == "VMEM"


def test_a_fusion_that_runs_beside_others_names_its_body():
    body = "%f (q: f32[4]) -> f32[4] {\n  ROOT %q = f32[4]{0} parameter(0)\n}\n"
    start = "  %s = ((f32[4]), f32[4]{0}, u32[]) fusion-start(%p), kind=kLoop, calls=%f\n"
    row = cost_table(entry(f"{start}  ROOT %d = f32[4]{{0}} fusion-done(%s)", body)).iloc[0]
    assert (row["calls"], row["instruction_count"], row["bytes_out"]) == ("f", 1, 16)


def test_no_figure_at_all_is_no_total():
    table = cost_table(entry("  ROOT %n = f32[4]{0} negate(%p)"))
    assert table.attrs["total_estimated_cycles"] is None
    assert table.attrs["total"] == "no estimate, 0 of 1 rows known"
    assert table["cycles_share"].isna().all()


def test_a_loop_body_counts_as_often_as_it_runs():
    loop = """
%body (b: f32[4]) -> f32[4] {
  %b = f32[4]{0} parameter(0)
  ROOT %inner = f32[4]{0} negate(%b), CONFIG
}

%condition (c: f32[4]) -> pred[] {
  %c = f32[4]{0} parameter(0)
  ROOT %true = pred[] constant(true)
}
""".replace("CONFIG", config(25))
    body = f"""  %outer = f32[4]{{0}} negate(%p), {config(100)}
  ROOT %w = f32[4]{{0}} while(%outer), condition=%condition, body=%body KNOWN"""
    known = ', backend_config={"known_trip_count":{"n":"4"}}'

    table = cost_table(entry(body.replace(" KNOWN", known), loop)).set_index("name")
    assert table["trip_count"].to_dict() == {"outer": 1, "inner": 4}
    assert table["cycles_share"].to_dict() == {"outer": 0.5, "inner": 0.5}

    table = cost_table(entry(body.replace(" KNOWN", ""), loop)).set_index("name")
    assert table.loc["inner", "trip_count"] is pd.NA
    assert table.loc["inner", "cycles_share"] is pd.NA
    assert table.loc["inner", "estimated_cycles"] == 25
    assert table.loc["outer", "cycles_share"] == 1
    assert table.attrs["total"] == "100 estimated cycles, 1 of 2 rows known"


def test_an_operand_that_stands_twice_is_read_once():
    row = cost_table(entry("  ROOT %n = f32[4]{0} add(%p, %p)")).iloc[0]
    assert row["bytes_in"] == 16
    assert row["parameters"] == "p f32[4], p f32[4]"


def test_a_size_that_is_not_known_makes_the_sum_unknown():
    module = entry("  %q = f32[?]{0} parameter(1)\n  ROOT %n = f32[4]{0} add(%p, %q)")
    row = cost_table(module).iloc[0]
    assert row["bytes_in"] is pd.NA
    assert row["bytes_out"] == 16


def test_a_size_past_64_bits_is_unknown_rather_than_an_error():
    big = 9223372036854775807
    row = cost_table(entry(f"  ROOT %n = f32[{big}]{{0}} broadcast(%p), dimensions={{}}")).iloc[0]
    assert row["bytes_out"] is pd.NA


def test_a_shape_that_is_damaged_costs_its_own_figures_alone():
    body = f"  %a = f32[4{{0}} negate(%p), {config(30)}\n  ROOT %b = f32[4]{{0}} negate(%a)"
    table = cost_table(entry(body))
    assert table["bytes_out"].tolist() == [pd.NA, 16]
    assert table["bytes_in"].tolist() == [16, pd.NA]
    assert table["output_memory_space"].tolist() == [pd.NA, "HBM"]
    assert table["parameters"][1] == "a ?"
    assert table["estimated_cycles"].tolist() == [30, pd.NA]


def test_a_tuple_lies_where_its_elements_lie():
    body = "  ROOT %n = (f32[4]{0:T(128)S(1)}, f32[4]{0:T(128)}, token[]) custom-call(%p)"
    row = cost_table(entry(body + ', custom_call_target="k"')).iloc[0]
    assert row["output_memory_space"] == "VMEM + HBM"


def test_the_target_names_memory_and_is_kept():
    module = entry("  ROOT %n = f32[4]{0} negate(%p)")
    table = cost_table(module, target="v6e", versions={"jax": "1.2"}, notes=("a note",))
    assert table["output_memory_space"][0] == "HBM"
    assert cost_table(module)["output_memory_space"][0] == "default memory"
    assert table.attrs["target"] == "v6e"
    assert table.attrs["versions"] == {"jax": "1.2"}
    assert table.attrs["notes"] == ["a note"]
    assert table.attrs["module"] == "m"
    assert table.attrs["units"] == dict(UNITS)
    json.dumps(table.attrs)


def test_every_unit_belongs_to_a_column():
    assert set(UNITS) < set(COLUMNS)


@needs(MAXTEXT)
def test_a_gpu_train_step_has_a_row_a_kernel_and_its_source():
    table = cost_table(parse_hlo_module(MAXTEXT.read_text(encoding="utf-8")))
    assert (table["opcode"] == "fusion").sum() == table["calls"].notna().sum() > 500
    assert set(table["output_memory_space"].dropna()) == {"device memory"}
    assert set(table["cost_source"]) == {"none"}
    gather = table.set_index("name").loc["all-gather-start.4"]
    assert (gather["bytes_in"], gather["bytes_out"]) == (187_777_024, 751_108_096)
    normalizations = table[table["source"] == "normalizations.py:51"]
    assert len(normalizations) > 0
