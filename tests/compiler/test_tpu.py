"""The figures of TPU compiles, and both ways that lead to them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

from hlo_widgets.compiler import compile_for, find_target, list_targets
from hlo_widgets.compiler.exporting import export_exactly, export_publicly
from hlo_widgets.compiler.orders import Order, compile_program
from hlo_widgets.compiler.shardings import Call
from hlo_widgets.errors import CompileError
from tests.compiler.support import (
    SMALL_MLP_SPECS,
    SOFTMAX_SPEC,
    add_one,
    estimated_cycles,
    mlp,
    needs_libtpu,
    row_softmax,
    vmem_bytes,
    worker_that,
)

pytestmark = needs_libtpu

TPUS = [target.name for target in list_targets() if target.platform == "tpu"]
SPEC = jax.ShapeDtypeStruct((256, 256), jnp.float32)


@pytest.mark.parametrize(
    ("target", "cycles"),
    [
        ("v5e", [8340, 10004, 13544]),
        ("v5p", [4522, 5354, 6838]),
        ("v6e", [5604, 6212, 8740]),
        ("tpu7x", [4045, 5233, 7181]),
    ],
)
def test_row_softmax_has_the_recorded_cycles(target, cycles):
    result = compile_for(row_softmax, SOFTMAX_SPEC, target=target)
    assert estimated_cycles(result.hlo_text) == cycles
    assert result.notes == ()


def test_row_softmax_on_v6e_has_the_recorded_vmem_and_names():
    result = compile_for(row_softmax, SOFTMAX_SPEC)
    assert result.target == "v6e"
    assert vmem_bytes(result.hlo_text) == [1052672, 1146880, 1196032]
    assert result.hlo_text.startswith("HloModule jit_row_softmax, is_scheduled=true")
    assert "%x.1 = bf16[1024,512]" in result.hlo_text
    assert 'op_name="jit(row_softmax)/reduce_max"' in result.hlo_text
    assert result.versions["libtpu"]
    assert "TPU v6 lite" in result.versions["compiler"]


@pytest.mark.parametrize("target", TPUS)
def test_every_listed_tpu_compiles(target):
    text = compile_for(add_one, SPEC, target=target).hlo_text
    assert len(estimated_cycles(text)) == 1


@pytest.mark.parametrize(
    ("fun", "args"),
    [(row_softmax, (SOFTMAX_SPEC,)), (mlp, SMALL_MLP_SPECS)],
    ids=["softmax", "mlp"],
)
def test_the_public_way_gives_the_same_figures(fun, args):
    target = find_target("v6e")
    by_way = {
        export.__name__: compile_program(
            export(Call(fun, args), "tpu"), Order(target, {}, "tpu"), {}
        ).hlo_text
        for export in (export_exactly, export_publicly)
    }
    exact, public = by_way["export_exactly"], by_way["export_publicly"]
    assert "HloModule jit_call" in public
    assert f"HloModule jit_{fun.__name__}" in exact
    assert estimated_cycles(exact) == estimated_cycles(public) != []
    assert vmem_bytes(exact) == vmem_bytes(public) != []


def test_a_compiler_without_estimates_is_named_as_such(changed_settings):
    changed_settings.command = worker_that(
        "from hlo_widgets.compiler import toolchains",
        "toolchains._FIGURE['tpu'] = 'a word that this compiler does not print'",
    )
    (note,) = compile_for(row_softmax, SOFTMAX_SPEC).notes
    assert "prints no cycle and VMEM estimates" in note
    assert 'pip install "libtpu>=0.0.45"' in note


def test_a_program_without_anything_to_estimate_is_no_reason_to_say_so(changed_settings):
    result = compile_for(lambda: 1.0)  # a new worker, which has seen no estimate yet
    assert estimated_cycles(result.hlo_text) == []
    assert result.notes == ()


def test_effect_of_a_flag():
    two_outputs = functools.partial(
        compile_for, lambda x: (jnp.exp(x) + 1, jnp.sum(jnp.exp(x))), SPEC
    )
    default = two_outputs()
    changed = two_outputs(flags={"xla_jf_enable_multi_output_fusion": "false"})
    assert changed.flags == {"xla_jf_enable_multi_output_fusion": False}
    assert default.hlo_text.count(" fusion(") < changed.hlo_text.count(" fusion(")


def test_a_flag_value_that_cannot_be_read():
    with pytest.raises(CompileError, match="Failed to parse 'abc' into flag"):
        compile_for(add_one, SPEC, flags={"xla_jf_enable_multi_output_fusion": "abc"})


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def test_a_pallas_kernel():
    add = pl.pallas_call(add_kernel, out_shape=SPEC)
    text = compile_for(jax.jit(add), SPEC, SPEC).hlo_text
    assert 'custom_call_target="tpu_custom_call"' in text


def test_a_kernel_that_asks_for_too_much_vmem_brings_the_compilers_report():
    big = jax.ShapeDtypeStruct((4096, 8192 + 1024), jnp.float32)
    add = pl.pallas_call(add_kernel, out_shape=big)
    with pytest.raises(CompileError, match=r"RESOURCE_EXHAUSTED.*vmem"):
        compile_for(add, big, big)


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: jax.lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(256), x),
        lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
        lambda x: x + jax.random.normal(jax.random.key(0), x.shape),
        jax.grad(lambda x: jnp.sum(jax.nn.gelu(x @ x, approximate=False))),
        jax.jit(lambda x: x * 2, donate_argnums=0),
        lambda x: jax.lax.while_loop(lambda y: jnp.sum(y) < 10, lambda y: y + x, x),
    ],
    ids=["scan", "cond", "random", "grad", "donated", "while"],
)
def test_programs_of_every_shape(fun):
    assert compile_for(fun, SPEC).hlo_text.startswith("HloModule jit_")


def picked_along(x, indices):
    """What a loss does: libtpu gathers beside the matrix unit, in words that jaxlib cannot read."""
    return jnp.take_along_axis(x, indices[..., None], axis=-1)


@pytest.mark.parametrize("export", [export_exactly, export_publicly])
def test_what_jaxlib_cannot_read_back_is_read_from_a_dump(export, changed_settings, tmp_path):
    changed_settings.command = worker_that(
        f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}",
    )
    specs = (
        jax.ShapeDtypeStruct((8, 256, 1024), jnp.float32),
        jax.ShapeDtypeStruct((8, 256), jnp.int32),
    )
    target = find_target("v6e")
    program = export(Call(picked_along, specs), "tpu")
    result = compile_program(program, Order(target, {}, "tpu"), {})
    assert "the compiler's own dump after code generation" in result.notes[0]
    updates = [op for op in result.module.instructions() if op.opcode == "async-update"]
    assert any(len(update.operands) == 3 for update in updates)
    assert estimated_cycles(result.hlo_text) != []
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_a_dump_holds_what_the_compiler_prints(changed_settings):
    printed = compile_for(row_softmax, SOFTMAX_SPEC).module
    changed_settings.command = worker_that(
        "import jax",
        "from hlo_widgets.compiler import lowered",
        "text = lowered._text",
        "def unreadable(): raise jax.errors.JaxRuntimeError('INTERNAL: unreadable')",
        "lowered._text = lambda _, *others: text(unreadable, *others)",
    )
    result = compile_for(row_softmax, SOFTMAX_SPEC)
    assert "the compiler's own dump after code generation" in result.notes[0]

    def facts(module):
        return [
            (op.parent.name, op.name, str(op.shape), op.metadata.op_name, op.backend_config)
            for op in module.instructions()
        ]

    assert facts(result.module) == facts(printed)
    assert result.module.name == printed.name
