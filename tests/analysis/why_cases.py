"""Questions about pairs of ops, with what the answer has to hold: program, two names, and words.

Asked of the kept dumps in test_why_not_fused.py and of live compiles in test_why_live.py.
"""

from __future__ import annotations

import pytest

# Structural: no edge, another way round, a reduction in the way.

STRUCTURAL = [
    ("row_softmax.v6e", "reduce_max.7", "fusion.1", "folds 512 elements"),
    ("row_softmax.v6e", "fusion.1", "fusion", "folds 512 elements"),
    ("over_largest.v6e", "abs_reduce_fusion", "broadcast_divide_fusion", "folds 524,288 elements"),
    ("two_sums.v6e", "sine_reduce_fusion", "cosine_reduce_fusion", "read nothing in common"),
    ("norms.v6e", "multiply_reduce_fusion", "fusion", "multiply_reduce_fusion → sqrt.3"),
    ("norms.v6e", "fusion.1", "fusion", "neither reads the other"),
    ("powers_then_matmul.v6e", "fusion", "fusion.1", "neither reads the other"),
    ("two_sums.h100", "input_reduce_fusion", "input_reduce_fusion.1", "read nothing in common"),
    ("rows_and_columns.h100", "input_reduce_fusion", "input_reduce_fusion.1", "both read x.1"),
    ("two_matmuls.h100", "gemm_fusion_dot", "gemm_fusion_dot.1", "→ loop_reduce_fusion.1 →"),
    ("branch_between.h100", "wrapped_exponential", "loop_compare_fusion", "nothing in common"),
    ("factor_between.h100", "loop_sine_fusion", "input_reduce_fusion", "→ input_reduce_fusion.1 →"),
    ("root_for_three.h100", "gemm_fusion_dot.1", "loop_log_plus_one_fusion", "neither reads"),
]

# Blocked: something in between, or a rule in the compiler's words.

BETWEEN = [
    ("row_softmax.v6e", "x.1", "fusion", "an asynchronous copy from HBM into VMEM, S(1)"),
    ("loop_between.v6e", "exp.1", "sine_reduce_fusion", "control flow (while)"),
    ("branch_between.v6e", "exp.5", "cond.1.clone", "control flow (conditional)"),
    ("sum_over_chips.v6e", "fusion", "sin.0", "a collective (all-reduce)"),
    ("factor_between.v6e", "cosh.1", "fusion", "a copy into another layout"),
    ("factor_between.v6e", "slice.53", "custom-call.17", "a custom call ("),
    ("mlp.v6e", "copy.2", "tuple", "a copy from VMEM, S(1) into HBM"),
    ("loop_between.h100", "wrapped_exponential", "input_reduce_fusion", "control flow (while)"),
    ("branch_between.h100", "wrapped_exponential", "wrapped_sine", "control flow (conditional)"),
    ("factor_between.h100", "input_transpose_fusion", "loop_sine_fusion", "(cusolver_potrf_ffi)"),
    ("sum_over_chips.h100", "gemm_fusion_dot", "loop_convert_fusion", "a collective (all-reduce"),
    ("mlp.h100", "fusion.13", "tuple.1.0", "is the root output of main.6"),
]

BY_WORDS = [
    ("mlp.v6e", "fusion.8", "fusion.10", "No fusing: Should not fuse with elementwise"),
    ("gelu_for_two.v6e", "fusion.7", "fusion.8", "No fusing: producer is tuple."),
    ("layer_norm.v6e", "fusion.1", "multiply_add_fusion", "Should not fuse with elementwise"),
    ("norms.v6e", "sqrt.3", "fusion", "Not fusing MOF"),
    ("mlp.h100", "gemm_fusion_dot", "fusion.13", "the producer is not fusible"),
    ("two_matmuls.h100", "gemm_fusion_dot", "loop_reduce_fusion.1", "the producer is not fusible"),
    (
        "two_sums.h100",
        "input_reduce_fusion.1",
        "input_reduce_fusion.2",
        "both the producer and the consumer contain a reduce",
    ),
    (
        "train_step.h100",
        "loop_reduce_fusion.2",
        "gemm_fusion_dot.5",
        "consumer not eligible as multi-output fusion root.",
    ),
]

# Unprofitable: a price, or a rule about cost in the compiler's words.

PRICED = [
    ("mlp.h100", "loop_multiply_fusion", "input_reduce_fusion", -126.79975),
    ("norms.h100", "wrapped_tanh", "input_reduce_fusion", -52.5825),
    ("powers_then_matmul.h100", "loop_power_fusion", "input_reduce_fusion", -58.74375),
    ("root_for_three.h100", "loop_log_plus_one_fusion", "input_reduce_fusion.1", -177.227),
    ("branch_between.h100", "wrapped_sine", "input_reduce_fusion.1", -2.7125),
    ("factor_between.h100", "loop_sine_fusion", "input_reduce_fusion.1", -2.811),
]

PRICED_ON_TPU = [
    ("heads.v6e", "fusion.2", "fusion.5", -8012.6),
    ("heads_gradient.v6e", "fusion.20", "fusion.13", -39510.0),
]

# Without a price of the pair that was asked for, but in words.

SLOWER_ON_GPU = [
    ("wave_for_two.h100", "input_reduce_tanh_fusion", "input_reduce_fusion"),
    ("gelu_for_two.h100", "input_multiply_reduce_fusion", "input_reduce_fusion"),
]

EXPENSIVE_ON_TPU = [
    ("relu_gradient.v6e", "convolution_add_fusion.2", "convolution_add_fusion.1"),
    ("leaky_gradient.v6e", "convolution_add_fusion.1", "fusion.34"),
    ("silu_gradient.v6e", "convolution_add_fusion.1", "fusion.13"),
    ("clipped_gradient.v6e", "convolution_add_fusion.1", "fusion.37"),
    ("softplus_gradient.v6e", "convolution_add_fusion.2", "fusion.19"),
    ("train_step.v6e", "convolution_add_fusion.3", "convolution_add_fusion.2"),
]


def check_price_on_tpu(answer, gain):
    """Check an answer that rests on a TPU compiler's price, in its cycles."""
    assert answer.kind == "unprofitable"
    assert (answer.gain, answer.unit) == (pytest.approx(gain, abs=1), "cycles")
    assert "cycles longer" in answer.headline
    decision = answer.evidence[0].decision
    assert decision.unfused_cost - decision.fused_cost == answer.gain
    # This compiler's log does not tell the queue, so where the pair stood in it is not known.
    assert answer.queue is None
