"""How long `compile_for` takes, warm, against a bare `jit().lower().compile()` in one process.

Both compile the same functions for the same target in turn, each time as a new function, so that
no cache of JAX answers. The bare compiles run in a process of their own, as a user would have
written them.

Usage: python benchmarks/bench_compile.py [--rounds N] [--target v6e]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import topologies

from hlo_widgets.compiler import compile_for, find_target, shut_down
from hlo_widgets.compiler.environment import toolchain_variables, worker_environment

Compile = Callable[[Callable, tuple], None]


def row_softmax(x: Any) -> Any:
    m = jnp.max(x, axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / jnp.sum(e, axis=-1, keepdims=True)


def mlp(x: Any, w1: Any, w2: Any, b: Any) -> Any:
    h = jax.nn.gelu(x @ w1 + b)
    y = h @ w2
    v = jnp.var(y, axis=-1, keepdims=True)
    return y * jax.lax.rsqrt(v + 1e-6), jnp.sum(h, axis=0)


SHAPES = {
    row_softmax: ((1024, 512),),
    mlp: ((1024, 512), (512, 2048), (2048, 512), (2048,)),
}


def arguments_of(program: Callable) -> tuple:
    return tuple(jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in SHAPES[program])


def measure(compile_once: Compile, program: Callable) -> float:
    """Return the seconds of one compile of a function that JAX has not seen before."""
    arguments = arguments_of(program)

    def fresh(*args: Any) -> Any:
        return program(*args)

    start = time.perf_counter()
    compile_once(fresh, arguments)
    return time.perf_counter() - start


def bare_compiler(target_name: str) -> Compile:
    """Make the compile that a user would write without this package."""
    topology = find_target(target_name).topology
    device = (
        jax.devices("cpu")[0]
        if topology is None
        else topologies.get_topology_desc(topology, "tpu").devices[0]
    )
    sharding = jax.sharding.SingleDeviceSharding(device)

    def compile_once(fun: Callable, arguments: tuple) -> None:
        jitted = jax.jit(fun, in_shardings=sharding, out_shardings=sharding)
        jitted.lower(*arguments).compile().as_text()

    return compile_once


def serve_bare(target_name: str) -> None:
    """Answer each line of input, the name of a program, with the seconds of a bare compile."""
    compile_once = bare_compiler(target_name)
    for line in sys.stdin:
        print(json.dumps(measure(compile_once, globals()[line.strip()])), flush=True)


def rounds_of(target_name: str, rounds: int) -> Iterator[tuple[Callable, list[float], list[float]]]:
    """Measure each program both ways in turn, after one compile of each that does not count."""
    command = [sys.executable, __file__, "--target", target_name, "--serve-bare"]
    toolchain = find_target(target_name).platform
    environment = {**os.environ, **worker_environment(), **toolchain_variables(toolchain)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as bare:

        def measure_bare(program: Callable) -> float:
            print(program.__name__, file=bare.stdin, flush=True)
            return json.loads(bare.stdout.readline())

        def compile_once(fun: Callable, arguments: tuple) -> None:
            compile_for(fun, *arguments, target=target_name, refresh=True)  # not from the cache

        for program in SHAPES:
            pairs = [
                (measure_bare(program), measure(compile_once, program)) for _ in range(rounds + 1)
            ]
            bare_seconds, our_seconds = zip(*pairs[1:], strict=True)
            yield program, list(bare_seconds), list(our_seconds)
        bare.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--target", default="v6e")
    parser.add_argument("--serve-bare", action="store_true")
    options = parser.parse_args()
    if options.serve_bare:
        serve_bare(options.target)
        return
    for program, bare, ours in rounds_of(options.target, options.rounds):
        bare_ms, our_ms = (1000 * statistics.median(seconds) for seconds in (bare, ours))
        print(
            f"{program.__name__} for {options.target}: bare {bare_ms:.1f} ms,"
            f" compile_for {our_ms:.1f} ms, ratio {our_ms / bare_ms:.3f}"
            f" (aim: at most 1.15; medians of {options.rounds})"
        )
    shut_down()


if __name__ == "__main__":
    main()
