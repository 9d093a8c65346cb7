"""Programs that ask for more memory than a TPU has, and what the real compiler says of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

from hlo_widgets.compiler import compile_for
from hlo_widgets.errors import CompileError
from tests.compiler.support import needs_libtpu

pytestmark = needs_libtpu


def spec(*dimensions):
    return jax.ShapeDtypeStruct(dimensions, jnp.float32)


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def report_of(fun, *args, **options):
    with pytest.raises(CompileError) as caught:
        compile_for(fun, *args, **options)
    assert caught.value.memory_report.text == caught.value.reason
    return caught.value.memory_report


def test_a_kernel_whose_blocks_are_too_large():
    block = pl.BlockSpec((1024, 2048), lambda i: (i, 0))
    add = pl.pallas_call(
        add_kernel,
        out_shape=spec(8192, 2048),
        grid=(8,),
        in_specs=[block, block],
        out_specs=block,
    )
    report = report_of(add, spec(8192, 2048), spec(8192, 2048), target="v5e")
    assert report.memory_space == "vmem"
    # Two inputs and an output, each of 8 MiB, twice: the next block is on its way.
    assert report.used_bytes == 6 * 8 * 2**20
    assert report.limit_bytes == 16 * 2**20
    assert report.excess_bytes == report.used_bytes - report.limit_bytes
    assert report.allocations[0].instruction == "tpu_custom_call.1"
    assert report.allocations[0].op_name.endswith("/pallas_call")


def test_a_window_that_is_larger_than_vmem():
    big = spec(4096, 9216)
    report = report_of(pl.pallas_call(add_kernel, out_shape=big), big, big, target="v6e")
    assert report.memory_space == "vmem"
    assert report.allocations[0].size_bytes == 4096 * 9216 * 4
    assert report.allocations[0].shape == "f32[4096,9216]"
    assert "window allocation" in report.allocations[0].purpose


@pytest.mark.parametrize(("target", "gib"), [("v5e", 15.75), ("v6e", 31.24)])
def test_a_program_that_needs_more_hbm_than_there_is(target, gib):
    report = report_of(lambda x: x + 1, spec(100_000, 100_000), target=target)
    assert report.memory_space == "hbm"
    assert report.limit_bytes == round(gib * 2**30)
    assert report.used_bytes > 2 * 4 * 100_000**2 * 0.99
    assert report.excess_bytes == report.used_bytes - report.limit_bytes
