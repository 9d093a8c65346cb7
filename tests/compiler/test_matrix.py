"""Programs of every shape, for a platform of every kind."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from hlo_widgets.compiler import compile_for
from tests.compiler.support import needs_cuda, needs_libtpu

# One target of each platform in the quick suite, and the ends of each platform's range beside it.
TARGETS = [
    "cpu",
    pytest.param("v6e", marks=needs_libtpu),
    pytest.param("h100", marks=needs_cuda),
    *(
        pytest.param(name, marks=[needs_libtpu, pytest.mark.slow])
        for name in ("v2", "v3", "v4", "v5e", "v5p", "tpu7x")
    ),
    *(
        pytest.param(name, marks=[needs_cuda, pytest.mark.slow])
        for name in ("v100", "a100", "b200", "rtx6000pro")
    ),
]
TPU_KERNELS = pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=[needs_libtpu, *([] if name == "v6e" else [pytest.mark.slow])])
        for name in ("v4", "v5e", "v5p", "v6e", "tpu7x")
    ],
)
GPU_KERNELS = pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=[needs_cuda, *([] if name == "h100" else [pytest.mark.slow])])
        for name in ("a100", "h100", "b200")
    ],
)

X = jax.ShapeDtypeStruct((128, 128), jnp.float32)


def scan(x):
    return jax.lax.scan(lambda carry, row: (jnp.tanh(carry + row), carry.sum()), x[0], x)


def while_loop(x):
    return jax.lax.while_loop(lambda y: jnp.sum(y) < 10.0, lambda y: y + jnp.abs(x), x)


def cond(x):
    return jax.lax.cond(x[0, 0] > 0, jnp.sin, lambda y: y @ y, x)


def switch(x):
    return jax.lax.switch(jnp.int32(x[0, 0]), [jnp.sin, jnp.cos, jnp.tanh], x)


@jax.custom_vjp
def clipped(x):
    return jnp.tanh(x)


clipped.defvjp(lambda x: (jnp.tanh(x), x), lambda x, g: (jnp.clip(g * x, -1.0, 1.0),))


@jax.custom_jvp
def bent(x):
    return jnp.abs(x)


bent.defjvp(lambda primals, tangents: (bent(primals[0]), tangents[0] * jnp.sign(primals[0])))


@jax.checkpoint
def block(x):
    return jnp.sin(jnp.tanh(x @ x))


def keys(key, x):
    one, two = jax.random.split(key)
    return jax.random.normal(one, x.shape) + jax.random.bernoulli(two, 0.5, x.shape)


def tree(p):
    return {"y": p["w"] @ p["x"] + p["b"][0]}


def scalar(fun):
    return lambda *args: jnp.sum(jax.tree.leaves(fun(*args))[0])


def per_row(fun):
    return jax.vmap(lambda row: fun(row[None] * jnp.ones((8, 1), row.dtype)))


PROGRAMS = {
    "elementwise": (lambda x: jnp.exp(x) + 1, (X,)),
    "product": (lambda x: x @ x, (X,)),
    "scan": (scan, (X,)),
    "while": (while_loop, (X,)),
    "cond": (cond, (X,)),
    "switch": (switch, (X,)),
    "custom_vjp": (clipped, (X,)),
    "custom_jvp": (bent, (X,)),
    "remat": (block, (X,)),
    "random_key": (keys, (jax.random.key(0), X)),
    "raw_random_key": (keys, (jax.random.PRNGKey(0), X)),
    "pytree": (tree, ({"w": X, "x": X, "b": (np.ones(128, np.float32),)},)),
    "donated": (jax.jit(lambda x: x * 2, donate_argnums=0), (X,)),
    "static": (jax.jit(lambda x, n: x * n, static_argnums=1), (X, 3)),
    "sort_and_gather": (lambda x: jnp.take(jnp.sort(x, axis=0), jnp.argmax(x, 1), axis=0), (X,)),
    "convolution": (
        lambda x: jax.lax.conv_general_dilated(
            x[None, None], jnp.ones((4, 1, 3, 3)), (1, 1), "SAME"
        ),
        (X,),
    ),
    "grad_of_scan": (jax.grad(scalar(scan)), (X,)),
    "grad_of_cond": (jax.grad(scalar(cond)), (X,)),
    "grad_of_switch": (jax.grad(scalar(switch)), (X,)),
    "grad_of_custom_vjp": (jax.grad(scalar(clipped)), (X,)),
    "grad_of_custom_jvp": (jax.grad(scalar(bent)), (X,)),
    "grad_of_remat": (jax.grad(scalar(block)), (X,)),
    "grad_of_random": (jax.grad(scalar(keys), argnums=1), (jax.random.key(0), X)),
    "grad_of_donated": (jax.jit(jax.grad(scalar(block)), donate_argnums=0), (X,)),
    "forward_of_while": (lambda x: jax.jvp(while_loop, (x,), (x,)), (X,)),
    "vmap_of_scan": (per_row(scan), (X,)),
    "vmap_of_while": (per_row(while_loop), (X,)),
    "vmap_of_cond": (per_row(lambda x: cond(x[:, :8])), (X,)),
    "vmap_of_switch": (per_row(switch), (X,)),
    "vmap_of_custom_vjp": (per_row(clipped), (X,)),
    "vmap_of_remat": (per_row(lambda x: block(x[:, :8])), (X,)),
    "vmap_of_random": (
        jax.vmap(lambda key: jax.random.normal(key, (8,))),
        (jax.random.split(jax.random.key(0), 4),),
    ),
    "vmap_of_grad_of_scan": (per_row(jax.grad(scalar(scan))), (X,)),
    "grad_of_vmap_of_cond": (jax.grad(scalar(per_row(lambda x: cond(x[:, :8])))), (X,)),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_compiles_for_every_platform(program, target):
    fun, args = PROGRAMS[program]
    result = compile_for(fun, *args, target=target)
    assert result.hlo_text.startswith("HloModule jit_")
    assert result.module.entry_computation.instructions
    if "donated" in program:
        assert "input_output_alias={" in result.hlo_text


@pytest.mark.parametrize("target", TARGETS)
def test_64_bits(target):
    with jax.enable_x64(True):
        result = compile_for(
            lambda x, n: (x * 2 + n, jnp.sum(x)),
            jax.ShapeDtypeStruct((64, 64), jnp.float64),
            jax.ShapeDtypeStruct((), jnp.int64),
            target=target,
        )
    # A TPU computes 64 bits in pairs of 32; what goes in and out is f64 everywhere.
    assert "f64[64,64]" in result.hlo_text


def add_kernel(x_ref, y_ref, o_ref):
    o_ref[...] = x_ref[...] + y_ref[...]


def double_kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2


BLOCK = pl.BlockSpec((64, 128), lambda i: (i, 0))


def kernels(**options):
    """Kernels of Pallas, with options for the compiler of kernels, by name."""
    double = pl.pallas_call(double_kernel, out_shape=X, **options)
    in_place = pl.pallas_call(double_kernel, out_shape=X, input_output_aliases={0: 0}, **options)
    in_blocks = {"grid": (2,), "in_specs": [BLOCK, BLOCK], "out_specs": BLOCK}
    return {
        "whole": (pl.pallas_call(add_kernel, out_shape=X, **options), (X, X)),
        "blocks": (pl.pallas_call(add_kernel, out_shape=X, **in_blocks, **options), (X, X)),
        "in_place": (jax.jit(in_place, donate_argnums=0), (X,)),
        "in_a_scan": (
            lambda x: jax.lax.scan(lambda carry, _: (double(carry), None), x, length=3),
            (X,),
        ),
        "vmapped": (jax.vmap(double), (jax.ShapeDtypeStruct((2, 128, 128), jnp.float32),)),
    }


@TPU_KERNELS
@pytest.mark.parametrize("kernel", kernels())
def test_pallas_kernels_for_tpus(kernel, target):
    fun, args = kernels()[kernel]
    text = compile_for(fun, *args, target=target).hlo_text
    assert 'custom_call_target="tpu_custom_call"' in text


@GPU_KERNELS
@pytest.mark.parametrize("kernel", kernels())
def test_pallas_kernels_for_gpus(kernel, target):
    fun, args = kernels(compiler_params=triton.CompilerParams(num_warps=4))[kernel]
    text = compile_for(fun, *args, target=target).hlo_text
    assert "__gpu$xla.gpu.triton" in text
