"""Small JAX functions whose fusion decisions the tests ask about; as a program, compiles them.

`python decision_programs.py PLATFORM FOLDER [NAME...]` with PLATFORM tpu (v6e) or cuda (h100)
compiles each with the real compiler and writes `FOLDER/NAME.TARGET.tar.xz`: what the compiler
dumped that a reader of decisions looks at. Of the fusion visualisation only the captions are kept:
its graphs are 95 % of it. Paths of this machine and lines about it are taken out. A process of its
own, because what it sets holds for a whole process.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v6e-1",
    "TPU_VMODULE": "instruction_fusion=10,tpu_instruction_fusion=10,multi_output_fusion=10",
    "TPU_STDERR_LOG_LEVEL": "0",
    "TPU_MIN_LOG_LEVEL": "0",
}
TARGETS = {"tpu": "v6e", "cuda": "h100"}
H100 = Path(__file__).parents[1] / "hlo" / "h100.textproto"


def programs():  # noqa: C901, PLR0915 (a list of programs, to be read one by one)
    """Name to (function, arguments)."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def a(*shape, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(shape, dtype)

    f32 = jnp.float32
    square = a(512, 512)

    def mlp(x, w1, w2, b):
        h = jax.nn.gelu(x @ w1 + b)
        y = h @ w2
        v = jnp.var(y, axis=-1, keepdims=True)
        return y * lax.rsqrt(v + 1e-6), jnp.sum(h, axis=0)

    def row_softmax(x):
        m = jnp.max(x, axis=-1, keepdims=True)
        e = jnp.exp(x - m)
        return e / jnp.sum(e, axis=-1, keepdims=True)

    def layer_norm(x, g, b):
        m = x.mean(-1, keepdims=True)
        v = ((x - m) ** 2).mean(-1, keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-6) * g + b

    def attention(x, wq, wk, wv, wo):
        n, t, d = x.shape
        q, k, v = ((x @ w).reshape(n, t, 8, d // 8) for w in (wq, wk, wv))
        s = jnp.einsum("bthd,bshd->bhts", q, k) / (d // 8) ** 0.5
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        o = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(s, axis=-1), v).reshape(n, t, d)
        return x + o @ wo

    def heads(q, k, v):
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(f32) / 8
        p = jax.nn.softmax(s, axis=-1).astype(q.dtype)
        return jnp.einsum("bhqk,bkhd->bqhd", p, v)

    def heads_gradient(q, k, v):
        def loss(*qkv):
            return (heads(*qkv).astype(f32) ** 2).mean()

        return jax.grad(loss, (0, 1, 2))(q, k, v)

    def train_step(params, x, y):
        def loss(params):
            h = x
            for w, b in params:
                h = jax.nn.relu(h @ w + b)
            return ((h - y) ** 2).mean()

        value, gradients = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

    def over_largest(x):
        return x / jnp.max(jnp.abs(x))

    def two_matmuls(x, v, w):
        return jnp.tanh(x @ v) @ w

    def two_sums(x, y):
        return jnp.sum(jnp.sin(x)), jnp.sum(jnp.cos(y))

    def rows_and_columns(x):
        return jnp.sum(x, axis=0), jnp.max(x, axis=1)

    def loop_between(x):
        return jnp.sin(lax.fori_loop(0, 5, lambda i, c: jnp.cos(c) * 0.5, jnp.exp(x))).sum()

    def branch_between(x, n):
        y = jnp.exp(x)
        return jnp.sin(lax.cond(n > 0, lambda v: v @ v, lambda v: v.T @ v + 1, y)).sum()

    def factor_between(x):
        return jnp.sin(jnp.linalg.cholesky(jnp.cosh(x))).sum()

    def sum_over_chips(x, w):
        return jnp.sin(jnp.tanh(x) @ jnp.cos(w))

    def gelu_for_two(x, w):
        h = jax.nn.gelu(x @ w)
        return jnp.sum(h, axis=0), jnp.sum(h, axis=1), h @ w.T

    def wave_for_two(x):
        h = jnp.tanh(jnp.exp(jnp.sin(x)))
        return jnp.sum(h, axis=0), jnp.sum(h, axis=1)

    def root_for_three(x):
        h = jnp.log1p(jnp.exp(lax.rsqrt(jnp.abs(x) + 1)))
        return jnp.sum(h, axis=0), jnp.max(h, axis=0), jnp.sum(h.T @ h)

    def powers_then_matmul(x, w):
        h = lax.erf(jnp.power(jnp.abs(x), 1.7))
        return h @ w, jnp.sum(h, axis=0)

    def norms(x, w):
        h = jnp.tanh(x / jnp.sqrt(jnp.sum(x * x, axis=1, keepdims=True)))
        return h @ w, h.sum(axis=0), h.T @ h

    def gradient(activation, layers):
        """Of a small network: what one matmul makes is used by the next and by the way back."""

        def loss(weights, x):
            h = x
            for w, b in weights:
                h = activation(h @ w + b)
            return (h**2).mean()

        return jax.grad(loss), [(square, a(512))] * layers, a(256, 512)

    return {
        "mlp": (mlp, a(1024, 512), a(512, 2048), a(2048, 512), a(2048)),
        "row_softmax": (row_softmax, a(1024, 512)),
        "layer_norm": (layer_norm, a(1024, 512), a(512), a(512)),
        "attention": (attention, a(2, 256, 512), *[square] * 4),
        "heads": (heads, *[a(8, 256, 8, 64)] * 3),
        "heads_gradient": (heads_gradient, *[a(8, 256, 8, 64)] * 3),
        "train_step": (train_step, [(square, a(512))] * 4, a(256, 512), a(256, 512)),
        "over_largest": (over_largest, a(1024, 512, dtype=f32)),
        "two_matmuls": (two_matmuls, square, square, square),
        "two_sums": (two_sums, a(1024, 512, dtype=f32), a(512, 2048, dtype=f32)),
        "rows_and_columns": (rows_and_columns, a(1024, 2048, dtype=f32)),
        "loop_between": (loop_between, a(1024, 512, dtype=f32)),
        "branch_between": (branch_between, a(512, 512, dtype=f32), a(dtype=jnp.int32)),
        "factor_between": (factor_between, a(512, 512, dtype=f32)),
        "sum_over_chips": (sum_over_chips, a(1024, 512), a(512, 1024)),
        "gelu_for_two": (gelu_for_two, a(1024, 512), a(512, 2048)),
        "wave_for_two": (wave_for_two, a(2048, 2048, dtype=f32)),
        "root_for_three": (root_for_three, a(2048, 1024, dtype=f32)),
        "powers_then_matmul": (
            powers_then_matmul,
            a(1024, 512, dtype=f32),
            a(512, 1024, dtype=f32),
        ),
        "relu_gradient": gradient(jax.nn.relu, 3),
        "leaky_gradient": gradient(jax.nn.leaky_relu, 3),
        "silu_gradient": gradient(jax.nn.silu, 2),
        "clipped_gradient": gradient(lambda h: jnp.clip(h, -1, 1), 3),
        "softplus_gradient": gradient(jax.nn.softplus, 3),
        "norms": (norms, a(1024, 512, dtype=f32), a(512, 1024, dtype=f32)),
    }


def topology(platform, chips):
    from jax.experimental import topologies

    if platform == "tpu":
        name = "v6e:1x1" if chips == 1 else "v6e:2x2x1"
        return topologies.get_topology_desc(platform="tpu", topology_name=name)
    shape = "1x1x1" if chips == 1 else "1x1x4"
    return topologies.get_topology_desc(
        platform="cuda", topology_name="h100", topology=shape, target_config=H100.read_text()
    )


def compile_program(platform, name, folder):
    """Compile a program and dump into a folder; what the compiler writes to stderr goes along."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

    function, *arguments = programs()[name]
    if name == "sum_over_chips":
        mesh = Mesh(topology(platform, 4).devices, ("chips",))
        inputs = tuple(
            NamedSharding(mesh, PartitionSpec(*s)) for s in ((None, "chips"), ("chips",))
        )
        output = NamedSharding(mesh, PartitionSpec())
    else:
        inputs = output = SingleDeviceSharding(topology(platform, 1).devices[0])
    jitted = jax.jit(function, in_shardings=inputs, out_shardings=output)
    options = {
        "xla_dump_to": str(folder),
        "xla_dump_fusion_visualization": True,
        "xla_dump_hlo_pass_re": ".*fusion.*",
    }
    sys.stderr.flush()
    kept = os.dup(2)
    with (folder / "compiler.log").open("wb") as log:
        os.dup2(log.fileno(), 2)
        try:
            jitted.lower(*arguments).compile(compiler_options=options)
        finally:
            os.dup2(kept, 2)
            os.close(kept)


WANTED = re.compile(
    r"compiler\.log$|_fusion\.(pyz|html)$|priority_fusion_dump\.txt$"
    r"|\.\d{4}\..*after_(?!.*before_pipeline-end).*\.txt$|after_codegen\.txt$|gpu_after_optimizations\.txt$"
)
FUSION_LINE = re.compile(r"[IWEF]\d{4} \S+ +\d+ (?:tpu_)?(?:instruction|multi_output)_fusion\.cc")
MODULE_LINE = re.compile(r".* module: \S+ ")
PREFIXED = re.compile(r"[IWEF]\d{4} |WARNING: ")


def pack(folder, archive):
    """Write what a reader looks at into an archive that is the same for the same input."""
    before = None
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in sorted(folder.iterdir()):
            if not (path.is_file() and WANTED.search(path.name)):
                continue
            data = trimmed(path)
            if re.search(r"\.\d{4}\.", path.name):
                # A pass that changed nothing is told by the next that did.
                if data == before:
                    continue
                before = data
            if data:
                entry = tarfile.TarInfo(path.name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))


def trimmed(path):
    if path.name.endswith(".pyz"):
        return without_graphs(path)
    text = path.read_text(errors="replace")
    text = re.sub(r'"[^"\n]*decision_programs\.py"', '"decision_programs.py"', text)
    if path.name.endswith(".html"):
        return re.sub(r'(dots_compressed = ")[^"]*', r"\1", text).encode()
    if path.name == "compiler.log":
        return "".join(log_lines(text)).encode()
    return text.encode()


def without_graphs(path):
    inner = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as new:
        for name in ("metadata.json", "graphs/0.dot"):
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED)
    return inner.getvalue()


def log_lines(text):
    """Yield the lines of the fusion passes, and those that name the module."""
    inside = False
    for line in text.splitlines(keepends=True):
        if PREFIXED.match(line):
            inside = bool(FUSION_LINE.match(line))
            if not inside and not MODULE_LINE.match(line):
                continue
        elif not inside:
            continue
        yield line


def main():
    platform, folder, *names = sys.argv[1:]
    os.environ.update(ENVIRONMENT)
    for name in names or programs():
        with tempfile.TemporaryDirectory() as dump:
            compile_program(platform, name, Path(dump))
            pack(Path(dump), Path(folder) / f"{name}.{TARGETS[platform]}.tar.xz")


if __name__ == "__main__":
    main()
