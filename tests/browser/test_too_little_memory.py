"""A slider that asks for more memory than there is, in a real JupyterLab."""

from __future__ import annotations

from tests.browser.controls_page import ControlsPage
from tests.compiler.support import needs_libtpu

KERNEL = """
import hlo_widgets as hw, jax, jax.numpy as jnp
from jax.experimental import pallas as pl

def double_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def doubled(x):
    double = pl.pallas_call(double_kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))
    return double(jnp.exp(x)).sum()

explorer = hw.explore(doubled, hw.spec("f32[256,256]"), target="v6e")
explorer
"""


@needs_libtpu
def test_the_op_that_asked_is_a_click_away_in_the_picture_of_before(open_notebook):
    notebook = open_notebook([KERNEL])
    notebook.run_all()
    page = ControlsPage(notebook)
    page.write("x", "f32[8192,8192]")
    page.wait_state("failed")
    told = page.failure.inner_text()
    assert "too little VMEM: 256 MiB asked for, 128 MiB more than the 128 MiB there are" in told
    assert "The compiler's own words:" in told
    assert page.is_stale()
    page.controls.locator(".hw-memory-askers button", has_text="doubled.1").click()
    page.page.locator('.hw-box.hw-selected[data-name="doubled.1"]').wait_for()
    notebook.screenshot("too-little-memory")
    page.write("x", "f32[512,512]")
    page.wait_state("ready")
    assert not page.controls.locator(".hw-memory-askers").is_visible()
