"""The same program with the fusion passes off, by the real compilers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pandas as pd
import pytest

import hlo_widgets as hw
from hlo_widgets.errors import CompileError
from tests.compiler.support import SOFTMAX_SPEC, mlp, needs_cuda, needs_libtpu, row_softmax

MLP_SPECS = tuple(
    jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    for shape in [(1024, 512), (512, 2048), (2048, 512), (2048,)]
)


@needs_libtpu
def test_the_mlp_on_v6e_takes_thirteen_times_the_cycles_unfused():
    both = hw.without_fusion(mlp, *MLP_SPECS, target="v6e")
    assert both.passes_off == ("tpu_fusion",)
    assert both.fused_figures.estimated_cycles == 38_623
    assert both.unfused_figures.estimated_cycles == 501_838
    assert both.cycles_ratio == pytest.approx(501_838 / 38_623)
    assert (both.fused_figures.fusions, both.unfused_figures.fusions) == (6, 2)
    # All in between fits into VMEM, so that only what goes in and out crosses to HBM.
    assert both.bytes_ratio == pytest.approx(1, abs=0.01)
    vmem = both.fused_figures.vmem_traffic, both.unfused_figures.vmem_traffic
    assert vmem[1].total_bytes > 5 * vmem[0].total_bytes
    words = str(both)
    assert "jit_mlp on v6e; unfused: without tpu_fusion" in words
    assert "38,623       501,838    13.0x" in words
    assert "of 7 of 7 fused and 30 of 30 unfused kernels, by TPU window_config" in words


@needs_cuda
def test_a_gpu_moves_more_bytes_and_cycles_of_two_models_have_no_ratio():
    both = hw.without_fusion(mlp, *MLP_SPECS, target="h100")
    assert both.unfused_figures.kernels > 5 * both.fused_figures.kernels
    assert both.bytes_ratio > 3
    assert both.cycles_ratio is None
    assert "do not compare" in str(both)
    assert pd.isna(both.frame.loc["estimated cycles", "ratio"])
    assert both.frame.loc["estimated cycles", "unfused"] > 0


def test_a_cpu_has_no_estimates_and_bytes_in_main_memory():
    both = hw.without_fusion(row_softmax, SOFTMAX_SPEC, target="cpu")
    assert both.frame.loc["bytes from and to main memory", "ratio"] > 2
    assert pd.isna(both.frame.loc["estimated cycles", "fused"])
    assert "not known" in str(both)
    assert both.frame.attrs["passes_off"] == ["fusion"]


def test_own_flags_stay_and_other_passes_can_be_named():
    flags = {"xla_disable_hlo_passes": "cse"}
    both = hw.without_fusion(
        row_softmax, SOFTMAX_SPEC, target="cpu", flags=flags, passes=["fusion", "cse"]
    )
    assert both.fused.flags["xla_disable_hlo_passes"] == "cse"
    assert both.unfused.flags["xla_disable_hlo_passes"] == "cse,fusion"


@needs_cuda
def test_a_program_that_a_compiler_does_not_take_unfused_says_so():
    # A GPU compiler makes code for fusions alone: it wraps what stayed single.
    off = ["priority-fusion", "fusion-wrapper"]
    words = "it compiles, but not with priority-fusion, fusion-wrapper off: .*exponential"
    with pytest.raises(CompileError, match=words):
        hw.without_fusion(row_softmax, SOFTMAX_SPEC, target="h100", passes=off)
