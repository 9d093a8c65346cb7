"""What the tests of the compiler layer share."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from hlo_widgets.compiler import find_target

needs_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None,
    reason='needs the TPU compiler: pip install "libtpu>=0.0.45", Linux x86-64 only',
)
needs_cuda = pytest.mark.skipif(
    not find_target("h100").availability.is_available,
    reason="needs the GPU compiler: pip install 'hlo-widgets[cuda]', Linux only",
)

SOFTMAX_SPEC = jax.ShapeDtypeStruct((1024, 512), jnp.bfloat16)


def row_softmax(x):
    m = jnp.max(x, axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)


def mlp(x, w1, w2, b):
    h = jax.nn.gelu(x @ w1 + b)
    y = h @ w2
    v = jnp.var(y, axis=-1, keepdims=True)
    return y * jax.lax.rsqrt(v + 1e-6), jnp.sum(h, axis=0)


SMALL_MLP_SPECS = tuple(
    jax.ShapeDtypeStruct(shape, jnp.bfloat16)
    for shape in [(256, 128), (128, 512), (512, 128), (512,)]
)


def add_one(x):
    return x + 1


def worker_that(*lines):
    """The command of a worker that does something first; the rest of it is the real one."""
    script = "\n".join([*lines, "from hlo_widgets.compiler.worker import main", "main()"])
    return shlex.join([sys.executable, "-c", script])


def wait_until(condition, seconds=60.0):
    """Wait for a condition, looking often; fail where it does not come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds in vain"
        time.sleep(0.005)


def is_alive(pid):
    """Say whether a thread of a process runs; ended ones that wait for the parent do not."""
    return any(_is_running(stat) for stat in Path(f"/proc/{pid}/task").glob("*/stat"))


def _is_running(stat):
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def estimated_cycles(text):
    return [int(cycles) for cycles in re.findall(r'"estimated_cycles":"(\d+)"', text)]


def vmem_bytes(text):
    return [
        int(size) for size in re.findall(r'"memory_space":"1","offset":"\d+","size":"(\d+)"', text)
    ]


def in_a_mount_namespace(script):
    """Return a command prefix that runs a program after a shell script that mounts, or None."""
    for options in (["-m"], ["-rm"]):
        command = ["unshare", *options, "sh", "-c", f'{script} && exec "$@"', "sh"]
        if shutil.which("unshare"):
            tried = subprocess.run([*command, "true"], capture_output=True, check=False)
            if tried.returncode == 0:
                return command
    return None


def clean_environment(**changes):
    """The environment of a user who has set nothing for JAX."""
    # Importing libtpu, which jax does, sets variables for it.
    set_by_us = ("JAX_", "TPU_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(set_by_us)}
    return {**kept, **changes}
