"""How fast the reader is, beside XLA's own parser in the same run: medians and ratios.

Read are names, opcodes, operands, users, called computations, roots and fusion kinds of whole
modules: two public files of ../shared/cases where they are, and a TPU training step that is
compiled here (a minute). Then: what asking late costs, what memory a module takes, and that time
grows with the text alone.
Aim: at most 1.0 of XLA's time, 0.7 better.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path

from hlo_widgets.hlo import HloModule, parse_hlo_module

HERE = Path(__file__).resolve().parent
CASES = HERE.parents[1] / "shared" / "cases"
ROUNDS = 7
of_a_computation = attrgetter("name", "root_instruction")
of_an_instruction = attrgetter(
    "name", "opcode", "operands", "users", "called_computations", "fusion_kind"
)


def median_ms(*functions: Callable[[], object]) -> list[float]:
    """Time functions in turn, so that other load hits all alike; CPU milliseconds."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for times, function in zip(taken, functions, strict=True):
            start = time.process_time()
            result = function()
            times.append(1e3 * (time.process_time() - start))
            del result
    return [statistics.median(times) for times in taken]


def walk(module: HloModule) -> HloModule:
    """Ask for everything that a graph needs; return the module, so that freeing it is not timed."""
    for computation in module.computations:
        of_a_computation(computation)
        for item in computation.instructions:
            of_an_instruction(item)
    return module


def train_step() -> str | None:
    """Compile the training step in a process of its own; keep its text for the next run."""
    kept = Path(tempfile.gettempdir()) / "hlo_widgets_bench_train_step.hlo.txt"
    if not kept.exists():
        if importlib.util.find_spec("libtpu") is None:
            print("(no libtpu: the training step is left out)")
            return None
        print("compiling the training step ...", flush=True)
        done = subprocess.run(
            [sys.executable, str(HERE / "train_step.py")],
            capture_output=True,
            text=True,
            check=True,
        )
        kept.write_text(done.stdout, encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def texts() -> dict[str, str]:
    """The modules that are read."""
    found = {}
    for name in ("gemma2_2b.unoptimized.hlo", "maxtext_train_step.gpu.after_optimizations.hlo.txt"):
        if (CASES / name).exists():
            found[name] = (CASES / name).read_text(encoding="utf-8")
        else:
            print(f"(../shared/cases/{name} is not here: left out)")
    step = train_step()
    if step is not None:
        found["TPU training step, 24 layers"] = step
    return found


def silence() -> int:
    """Send what C++ writes to standard error nowhere; return the place to restore."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 (a descriptor is needed)
        os.dup2(nowhere.fileno(), 2)
    return kept


def compare_with_xla(found: dict[str, str]) -> None:
    """Print both parsers' times."""
    try:
        from jaxlib import _hlo
    except ImportError:
        print("(no jaxlib with an HLO parser: nothing to compare with)")
        return
    print(f"{'module':52}{'MB':>6}{'ours ms':>9}{'XLA ms':>9}{'ratio':>7}")
    for name, text in found.items():
        kept = silence()
        ours, xla = median_ms(
            lambda text=text: walk(parse_hlo_module(text)),
            lambda text=text: _hlo.hlo_module_from_text(text),
        )
        os.dup2(kept, 2)
        print(f"{name:52}{len(text) / 1e6:6.1f}{ours:9.1f}{xla:9.1f}{ours / xla:7.2f}")


def late_reads(found: dict[str, str]) -> None:
    """Print what the parts that are read late cost, each on a fresh module."""
    print(f"\n{'asked late of every instruction':52}{'ms':>9}")
    for name, text in found.items():
        times = []
        for _ in range(ROUNDS):
            module = parse_hlo_module(text)
            start = time.process_time()
            _ = module.warnings
            times.append(1e3 * (time.process_time() - start))
        print(f"{name[:36]:38}{'warnings':14}{statistics.median(times):9.1f}")
        for part in ("shape", "metadata", "backend_config"):
            times = []
            for _ in range(ROUNDS):
                module = parse_hlo_module(text)
                start = time.process_time()
                for item in module.instructions():
                    getattr(item, part)
                times.append(1e3 * (time.process_time() - start))
            print(f"{name[:36]:38}{part:14}{statistics.median(times):9.1f}")


def memory(found: dict[str, str]) -> None:
    """Print the memory of each module in lengths of its text: what stays, and the most on the way.

    Lines of thirty characters are the worst: the objects outweigh the text.
    """
    lines = "".join(f"  a{n + 1} = f32[] negate(a{n})\n" for n in range(50_000))
    short = f"e {{\n  a0 = f32[] parameter(0)\n{lines}}}\n"
    print(f"\n{'memory, in lengths of the text':52}{'stays':>9}{'most':>9}")
    for name, text in {**found, "lines of 30 characters": short}.items():
        tracemalloc.start()
        module = parse_hlo_module(text)
        stays, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"{name:52}{stays / len(text):9.1f}{most / len(text):9.1f}")
        del module


def linearity(text: str) -> None:
    """Double the text four times by repeating its computations under other names."""
    print(f"\n{'doubling':10}{'MB':>8}{'ms':>9}{'ns a character':>16}")
    header, _, body = text.partition("\n")
    for doubling in range(5):
        copies = 2**doubling
        bodies = (body.replace("ENTRY ", "") for _ in range(copies - 1))
        longer = "\n".join([header, *bodies, body])
        (taken,) = median_ms(lambda longer=longer: parse_hlo_module(longer))
        per_character = 1e6 * taken / len(longer)
        print(f"{doubling:<10}{len(longer) / 1e6:8.1f}{taken:9.1f}{per_character:16.1f}")


if __name__ == "__main__":
    modules = texts()
    compare_with_xla(modules)
    late_reads(modules)
    memory(modules)
    linearity(
        min(modules.values(), key=len)
        if modules
        else "HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n}\n"
    )
