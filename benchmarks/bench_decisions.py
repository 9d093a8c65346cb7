"""Joining and showing a long record of decisions, and each step of a replay, without a browser.

Usage: python benchmarks/bench_decisions.py [--records N] [--dump NAME ...]

The dumps are those kept beside the tests.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import hlo_widgets as hw
from hlo_widgets.analysis.decisions import DecisionLog, FusionDecision, Verdict, join_decisions
from hlo_widgets.widgets.replay.part import ReplayPart
from hlo_widgets.widgets.shown import Shown

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.analysis.dumps import decisions_of, module_of
from tests.graph.modules import chain

OPS, REASONS = 500, 300


def seconds_of(action):
    """Return what an action returns, and how long it took."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def long_log(count):
    """Return a log of refusals of neighbours in a chain of `OPS` ops."""
    pairs = ((n % (OPS - 1), n) for n in range(count))
    return DecisionLog(
        tuple(
            FusionDecision(
                f"op.{at}",
                f"op.{at + 1}",
                Verdict.REFUSED,
                f"reason {n % REASONS}",
                step=n,
                consumers=(f"op.{at + 1}",),
            )
            for at, n in pairs
        )
    )


def measure_long(count):
    """Print what a long log costs to join, to show, and to ask for one op."""
    log, module = long_log(count), hw.parse_hlo_module(chain(OPS))
    joined, seconds = seconds_of(lambda: join_decisions(log, module))
    print(f"join {count:,} records  {seconds:7.3f} s")
    explorer, seconds = seconds_of(lambda: hw.explore(module, decisions=joined))
    print(f"explore with them     {seconds:7.3f} s")
    _, seconds = seconds_of(lambda: explorer.select("op.7"))
    print(f"select an op          {seconds:7.3f} s")
    explorer.close()


def measure_steps(name):
    """Print how long the steps of a replay take; the first one waits for the layout program."""
    part = ReplayPart(lambda _: None)
    part.show(Shown.of_module(module_of(name), decisions=decisions_of(name)))
    steps = range(1, part.player.slider.max + 1)
    times = [seconds_of(lambda number=n: part.player.show_step(number))[1] for n in steps]
    middle, slowest = (1000 * value for value in (statistics.median(times), max(times[1:])))
    print(f"{name:18} {len(times):4} steps: median {middle:4.0f} ms, slowest {slowest:4.0f} ms")
    part.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--dump", nargs="+", default=["mlp.h100", "train_step.h100", "mlp.v6e"])
    options = parser.parse_args()
    measure_long(options.records)
    for name in options.dump:
        measure_steps(name)


if __name__ == "__main__":
    main()
