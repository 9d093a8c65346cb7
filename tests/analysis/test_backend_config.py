"""`backend_config` is the backend's own: whatever it holds, reading it gives a value or None."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hlo_widgets.analysis import config_fields, config_int, cost_estimate, vmem_use
from hlo_widgets.analysis.backend_config import config_list, config_mapping
from hlo_widgets.hlo import parse_hlo_module

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KNOWN_NAMES = st.sampled_from(
    [
        "window_config",
        "estimated_cycles",
        "estimated_vmem_bytes",
        "used_scoped_memory_configs",
        "scoped_memory_configs",
        "reification_cost",
        "end_to_end_cycles",
        "memory_space",
        "size",
        "name",
    ]
)
CONFIGS = st.dictionaries(
    KNOWN_NAMES,
    JSON_VALUES
    | st.dictionaries(KNOWN_NAMES, JSON_VALUES)
    | st.lists(st.dictionaries(KNOWN_NAMES, JSON_VALUES), max_size=3),
)


def instruction_with(config: str):
    """Return an instruction whose `backend_config` is `config`, verbatim."""
    text = f"""HloModule m

ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %n = f32[4]{{0}} negate(%p), backend_config={config}
}}
"""
    return parse_hlo_module(text).instruction("n")


@settings(deadline=None)  # a busy machine is no failure
@given(CONFIGS)
@example({"reification_cost": {"name": [], "end_to_end_cycles": 1}})
def test_no_config_raises_and_figures_are_whole_or_none(config):
    instruction = instruction_with(json.dumps(config))
    estimate, vmem = cost_estimate(instruction), vmem_use(instruction)
    assert estimate.estimated_cycles is None or estimate.estimated_cycles > 0
    assert (estimate.estimated_cycles is None) == (estimate.source == "none")
    for size in (vmem.vmem_bytes, vmem.limit_bytes, vmem.window_bytes):
        assert size is None or type(size) is int


@pytest.mark.parametrize("config", ['"free text"', '"{not json"', "[1,2]", "7", '"\\"quoted\\""'])
def test_what_is_no_object_has_no_fields(config):
    instruction = instruction_with(config)
    assert dict(config_fields(instruction)) == {}
    assert cost_estimate(instruction).source == "none"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("5604", 5604),
        (5604, 5604),
        ("-3", -3),
        ("0", 0),
        (True, None),
        ("1.5", None),
        (1.5, None),
        ("NaN", None),
        ("", None),
        ("-", None),
        ("٣", None),
        ("²", None),
        ("9" * 5000, None),
        (None, None),
        ([], None),
    ],
)
def test_numbers_are_read_as_protobuf_prints_them(value, number):
    assert config_int({"n": value}, "n") == number


def test_an_absent_field_is_none_and_never_zero():
    assert config_int({}, "n") is None
    assert dict(config_mapping({}, "n")) == {}
    assert config_list({}, "n") == ()


def test_a_single_object_counts_as_a_list_of_one_and_odd_entries_are_left_out():
    assert config_list({"n": {"a": 1}}, "n") == ({"a": 1},)
    assert config_list({"n": [{"a": 1}, "x", None, {"b": 2}]}, "n") == ({"a": 1}, {"b": 2})
