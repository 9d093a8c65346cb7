"""Cycle estimates: the compiler's figure, with the name of the model it came from."""

import json

import pytest

from hlo_widgets.analysis import NO_ESTIMATE, CostEstimate, cost_estimate
from hlo_widgets.hlo import parse_hlo_module


def estimate_of(config):
    text = f"""HloModule m
ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %n = f32[4]{{0}} negate(%p), backend_config={json.dumps(config)}
}}
"""
    return cost_estimate(parse_hlo_module(text).instruction("n"))


def tpu(cycles):
    return estimate_of({"window_config": {"estimated_cycles": cycles}})


def gpu(*entries):
    costs = [{"name": name, "end_to_end_cycles": cycles} for name, cycles in entries]
    return estimate_of({"reification_cost": costs})


def test_a_tpu_estimate_names_window_config():
    assert tpu("5604") == CostEstimate(5604, "TPU window_config")


@pytest.mark.parametrize("cycles", ["0", "9223372036854775807", "-1", "many", None, 0])
def test_what_a_tpu_compiler_prints_for_no_estimate_is_none(cycles):
    assert tpu(cycles) == NO_ESTIMATE


def test_an_instruction_without_config_has_no_estimate():
    assert estimate_of({}) == CostEstimate(None, "none")


def test_the_gpu_model_is_chosen_by_preference_and_not_by_order():
    # Figures of a softmax on an H100: the unnamed model is fifty thousand times higher.
    estimate = gpu(("", 65812454.868976235), ("indexing-cost-model", 1272.645), ("sol", 0))
    assert estimate == CostEstimate(1273, "GPU cost model: indexing-cost-model")


def test_the_unnamed_gpu_model_is_called_unnamed():
    assert gpu(("", 31091.94), ("sol", 0)) == CostEstimate(31092, "GPU cost model: unnamed")


def test_an_entry_without_a_name_is_the_unnamed_model():
    assert estimate_of({"reification_cost": [{"end_to_end_cycles": 12.0}]}) == (
        CostEstimate(12, "GPU cost model: unnamed")
    )


def test_a_gpu_model_nobody_has_judged_is_not_shown():
    assert gpu(("a-model-of-next-year", 5.0)) == NO_ESTIMATE


def test_gpu_cycles_that_are_no_figure_are_skipped_for_the_next_model():
    unnamed = CostEstimate(7, "GPU cost model: unnamed")
    assert gpu(("indexing-cost-model", "NaN"), ("", 7)) == unnamed
    assert gpu(("indexing-cost-model", float("inf")), ("", 1e300), ("sol", True)) == NO_ESTIMATE


def test_less_than_a_cycle_is_still_not_zero():
    assert gpu(("", 0.2)).estimated_cycles == 1
