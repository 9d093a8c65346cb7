"""A training step of 24 unrolled transformer layers, compiled for a TPU v6e that is not there.

Run as a program it writes the HLO text to standard output: about 8 MB.
"""

from __future__ import annotations

import os
import sys

LAYERS, WIDTH, HEADS, BATCH, LENGTH, WORDS = 24, 256, 8, 4, 256, 1024


def train_step():
    """Return the step and the shapes of its arguments."""
    import jax
    import jax.numpy as jnp

    def norm(x, scale):
        return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale

    def layer(x, p):
        h = norm(x, p["norm1"])
        q, k, v = (
            jnp.einsum("btd,dhk->bthk", h, p[name].reshape(WIDTH, HEADS, -1)) for name in "qkv"
        )
        scores = jnp.einsum("bthk,bshk->bhts", q, k) / (WIDTH // HEADS) ** 0.5
        mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        scores = jax.nn.softmax(jnp.where(mask, scores, -1e9).astype(jnp.float32)).astype(x.dtype)
        mixed = jnp.einsum("bhts,bshk->bthk", scores, v).reshape(x.shape)
        x = x + mixed @ p["o"]
        h = norm(x, p["norm2"])
        return x + (jax.nn.gelu(h @ p["up"]) * (h @ p["gate"])) @ p["down"]

    def loss(params, tokens):
        x = params["embed"][tokens]
        for p in params["layers"]:
            x = layer(x, p)
        logits = (norm(x, params["norm"]) @ params["embed"].T).astype(jnp.float32)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], axis=-1)
        return -jnp.mean(picked)

    def step(params, mean, square, tokens):
        value, grads = jax.value_and_grad(loss)(params, tokens)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(m.dtype), mean, grads)
        square = jax.tree.map(
            lambda s, g: 0.99 * s + 0.01 * jnp.square(g.astype(s.dtype)), square, grads
        )
        params = jax.tree.map(
            lambda p, m, s: (p - 1e-3 * m / (jnp.sqrt(s) + 1e-8)).astype(p.dtype),
            params,
            mean,
            square,
        )
        return params, mean, square, value

    def spec(*shape, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(shape, dtype)

    one = {
        "norm1": spec(WIDTH),
        "norm2": spec(WIDTH),
        **{name: spec(WIDTH, WIDTH) for name in "qkvo"},
        "up": spec(WIDTH, 4 * WIDTH),
        "gate": spec(WIDTH, 4 * WIDTH),
        "down": spec(4 * WIDTH, WIDTH),
    }
    params = {"embed": spec(WORDS, WIDTH), "norm": spec(WIDTH), "layers": [one] * LAYERS}
    moments = jax.tree.map(lambda p: spec(*p.shape, dtype=jnp.float32), params)
    return step, params, moments, moments, spec(BATCH, LENGTH, dtype=jnp.int32)


def train_step_text() -> str:
    """Compile the step and return its text after code generation."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
    os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
    os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
    import jax
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform="tpu", topology_name="v6e:1x1")
    place = jax.sharding.SingleDeviceSharding(topology.devices[0])
    step, *arguments = train_step()
    jitted = jax.jit(step, in_shardings=place, out_shardings=place, donate_argnums=(0, 1, 2))
    return jitted.lower(*arguments).compile().as_text()


if __name__ == "__main__":
    sys.stdout.write(train_step_text())
