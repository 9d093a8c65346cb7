"""Which computations run, how often, and which of their instructions do work."""

import pytest

from hlo_widgets.analysis import executed_computations, is_work, trip_count, work_instructions
from hlo_widgets.hlo import parse_hlo_module

# A loop as a TPU compiler leaves it: no known_trip_count, a copied counter, a limit in the tuple.
LOOP = """HloModule loop

%body (state: (s32[], f32[4], s32[])) -> (s32[], f32[4], s32[]) {{
  %state = (s32[], f32[4]{{0}}, s32[]) parameter(0)
  %counter = s32[] get-tuple-element(%state), index=0
  %counter.copy = s32[] copy(%counter)
  %step = s32[] constant({step})
  %next = s32[] add(%counter.copy, %step)
  %value = f32[4]{{0}} get-tuple-element(%state), index=1
  %negated = f32[4]{{0}} negate(%value)
  %limit.b = s32[] get-tuple-element(%state), index=2
  ROOT %out = (s32[], f32[4]{{0}}, s32[]) tuple(%next, %negated, {limit_out})
}}

%condition (state.1: (s32[], f32[4], s32[])) -> pred[] {{
  %state.1 = (s32[], f32[4]{{0}}, s32[]) parameter(0)
  %counter.1 = s32[] get-tuple-element(%state.1), index=0
  %limit.1 = s32[] get-tuple-element(%state.1), index=2
  ROOT %less = pred[] compare(%counter.1, %limit.1), direction={direction}
}}

ENTRY %main (x: f32[4]) -> f32[4] {{
  %x = f32[4]{{0}} parameter(0)
  %start = s32[] constant({start})
  %limit = s32[] constant({limit})
  %in = (s32[], f32[4]{{0}}, s32[]) tuple(%start, %x, %limit)
  %loop = (s32[], f32[4]{{0}}, s32[]) while(%in), condition=%condition, body=%body{config}
  ROOT %result = f32[4]{{0}} get-tuple-element(%loop), index=1
}}
"""


def loop_module(**changes):
    values = {
        "start": 0,
        "limit": 12,
        "step": 1,
        "direction": "LT",
        "limit_out": "%limit.b",
        "config": "",
    }
    return parse_hlo_module(LOOP.format(**values | changes))


def trips(**changes):
    return trip_count(loop_module(**changes).instruction("loop"))


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 12),
        ({"start": 2}, 10),
        ({"step": 5}, 3),
        ({"direction": "LE"}, 13),
        ({"limit": -4}, 0),
        ({"start": -5, "limit": 5}, 10),
    ],
)
def test_a_counted_loop_is_counted_from_its_text(changes, count):
    assert trips(**changes) == count


@pytest.mark.parametrize(
    "changes",
    [
        {"direction": "GT"},
        {"direction": "NE"},
        {"step": 0},
        {"step": -1},
        {"limit_out": "%next"},
        # Numbers that no machine has.
        {"limit": "9" * 5000},
        {"start": "-" + "9" * 4000, "limit": 5},
        {"step": "1" * 5000},
        # The last addition would wrap around, and the loop would go on.
        {"limit": 2147483647, "step": 2},
    ],
)
def test_a_loop_of_another_form_has_no_count(changes):
    assert trips(**changes) is None


def test_an_index_that_is_no_index_is_no_error():
    text = loop_module().text
    for index in ("9" * 5000, "-1", "x", "³"):
        module = parse_hlo_module(text.replace("index=2", f"index={index}"))
        assert trip_count(module.instruction("loop")) is None


def test_what_the_compiler_wrote_down_comes_first():
    config = ', backend_config={"known_trip_count":{"n":"7"}}'
    assert trips(config=config) == 7
    assert trips(config=', backend_config={"known_trip_count":{"n":"-7"}}') == 12


def test_a_loop_that_ends_on_data_has_no_count():
    text = LOOP.format(
        start=0, limit=1, step=1, direction="LT", limit_out="%limit.b", config=""
    ).replace("%start = s32[] constant(0)", "%start = s32[] parameter(1)")
    assert trip_count(parse_hlo_module(text).instruction("loop")) is None


def test_the_condition_runs_once_more_than_the_body():
    executed = executed_computations(loop_module())
    assert [(e.computation.name, e.trip_count) for e in executed] == [
        ("main", 1),
        ("condition", 13),
        ("body", 12),
    ]


CALLS = """HloModule calls

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%p)
}

%twice (q: f32[4]) -> f32[4] {
  %q = f32[4]{0} parameter(0)
  ROOT %fusion = f32[4]{0} fusion(%q), kind=kLoop, calls=%fused
}

%left (l: f32[4]) -> f32[4] {
  %l = f32[4]{0} parameter(0)
  ROOT %lc = f32[4]{0} call(%l), to_apply=%twice
}

%right (r: f32[4]) -> f32[4] {
  %r = f32[4]{0} parameter(0)
  ROOT %rc = f32[4]{0} exponential(%r)
}

%wrapped (w: f32[4]) -> f32[4] {
  %w = f32[4]{0} parameter(0)
  ROOT %wc = f32[4]{0} custom-call(%w), custom_call_target="kernel"
}

ENTRY %main (x: f32[4], which: pred[]) -> f32[] {
  %x = f32[4]{0} parameter(0)
  %which = pred[] parameter(1)
  %one = f32[4]{0} call(%x), to_apply=%twice
  %two = f32[4]{0} call(%one), to_apply=%twice
  %start = ((f32[4]{0}), f32[4]{0}, s32[]) async-start(%two), calls=%wrapped
  %done = f32[4]{0} async-done(%start), calls=%wrapped
  BRANCH
  %zero = f32[] constant(0)
  ROOT %total = f32[] reduce(%done, %zero), dimensions={0}, to_apply=%add
}
"""
CONDITIONAL = (
    "%branch = f32[4]{0} conditional(%which, %x, %x), "
    "true_computation=%left, false_computation=%right"
)


def counts(text):
    return {e.computation.name: e.trip_count for e in executed_computations(parse_hlo_module(text))}


def test_calls_add_up_and_fusions_and_reducers_are_not_stepped_through():
    assert counts(CALLS.replace("BRANCH", "")) == {"main": 1, "twice": 2, "wrapped": 1}


def test_how_often_a_branch_runs_is_not_known():
    assert counts(CALLS.replace("BRANCH", CONDITIONAL)) == {
        "main": 1,
        "wrapped": 1,
        "left": None,
        "right": None,
        "twice": None,
    }


def test_callers_come_before_callees():
    names = list(counts(CALLS.replace("BRANCH", CONDITIONAL)))
    assert names.index("left") < names.index("twice")
    assert names[0] == "main"


def test_loops_in_loops_multiply():
    inner = loop_module().text.split("ENTRY")[0].partition("\n")[2]
    outer = inner.replace("%body", "%outer").replace("%condition", "%outer_condition")
    outer = outer.replace(
        "%negated = f32[4]{0} negate(%value)",
        "%zero = s32[] constant(0)\n"
        "  %in = (s32[], f32[4]{0}, s32[]) tuple(%zero, %value, %limit.b)\n"
        "  %inner = (s32[], f32[4]{0}, s32[]) while(%in), condition=%condition, body=%body,"
        ' backend_config={"known_trip_count":{"n":"3"}}\n'
        "  %negated = f32[4]{0} get-tuple-element(%inner), index=1",
    )
    entry = loop_module().text.split("ENTRY")[1].replace("%condition", "%outer_condition")
    text = f"HloModule nested\n{inner}\n{outer}\nENTRY{entry.replace('%body', '%outer')}"
    assert counts(text) == {
        "main": 1,
        "outer_condition": 13,
        "outer": 12,
        "condition": 48,
        "body": 36,
    }


def test_text_that_calls_itself_in_a_circle_is_read_without_a_count():
    text = """HloModule circle
%again (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %c = f32[4]{0} call(%p), to_apply=%again
}
ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  ROOT %c.1 = f32[4]{0} call(%x), to_apply=%again
}
"""
    assert counts(text) == {"main": 1, "again": None}


@pytest.mark.parametrize(
    ("line", "work"),
    [
        ("parameter(1)", False),
        ("constant(1)", False),
        ("bitcast(%p)", False),
        ("get-tuple-element(%p), index=0", False),
        ("copy-start(%p)", False),
        ("copy-done(%p)", False),
        ("slice-start(%p)", False),
        ("all-gather-start(%p)", True),
        ("all-gather-done(%p)", False),
        ("async-start(%p)", False),
        ("async-update(%p)", False),
        ("async-done(%p)", False),
        ("call-start(%p)", False),
        ("call-update(%p)", False),
        ("call-done(%p)", False),
        ("custom-call-start(%p)", True),
        ("custom-call-update(%p)", False),
        ("custom-call-done(%p)", False),
        ("dynamic-update-slice-start(%p)", False),
        ("send(%p)", True),
        ("send-done(%p)", False),
        ("fusion-start(%p)", True),
        ("fusion-update(%p)", False),
        ("dynamic-update-slice(%p)", True),
        ("call(%p)", False),
        ("while(%p)", False),
        ("copy(%p)", True),
        ("dot(%p, %p)", True),
        ("an-opcode-of-next-year(%p)", True),
        ('custom-call(%p), custom_call_target="tpu_custom_call"', True),
        ('custom-call(%p), custom_call_target="AllocateBuffer"', False),
    ],
)
def test_what_does_work(line, work):
    text = f"""HloModule m
ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %i = f32[4]{{0}} {line}
}}
"""
    assert is_work(parse_hlo_module(text).instruction("i")) is work


def test_a_call_that_runs_beside_others_is_stepped_through():
    text = CALLS.replace("BRANCH", "").replace("async-", "call-")
    text = text.replace("calls=%w", "to_apply=%w")
    assert "call-start(%two), to_apply=%wrapped" in text
    assert counts(text) == {"main": 1, "twice": 2, "wrapped": 1}
    assert [i.name for i in work_instructions(parse_hlo_module(text))] == ["total", "fusion", "wc"]


def test_only_what_is_run_has_figures_of_its_own():
    module = parse_hlo_module(CALLS.replace("BRANCH", ""))
    # The last three are in a fusion, in a reducer, and in a computation that nothing calls.
    work = {name: is_work(module.instruction(name)) for name in ("fusion", "wc", "n", "sum", "rc")}
    assert work == {"fusion": True, "wc": True, "n": False, "sum": False, "rc": False}


def test_a_call_inside_a_fusion_is_a_part_of_the_fusion():
    text = CALLS.replace("BRANCH", "").replace("negate(%p)", "call(%p), to_apply=%right")
    assert not is_work(parse_hlo_module(text).instruction("rc"))
