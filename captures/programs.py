"""The programs whose compiled text lies in this folder, small enough to read and to draw.

`hlo-widgets capture` compiles them again. Each entry of `PROGRAMS` is a function and the shapes it
is compiled for. The shapes are round numbers that fill a TPU's tiles, so that little in the text is
about padding.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp


def row_softmax(x):
    """Softmax along the rows: two reductions, each ending a kernel."""
    m = jnp.max(x, axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)


def matmul(x, w):
    """A matrix product and nothing to fuse with it."""
    return x @ w


def matmul_bias_gelu(x, w, b):
    """A matrix product whose bias and activation can ride along."""
    return jax.nn.gelu(x @ w + b)


def rms_norm(x, gain):
    """Root-mean-square normalization, its mean in float32 as language models do it."""
    mean = jnp.mean(jnp.square(x.astype(jnp.float32)), axis=-1, keepdims=True)
    return (x * jax.lax.rsqrt(mean + 1e-6)).astype(x.dtype) * gain


def attention(q, k, v):
    """Attention written plainly: two products with a softmax between them."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / q.shape[-1] ** 0.5
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)


def scan(state, weights):
    """A recurrent network: a while loop whose body is a product and an activation."""

    def step(state, weight):
        state = jnp.tanh(state @ weight)
        return state, jnp.sum(state, axis=-1)

    return jax.lax.scan(step, state, weights)


def mlp(x, w1, w2, b):
    """Two products with an activation between them, a normalization and a second output."""
    h = jax.nn.gelu(x @ w1 + b)
    y = h @ w2
    v = jnp.var(y, axis=-1, keepdims=True)
    return y * jax.lax.rsqrt(v + 1e-6), jnp.sum(h, axis=0)


def _bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


PROGRAMS = {
    "row_softmax": (row_softmax, (_bf16(1024, 512),)),
    "matmul": (matmul, (_bf16(1024, 512), _bf16(512, 2048))),
    "matmul_bias_gelu": (matmul_bias_gelu, (_bf16(1024, 512), _bf16(512, 2048), _bf16(2048))),
    "rms_norm": (rms_norm, (_bf16(1024, 512), _bf16(512))),
    "attention": (attention, (_bf16(8, 512, 64), _bf16(8, 512, 64), _bf16(8, 512, 64))),
    "scan": (scan, (_bf16(256, 512), _bf16(12, 512, 512))),
    # Last, since its text lies here for every target there is.
    "mlp": (mlp, (_bf16(1024, 512), _bf16(512, 2048), _bf16(2048, 512), _bf16(2048))),
}
