"""The rows of a run: what an instruction costs over all its runs, and whose figures compare."""

import json

from hlo_widgets.analysis import comparable_source, run_cycles, work_rows
from hlo_widgets.hlo import parse_hlo_module

TEXT = """HloModule m

%inside (q: f32[4]) -> f32[4] {
  %q = f32[4]{0} parameter(0)
  ROOT %hidden = f32[4]{0} negate(%q), TPU7
}

%body (b: f32[4]) -> f32[4] {
  %b = f32[4]{0} parameter(0)
  ROOT %inner = f32[4]{0} fusion(%b), kind=kLoop, calls=%inside, TPU10
}

%condition (c: f32[4]) -> pred[] {
  %c = f32[4]{0} parameter(0)
  ROOT %true = pred[] constant(true)
}

ENTRY %e (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %outer = f32[4]{0} negate(%p), TPU100
  %silent = f32[4]{0} negate(%outer)
  ROOT %w = f32[4]{0} while(%silent), condition=%condition, body=%body, KNOWN
}
"""
KNOWN = 'backend_config={"known_trip_count":{"n":"4"}}'


def module(text=TEXT, known=KNOWN):
    for cycles in (100, 10, 7):
        config = {"window_config": {"estimated_cycles": str(cycles)}}
        text = text.replace(f"TPU{cycles}", f"backend_config={json.dumps(config)}")
    return parse_hlo_module(text.replace("KNOWN", known))


def by_name(cycles):
    return {instruction.name: count for instruction, count in cycles.items()}


def test_cycles_are_counted_as_often_as_they_are_spent():
    assert by_name(run_cycles(module())) == {"outer": 100, "inner": 40}


def test_what_runs_nobody_knows_how_often_has_none():
    assert by_name(run_cycles(module(known="x=1"))) == {"outer": 100}


def test_rows_are_those_of_the_table_known_or_not():
    rows = work_rows(module())
    assert [row.instruction.name for row in rows] == ["outer", "silent", "inner"]
    assert [row.run_cycles for row in rows] == [100, None, 40]
    assert [row.trip_count for row in rows] == [1, 1, 4]


def test_only_figures_of_the_model_with_the_most_rows_compare():
    gpu = {"reification_cost": [{"name": "", "end_to_end_cycles": 5e8}]}
    mixed = module(
        TEXT.replace("negate(%outer)", f"negate(%outer), backend_config={json.dumps(gpu)}")
    )
    assert comparable_source(work_rows(mixed)) == "TPU window_config"
    assert by_name(run_cycles(mixed)) == {"outer": 100, "inner": 40}
    assert comparable_source(()) is None


def test_loops_in_loops_can_run_more_often_than_64_bits_can_say():
    loops = TEXT
    for level in range(3):
        loops = loops.replace(
            "ENTRY",
            f"%b{level} (x: f32[4]) -> f32[4] {{\n  %x = f32[4]{{0}} parameter(0)\n"
            f"  ROOT %w{level} = f32[4]{{0}} while(%x), condition=%condition,"
            f" body=%{'body' if not level else f'b{level - 1}'}, KNOWN\n}}\n\nENTRY",
            1,
        )
    head, entry = loops.split("ENTRY")
    huge = module(
        f"{head}ENTRY{entry.replace('body=%body', 'body=%b2')}", KNOWN.replace("4", "9" * 18)
    )
    assert by_name(run_cycles(huge)) == {"outer": 100}
