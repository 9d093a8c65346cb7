"""JAX functions whose compiled text the reader and XLA's parser must read alike; as a program,
compiles them.

`python programs.py PLATFORM` with PLATFORM cpu, tpu or cuda writes `{"name": text or null}` as
JSON to standard output. A process of its own, because what it sets holds for a whole process.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

TPU_ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}


def _programs():
    """Name to (function, shapes with types, static details)."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    f32, bf16, s32 = jnp.float32, jnp.bfloat16, jnp.int32

    def a(*shape, dtype=f32):
        return jax.ShapeDtypeStruct(shape, dtype)

    def conv(x, k, **options):
        return lax.conv_general_dilated(x, k, (1, 1), "SAME", **options)

    def key_of(x):
        return jax.random.wrap_key_data(x, impl="threefry2x32")

    def max_pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def attention(q, k, v):
        return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v

    def mlp(x, w, b):
        return jax.nn.gelu(x @ w + b)

    nhwc = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    return {
        "row_softmax": (jax.nn.softmax, a(256, 512, dtype=bf16)),
        "matmul": (jnp.matmul, a(256, 256, dtype=bf16), a(256, 512, dtype=bf16)),
        "mlp": (mlp, a(256, 256, dtype=bf16), a(256, 512, dtype=bf16), a(512, dtype=bf16)),
        "mlp_grad": (jax.grad(lambda *x: mlp(*x).sum()), a(64, 128), a(128, 256), a(256)),
        "attention": (attention, *[a(4, 128, 64, dtype=bf16)] * 3),
        "attention_grad": (jax.grad(lambda *x: attention(*x).sum()), *[a(2, 64, 64)] * 3),
        "layer_norm": (
            lambda x: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-6),
            a(128, 512),
        ),
        "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(8), x), a(16, 8)),
        "scan_grad": (
            jax.grad(lambda x: lax.scan(lambda c, y: (jnp.sin(c + y), c), 0.0, x)[0]),
            a(16),
        ),
        "while": (lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, x), a(8)),
        "fori": (lambda x: lax.fori_loop(0, 10, lambda i, c: c + i, x), a(8)),
        "cond": (lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), a(dtype=jnp.bool_), a(128)),
        "switch": (
            lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x),
            a(dtype=s32),
            a(8, 128),
        ),
        "nested_control": (
            lambda x: lax.fori_loop(
                0, 3, lambda i, c: lax.cond(i > 1, lambda y: y * 2, lambda y: y.sum() + y, c), x
            ),
            a(8),
        ),
        "conv2d": (lambda x, k: conv(x, k, **nhwc), a(2, 16, 16, 8), a(3, 3, 8, 16)),
        "conv2d_grad": (
            jax.grad(lambda x, k: conv(x, k, **nhwc).sum(), 1),
            a(2, 16, 16, 8),
            a(3, 3, 8, 16),
        ),
        "conv_grouped": (
            lambda x, k: conv(x, k, feature_group_count=4, **nhwc),
            a(2, 8, 8, 8),
            a(3, 3, 2, 8),
        ),
        "conv_transpose": (
            lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"),
            a(2, 8, 8, 4),
            a(3, 3, 4, 4),
        ),
        "fft": (jnp.fft.fft, a(8, 64, dtype=jnp.complex64)),
        "rfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), a(8, 64)),
        "sort": (jnp.sort, a(8, 64)),
        "argsort": (jnp.argsort, a(64)),
        "sort_pairs": (lambda k, v: lax.sort((k, v), num_keys=1), a(64), a(64, dtype=s32)),
        "top_k": (lambda x: lax.top_k(x, 4), a(8, 64)),
        "argmax": (lambda x: (jnp.argmax(x, -1), x.max(-1)), a(8, 64)),
        "scatter_add": (lambda x, i, u: x.at[i].add(u), a(64, 8), a(16, dtype=s32), a(16, 8)),
        "gather": (lambda x, i: x[i], a(64, 8), a(16, dtype=s32)),
        "embedding_grad": (
            jax.grad(lambda t, i: (t[i] ** 2).sum()),
            a(64, 128),
            a(4, 16, dtype=s32),
        ),
        "segment_sum": (
            lambda x, i: jax.ops.segment_sum(x, i, num_segments=8),
            a(64),
            a(64, dtype=s32),
        ),
        "cumsum": (lambda x: jnp.cumsum(x, axis=1), a(8, 64)),
        "associative_scan": (lambda x: lax.associative_scan(jnp.multiply, x), a(64)),
        "normal": (lambda k: jax.random.normal(key_of(k), (32, 32)), a(2, dtype=jnp.uint32)),
        "randint": (lambda k: jax.random.randint(key_of(k), (32,), 0, 9), a(2, dtype=jnp.uint32)),
        "rng_bits": (
            lambda k: lax.rng_bit_generator(k, (16,), dtype=jnp.uint32),
            a(4, dtype=jnp.uint32),
        ),
        "permutation": (
            lambda k, x: jax.random.permutation(key_of(k), x),
            a(2, dtype=jnp.uint32),
            a(64),
        ),
        "complex": (lambda x, y: (x * y + 1j).conj().real, *[a(8, 64, dtype=jnp.complex64)] * 2),
        "int4": (lambda x: x.astype(jnp.int4).astype(f32) * 2, a(8, 128)),
        "int4_matmul": (
            lambda x, w: x @ w.astype(bf16),
            a(64, 128, dtype=bf16),
            a(128, 128, dtype=jnp.int4),
        ),
        "fp8_matmul": (
            lambda x, y: lax.dot(
                x.astype(jnp.float8_e4m3fn), y.astype(jnp.float8_e4m3fn), preferred_element_type=f32
            ),
            a(64, 128),
            a(128, 64),
        ),
        "max_pool": (max_pool, a(2, 16, 16, 8)),
        "max_pool_grad": (jax.grad(lambda x: max_pool(x).sum()), a(2, 16, 16, 8)),
        "dynamic_slice": (
            lambda x, i, u: lax.dynamic_update_slice(
                x, u + lax.dynamic_slice(x, (i, 0), (4, 8)), (i, 0)
            ),
            a(64, 8),
            a(dtype=s32),
            a(4, 8),
        ),
        "donated": (lambda x, y: (x + y, y * 2), a(64, 128), a(64, 128)),
        "cholesky": (jnp.linalg.cholesky, a(8, 8)),
        "triangular_solve": (
            lambda x, b: lax.linalg.triangular_solve(x, b, left_side=True, lower=True),
            a(8, 8),
            a(8, 4),
        ),
        "qr": (jnp.linalg.qr, a(8, 8)),
        "bitcast_clamp": (
            lambda x: lax.clamp(1, lax.population_count(lax.bitcast_convert_type(x, s32)), 20),
            a(64),
        ),
        "remat": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), a(64, 128)),
        "batch_norm": (
            lambda x, s, o: (x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5) * s + o,
            a(4, 8, 8, 16),
            a(16),
            a(16),
        ),
        "pad_reverse": (lambda x: jnp.pad(x[::-1], ((1, 2), (0, 3))), a(8, 8)),
        "tuples": (lambda t: {"a": t["b"][0] + 1, "c": (t["b"][1],)}, {"b": (a(8), a(3, 3))}),
        "constants": (lambda x: x + jnp.array([[1.0, jnp.inf], [jnp.nan, -0.5]]), a(2, 2)),
    }


def _collectives(devices):
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(devices, ("x",))
    size = len(devices)
    ring = [(i, (i + 1) % size) for i in range(size)]
    bodies = {
        "psum": lambda x: lax.psum(x, "x"),
        "all_gather": lambda x: lax.all_gather(x, "x"),
        "ppermute": lambda x: lax.ppermute(x, "x", ring),
        "all_to_all": lambda x: lax.all_to_all(x.reshape(size, -1), "x", 0, 0),
        "psum_scatter": lambda x: lax.psum_scatter(x, "x", tiled=True),
        "axis_index": lambda x: x + lax.axis_index("x"),
    }
    spec = jax.ShapeDtypeStruct(
        (size * size * 128,), jnp.float32, sharding=NamedSharding(mesh, P("x"))
    )
    for name, body in bodies.items():
        mapped = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
        yield f"collective_{name}", jax.jit(mapped).lower(spec)
    rows = NamedSharding(mesh, P("x", None))
    columns = NamedSharding(mesh, P(None, "x"))
    x = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=rows)
    y = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=columns)
    yield "spmd_matmul", jax.jit(lambda x, y: x @ y, out_shardings=rows).lower(x, y)


def _pallas(sharding):
    import jax
    import jax.numpy as jnp
    from jax.experimental import pallas as pl

    def kernel(x, y, out):
        out[...] = x[...] * 2 + y[...]

    shape = jax.ShapeDtypeStruct((128, 128), jnp.float32)
    call = pl.pallas_call(kernel, out_shape=shape)
    yield "pallas", jax.jit(call, in_shardings=sharding, out_shardings=sharding).lower(shape, shape)


def _devices(platform: str):
    import jax
    from jax.experimental import topologies

    if platform == "cpu":
        return jax.devices("cpu")
    if platform == "tpu":
        return topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2x1").devices
    target = (Path(__file__).parent / "h100.textproto").read_text(encoding="utf-8")
    return topologies.get_topology_desc(
        platform="cuda", topology_name="h100", topology="1x1x1", target_config=target
    ).devices


def _lowered(platform: str):
    import jax

    devices = _devices(platform)
    sharding = jax.sharding.SingleDeviceSharding(devices[0])
    for name, (function, *specs) in _programs().items():
        donated = (0,) if name == "donated" else ()
        jitted = jax.jit(
            function, in_shardings=sharding, out_shardings=sharding, donate_argnums=donated
        )
        yield name, lambda jitted=jitted, specs=specs: jitted.lower(*specs)
    if len(devices) > 1:
        for name, lowered in _collectives(devices):
            yield name, lambda lowered=lowered: lowered
    if platform == "tpu":
        for name, lowered in _pallas(sharding):
            yield name, lambda lowered=lowered: lowered


def _main(platform: str, only: list[str]) -> None:
    os.environ["JAX_PLATFORMS"] = "cpu"
    if platform == "cpu":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
    texts: dict[str, str | None] = {}
    for name, lower in _lowered(platform):
        if only and name not in only:
            continue
        try:
            texts[name] = lower().compile().as_text()
        except Exception as error:  # noqa: BLE001 (what one backend cannot compile another can)
            texts[name] = None
            sys.stderr.write(f"{name}: {str(error)[:200]}\n")
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
