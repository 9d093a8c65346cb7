"""A recompile that runs out of memory names the op that asked, in the picture of before."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import hlo_widgets as hw
from hlo_widgets.errors import CompileError
from tests.compiler.support import needs_libtpu

pytestmark = needs_libtpu


def double_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


def doubled(x):
    double = pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    return double(jnp.exp(x)).sum()


def test_the_op_that_asked_for_too_much_is_linked():
    explorer = hw.explore(doubled, hw.spec("f32[256,256]"), target="v6e")
    controls = explorer._controls
    assert "memory_askers" not in controls.view.status
    with pytest.raises(CompileError, match="too little VMEM: 256 MiB asked for"):
        explorer.recompile(hw.spec("f32[8192,8192]"))
    (name,) = controls.view.status["memory_askers"]
    assert explorer.module.instruction(name).opcode == "custom-call"
    for odd in (None, "0", 1, -1):
        controls._on_message({"type": "go", "number": odd})
    assert explorer.selected == ""
    controls._on_message({"type": "go", "number": 0})
    assert explorer.selected == name
    explorer.recompile(hw.spec("f32[128,128]"))
    assert controls.view.status["state"] == "ready"
    explorer.close()
