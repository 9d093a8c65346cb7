"""What `explain=True` costs: explained and plain compiles in turn, warm, and reading the records.

Usage: python benchmarks/bench_explain.py [--rounds N] [--target NAME ...] [--program NAME ...]

The programs are those of benchmarks/decision_coverage.py. A target whose compiler is not installed
is left out. Nothing comes from the cache; the first compile of each does not count.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import hlo_widgets as hw
from hlo_widgets.compiler import settings, shut_down

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.analysis.decision_programs import programs


def seconds_of(action):
    """Return what an action returns, and how long it took."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def measure(program, target, rounds):
    """Return medians of the seconds of a plain compile, an explained one, and reading, and bytes.

    Plain and explained ones take turns, so that a busy machine slows both.
    """
    function, *arguments = programs()[program]
    times = []
    for _ in range(rounds + 1):
        _, plain = seconds_of(lambda: hw.compile_for(function, *arguments, target=target))
        result, explained = seconds_of(
            lambda: hw.compile_for(function, *arguments, target=target, explain=True)
        )
        _, reading = seconds_of(lambda: result.decisions)  # noqa: B023 - called at once
        times.append((plain, explained, reading))
    medians = [statistics.median(column) for column in zip(*times[1:], strict=True)]
    return (*medians, len(result.records))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--target", nargs="+", default=["v6e", "h100", "cpu"])
    parser.add_argument(
        "--program", nargs="+", default=["mlp", "attention", "layer_norm", "train_step"]
    )
    options = parser.parse_args()
    settings.cache_folder = "off"
    print(f"medians of {options.rounds}; ratio: explained / plain, reading not included")
    print(f"{'':18} {'plain':>8} {'explained':>10} {'ratio':>6} {'reading':>8} {'records':>9}")
    for target in options.target:
        if not hw.target(target).availability.is_available:
            print(f"{target}: {hw.target(target).availability.reason}")
            continue
        for program in options.program:
            plain, explained, reading, size = measure(program, target, options.rounds)
            print(
                f"{program + '.' + target:18} {plain:7.2f}s {explained:9.2f}s"
                f" {explained / plain:5.1f}x {reading:7.2f}s {size / 1000:6.0f} kB"
            )
    shut_down()


if __name__ == "__main__":
    main()
